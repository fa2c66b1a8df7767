"""Environment variables that the common images turn into a server.properties. Pure.

apache/kafka and confluentinc/cp-kafka write `KAFKA_` + the key, Bitnami `KAFKA_CFG_` + the key, each in upper case with `_` for a
dot, `__` for `_` and `___` for `-`. Each writes `key=value` unchanged, so Java reads escapes in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from kafka_audit.configuration.files import java, setting_names
from kafka_audit.configuration.files.described import Described, is_brokers, is_placeholder
from kafka_audit.configuration.files.java import Property
from kafka_audit.model.linted import Remark

_ADVERTISED, _ROLES = "KAFKA_ADVERTISED_LISTENERS", "KAFKA_PROCESS_ROLES"
_REFUSED = ("KAFKA_ADVERTISED_HOST", "KAFKA_ADVERTISED_PORT", "KAFKA_HOST", "KAFKA_PORT")
_STORE = ("KAFKA_SSL_KEYSTORE_FILENAME", "KAFKA_SSL_KEY_CREDENTIALS", "KAFKA_SSL_KEYSTORE_CREDENTIALS")
_TRUST = ("KAFKA_SSL_TRUSTSTORE_FILENAME", "KAFKA_SSL_TRUSTSTORE_CREDENTIALS")


def image_remarks(variables: Mapping[str, Property], line: int) -> Iterator[Remark]:
    """Yield what the image refuses or lacks.

    Args:
        variables: those of the container, by name.
        line: of the first of them.
    """
    roles, advertised = variables.get(_ROLES), variables.get(_ADVERTISED)
    alone = roles is not None and roles.value.strip() == "controller"
    if alone and advertised is not None:
        yield _ends(advertised.line, f"it refuses {_ADVERTISED} of a controller")
    yield from (_ends(variables[name].line, f"it refuses {name}") for name in _REFUSED if name in variables)
    missing = [] if alone or advertised is not None else [_ADVERTISED]
    if roles is not None and "CLUSTER_ID" not in variables:
        missing.append("CLUSTER_ID")
    missing += [name for name in _of_security(variables, advertised) if name not in variables]
    yield from (_ends(line, f"it requires {name}") for name in missing)


def _of_security(variables: Mapping[str, Property], advertised: Property | None) -> Iterator[str]:
    if advertised is None:
        return
    client = variables.get("KAFKA_SSL_CLIENT_AUTH")
    if "SSL://" in advertised.value:
        yield from _STORE
        if client is not None and ("required" in client.value or "requested" in client.value):
            yield from _TRUST
    if any(name.startswith("SASL_") for name in advertised.value.split(",")):
        yield "KAFKA_OPTS"


def _ends(line: int, why: str) -> Remark:
    return Remark(line=line, text=f"Confluent's image ends before Kafka starts: {why}")


_BITNAMI, _PREFIX = "KAFKA_CFG_", "KAFKA_"
_NOT_SETTINGS = re.compile(r"KAFKA_(?:VERSION|HOME|OPTS|HEAP_OPTS?|GC_LOG_OPTS|JMX_.*|JVM_PERFORMANCE_OPTS|(?:TOOLS_)?LOG4J_.*)")
_ESCAPED = re.compile(r"___|__|_")
_DOTS = MappingProxyType({"___": "-", "__": "_", "_": "."})
_ENV_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*+(.*)")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"(?:[ \t]+#.*)?|'([^']*)'(?:[ \t]+#.*)?")
_VARIABLE = re.compile(r"\$[A-Za-z_]")
_COMMENT = re.compile(r"(?<![ \t])[ \t]++#.*")
_CONFLUENT = re.compile(r"(?:^|/)confluentinc/cp-|(?:^|/)cp-(?:kafka|server)\b")
_FOLDERS = (
    (_CONFLUENT, "/var/lib/kafka/data"),
    (re.compile(r"(?:^|/)bitnami(?:legacy|secure)?/kafka\b"), "/bitnami/kafka/data"),
    (re.compile(r"(?:^|/)apache/kafka(?:-native)?(?=[:@]|$)"), None),
)
"""Where images keep the logs if no variable says so; None: where Kafka does."""
_DIRS = ("log.dirs", "log.dir")
_SECRETS = "/etc/kafka/secrets/"
_HOST = re.compile(r"://[^,/]*?:(?=\d+(?:,|$))")
_FROM_BASE = frozenset(
    {
        "advertised.listeners",
        "broker.id",
        "controller.listener.names",
        "controller.quorum.bootstrap.servers",
        "controller.quorum.voters",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "listeners",
        "node.id",
        "process.roles",
        "ssl.keystore.location",
        "zookeeper.connect",
    }
)
"""Defaults of Bitnami's image by its version, if no variable sets them."""


def parse_env_file(text: str) -> tuple[Property, ...]:
    """Return the variables of an env file (`NAME=value` lines, `export` and quotes as shells and compose know them)."""
    variables = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _ENV_LINE.fullmatch(line)
        if match:
            variables.append(Property(match[1], _unquoted(match[2].rstrip(" \t\r")), number))
    return tuple(variables)


def _unquoted(value: str) -> str:
    match = _QUOTED.fullmatch(value)
    if match is None:
        return _COMMENT.sub("", value)
    return match[2] if match[1] is None else re.sub(r"\\([\"\\$])", r"\1", match[1])


