"""One file of server.properties as rows: settings without secrets, and logins. Pure."""

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.secret_keys import is_secret
from kafka_audit.collect.rows.secret_filter import is_free_text
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.configuration.files import jaas
from kafka_audit.configuration.files.jaas import JaasError, Module
from kafka_audit.configuration.files.java import Property
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerProperty, PropertyLogin
from kafka_audit.model.text import without_surrogates

IDS = ("broker.id", "node.id")
_ID = re.compile(r"[0-9]{1,10}")
_MOST_ID = 2**31 - 1
_JAAS = "sasl.jaas.config"
_LISTENER = re.compile(r"listener\.name\.([^A-Z]{1,255})\.([^A-Z.]{1,255})\.sasl\.jaas\.config")
_PROVIDERS = "config.providers"
_BOM = "\xef\xbb\xbf"  # as Java reads it: part of the first key


def broker_id_of_file(found: Mapping[str, Property], source: str) -> int:
    """Return the id that a file names; raises ReadError that names file and line."""
    named = [found[key] for key in IDS if key in found and found[key].value.strip() not in {"", "-1"}]
    if not named:
        raise ReadError(ReadFailure.NO_BROKER_ID, _without_id(found, source), f"broker.id or node.id in {source}")
    for setting in named:
        if not _ID.fullmatch(setting.value.strip()) or int(setting.value) > _MOST_ID:
            needs = f"a number for {setting.key} in {source}, line {setting.line}"
            raise ReadError(
                ReadFailure.NO_BROKER_ID,
                f"{source}, line {setting.line}: {setting.key} is not a number that Kafka accepts",
                needs,
            )
    ids = {int(setting.value) for setting in named}
    if len(ids) > 1:
        first, second = named
        where = f"{source}: line {first.line} has {first.key}={first.value}, line {second.line} {second.key}={second.value}"
        raise ReadError(ReadFailure.TWO_BROKER_IDS, where, f"one id in {source}")
    return ids.pop()


def _without_id(found: Mapping[str, Property], source: str) -> str:
    if any(key.startswith(_BOM) for key in found):
        return f"{source}, line 1: begins with a byte order mark, which Kafka reads as part of the first key"
    if not found:
        return f"{source}: it contains no property"
    unset = next((found[key] for key in IDS if key in found), None)
    if unset is not None:
        return f"{source}, line {unset.line}: {unset.key} is assigned by ZooKeeper and is not in the file"
    return f"{source}: no broker.id or node.id among {len(found)} properties"


def setting_rows(found: Mapping[str, Property], source: str, broker: int) -> Iterator[BrokerProperty]:
    """Yield a row for each key."""
    for setting in found.values():
        secret = is_secret(setting.key, setting.value) or is_free_text(setting.key, setting.value)
        value = None if secret else without_surrogates(setting.value)
        yield BrokerProperty(
            source=source, broker_id=broker, key=without_surrogates(setting.key), value=value, secret=secret, line=setting.line
        )


def login_rows(
    found: Mapping[str, Property], source: str, broker: int, key: bytes
) -> Iterator[PropertyLogin | tuple[str, ReadError]]:
    """Yield the logins of all JAAS texts; for a text that cannot be read, its property and why.

    Args:
        found: the properties.
        source: the file.
        broker: its id.
        key: of the HMAC that passwords become; made for one snapshot.
    """
    for setting in found.values():
        match = _LISTENER.fullmatch(setting.key)
        if match is None and setting.key != _JAAS:
            continue
        # Brokers ignore the key without listener and mechanism; it belongs to no listener.
        listener = canonical_listener(match[1]) if match else ""
        try:
            module = _module(setting, source, resolved=_PROVIDERS not in found)
        except ReadError as error:
            yield setting.key, error
            continue
        for login in module.logins():
            yield PropertyLogin(
                source=source,
                broker_id=broker,
                listener=without_surrogates(listener),
                mechanism=without_surrogates(match[2].upper() if match else _mechanism(module.name)),
                side=login.side,
                username=without_surrogates(login.username),
                password_digest=hmac.digest(key, login.password.encode("utf-8", "surrogatepass"), hashlib.sha256).hex(),
            )


def _module(setting: Property, source: str, *, resolved: bool) -> Module:
    where = f"{clean_line(setting.key)} in {source}, line {setting.line}"
    if not resolved and "${" in setting.value:
        message = f"{where}: a configuration provider supplies part of it"
        raise ReadError(ReadFailure.NOT_IN_FILE, message, f"the text itself instead of ${{…}} for {where}")
    try:
        return jaas.parse_jaas(setting.value)
    except JaasError as error:
        raise ReadError(ReadFailure.JAAS_REFUSED, str(error), f"a JAAS configuration that Kafka accepts for {where}") from error


def _mechanism(module: str) -> str:
    return "PLAIN" if module.endswith(".PlainLoginModule") else "SCRAM" if module.endswith(".ScramLoginModule") else ""