def described_broker(  # noqa: PLR0913 -- a container is described in that many places
    variables: Iterable[Property],
    *,
    inside: str = "",
    image: str | None = None,
    unknown: Iterable[str] = (),
    release: str = "",
    elsewhere: Property | None = None,
) -> Described | None:
    """Return the broker that a container with these variables runs, None where they are no broker's.

    Args:
        variables: names and values, a later one in place of an earlier one.
        inside: their place in the file.
        image: the container's image; it decides what is set where no variable sets it.
        unknown: names of variables whose values are stored elsewhere.
        release: the release of Helm that renders the file, "" where no chart does.
        elsewhere: the key that adds variables of other files, such as `env_file`, with its line.
    """
    by_name = {setting.key: setting for setting in variables}
    bitnami = any(name.startswith(_BITNAMI) for name in by_name)
    keys = {name: key for name in by_name if (key := key_of(name, bitnami=bitnami)) is not None}
    found = {key: _written(key, by_name[name]) for name, key in keys.items()}
    if not is_brokers(found):
        return None
    known_later = {
        *unknown,
        *(name for name, setting in by_name.items() if is_placeholder(setting.value) or _VARIABLE.search(setting.value)),
    }
    left = {key for name, key in keys.items() if name in known_later}
    properties, of_image = _completed(found, image, bitnami=bitnami)
    folder, in_image = _folder(found, image, elsewhere, min(setting.line for setting in found.values()))
    properties, of_image = {**properties, **folder}, of_image | in_image
    if elsewhere is not None:
        of_image |= _FROM_BASE - found.keys()
    names = setting_names.of_environment(_BITNAMI if bitnami else _PREFIX, inside, release=release)
    return Described(
        properties=properties,
        unknown=frozenset(left | of_image),
        inside=inside,
        image=image,
        names=names,
        remarks=tuple(_remarks(by_name, image, elsewhere)),
    )


def _remarks(by_name: Mapping[str, Property], image: str | None, elsewhere: Property | None) -> Iterator[Remark]:
    if elsewhere is not None:
        yield Remark(line=elsewhere.line, text=f"not judged: settings of {elsewhere.key}")
    elif image is not None and _CONFLUENT.search(image):
        yield from image_remarks(by_name, min(variable.line for variable in by_name.values()))


def key_of(name: str, *, bitnami: bool) -> str | None:
    """Return the property of a variable, None if it has none."""
    prefix = _BITNAMI if bitnami else _PREFIX
    if not name.startswith(prefix) or name == prefix or (not bitnami and _NOT_SETTINGS.fullmatch(name)):
        return None
    return _ESCAPED.sub(lambda match: _DOTS[match[0]], name.removeprefix(prefix)).lower()


def _written(key: str, variable: Property) -> Property:
    """Return the variable as Java reads it from the file that the image writes."""
    if "\\" not in variable.value and variable.value.isascii() and "\n" not in variable.value:
        return Property(key, variable.value.lstrip(), variable.line)
    try:
        value = java.parse_properties(f"{key}={variable.value}".encode())[key].value
    except java.PropertiesError as error:
        raise java.PropertiesError(variable.line, error.problem) from error
    return Property(key, value, variable.line)


def _completed(
    found: Mapping[str, Property], image: str | None, *, bitnami: bool
) -> tuple[Mapping[str, Property], frozenset[str]]:
    """Return the settings after the image has changed them, and the keys that it sets itself."""
    if bitnami:
        return found, _FROM_BASE - found.keys()
    stores, of_files = _confluent_stores(found) if image is not None and _CONFLUENT.search(image) else ({}, frozenset())
    found = {**found, **stores}
    advertised = found.get("advertised.listeners")
    if advertised is None or "listeners" in found:
        return found, of_files
    if image is None:
        return found, frozenset({"listeners"})
    if not _CONFLUENT.search(image):
        return found, frozenset()
    listeners = Property("listeners", _HOST.sub("://0.0.0.0:", advertised.value), advertised.line)
    hidden = is_placeholder(listeners.value) or _VARIABLE.search(listeners.value)  # a placeholder for the host alone is replaced
    return {**found, "listeners": listeners}, of_files | ({"listeners"} if hidden else set())


def _folder(
    found: Mapping[str, Property], image: str | None, elsewhere: Property | None, line: int
) -> tuple[Mapping[str, Property], frozenset[str]]:
    """Return the folder of the logs where the image decides, and the keys of it that are not known."""
    if any(key in found for key in _DIRS):
        return {}, frozenset()
    known = [folder for pattern, folder in _FOLDERS if image is not None and pattern.search(image)]
    if elsewhere is not None or not known:
        return {}, frozenset(_DIRS)
    return {"log.dirs": Property("log.dirs", known[0], line)} if known[0] else {}, frozenset()


def _confluent_stores(found: Mapping[str, Property]) -> tuple[Mapping[str, Property], frozenset[str]]:
    """Return what Confluent's images make of the names of stores and password files, and the keys that those files fill in.

    Source: `/etc/confluent/docker/configure`, which does so where an advertised listener's name ends in SSL.
    """
    if "SSL://" not in (advertised.value if (advertised := found.get("advertised.listeners")) else ""):
        return {}, frozenset()
    client = found.get("ssl.client.auth")
    trusting = client is not None and ("required" in client.value or "requested" in client.value)
    stores, keys = {}, {"ssl.key.password", "ssl.keystore.password"}
    for store in ("keystore", "truststore") if trusting else ("keystore",):
        name = found.get(f"ssl.{store}.filename")
        if name is not None:
            key = f"ssl.{store}.location"
            stores[key] = Property(key, f"{_SECRETS}{name.value}", name.line)
            keys.add(f"ssl.{store}.password")
    return stores, frozenset(keys)
