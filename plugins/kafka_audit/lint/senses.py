"""Values with which a broker starts and that do not do what is meant, by its file alone. Pure."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from kafka_audit.compare.addresses import address_text
from kafka_audit.compare.host_kinds import means_itself
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.setting_names import Form
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, entries, protocols_by_listener
from kafka_audit.model.addresses.voters import SERVERS, servers_named
from kafka_audit.model.linted import Remark
from kafka_audit.model.package_yaml import package_yaml
from kafka_audit.model.text import listing

_LONGEST, _ANY = 1_000, "0.0.0.0"  # noqa: S104 -- compared
_DAY = 86_400_000
_UNITS = {"log.roll.ms": 1, "log.roll.hours": 3_600_000, "log.retention.ms": 1, "log.retention.minutes": 60_000}
_UNITS["log.retention.hours"] = 3_600_000
_FACTORS = ("default.replication.factor", "offsets.topic.replication.factor", "transaction.state.log.replication.factor")
_OPEN, _MAP = "allow.everyone.if.no.acl.found", "listener.security.protocol.map"
_PEM = re.compile(r"(?:listener\.name\.[^.]*\.)?ssl\.(?:key|trust)store\.location")
_NOT_CLIENTS = ("controller.listener.names", "inter.broker.listener.name", "security.inter.broker.protocol")


@cache
def _table() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = package_yaml(__package__, "senses.yaml")
    return [{**row, "key": re.compile(row["key"]), "value": re.compile(row["value"])} for row in rows]


def sense_remarks(broker: Described) -> Iterator[Remark]:
    """Yield what the values of a broker do not do."""
    for key, setting in broker.properties.items():
        value = broker.value(key)
        for row in _table() if value and len(value) < _LONGEST and setting.line else ():
            if row["key"].fullmatch(key) and row["value"].search(value):
                yield Remark(line=setting.line, text=row["says"])
    yield from _retention(broker)
    yield from _between(broker)
    yield from _without_login(broker)
    yield from _quorum(broker)
    if broker.names.form is Form.PROPERTIES:
        yield from _stores(broker)
        if broker.container is None:
            yield from _of_host(broker)


def _number(broker: Described, key: str) -> int | None:
    value = broker.value(key)
    return int(value) if re.fullmatch(r"-?\d{1,18}", value) else None


def _retention(broker: Described) -> Iterator[Remark]:
    """Yield that what is to be deleted is in segments that are not closed by then."""
    size, most = _number(broker, "log.segment.bytes") or 1 << 30, _number(broker, "log.retention.bytes")
    if most is not None and 0 < most < size:
        text = f"each partition keeps the segment that it writes, up to {size:,} bytes: log.segment.bytes decides"
        yield Remark(line=broker.properties["log.retention.bytes"].line, text=text)
    rolls = [key for key in ("log.roll.ms", "log.roll.hours") if key in broker.properties]
    roll = (_number(broker, rolls[0]) or 0) * _UNITS[rolls[0]] if rolls else 7 * _DAY
    for key in ("log.retention.ms", "log.retention.minutes", "log.retention.hours"):
        kept = _number(broker, key)
        if kept is not None:
            if 0 < kept * _UNITS[key] < min(roll, _DAY) and "log.segment.bytes" not in broker.properties:
                text = (
                    "records go with their segment, and one that is written to closes at log.segment.bytes or log.roll.ms alone"
                )
                yield Remark(line=broker.properties[key].line, text=text)
            return


def _between(broker: Described) -> Iterator[Remark]:
    """Yield that brokers have no name with which they log in."""
    listener, mechanism = broker.value("inter.broker.listener.name"), broker.value("sasl.mechanism.inter.broker.protocol")
    listener = listener or broker.value("security.inter.broker.protocol")
    setting = broker.properties.get(f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config")
    text = setting.value if setting is not None and setting.key not in broker.unknown else ""
    plain = mechanism in {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} and "LoginModule" in text
    nameless = "username" not in text and "$" not in text and not any("callback.handler" in key for key in broker.properties)
    if setting is not None and plain and nameless:
        yield Remark(line=setting.line, text="brokers log in with username and password of this text, which has none")
    formatting = broker.ended_by in {"Apache Kafka's", "Confluent's"} and "process.roles" in broker.properties
    at = broker.properties.get("sasl.mechanism.inter.broker.protocol")
    if formatting and at is not None and mechanism.startswith("SCRAM-"):
        text = "the image formats without users, and SCRAM has none then: brokers cannot log in to each other"
        yield Remark(line=at.line, text=text)


def _without_login(broker: Described) -> Iterator[Remark]:
    """Yield that clients of a listener have no name to which rights are given."""
    others = {part.strip().upper() for key in _NOT_CLIENTS for part in broker.value(key).split(",")}
    others |= set() if any(broker.value(key) for key in _NOT_CLIENTS[1:]) else {"PLAINTEXT"}
    asked = ("super.users", _OPEN, "principal.builder.class", "ssl.client.auth", *_NOT_CLIENTS)
    given = broker.value(_OPEN).lower() == "true" or ANONYMOUS in broker.value("super.users").split(";")
    own = broker.value("authorizer.class.name").startswith(("kafka.security.", "org.apache.kafka.metadata."))
    if not own or given or broker.value("principal.builder.class") or not broker.unknown.isdisjoint(asked):
        return
    protocols, nameless = protocols_by_listener(broker.value(_MAP)), []
    for entry in entries({KEY: broker.value(KEY) or broker.value(INSTEAD)}):
        name = entry.listener.upper()
        protocol = protocols.get(name, name)
        certificates = broker.value(f"listener.name.{name.lower()}.ssl.client.auth") or broker.value("ssl.client.auth")
        if others.isdisjoint({name, protocol}) and (
            protocol == "PLAINTEXT" or (protocol == "SSL" and certificates in {"", "none"})
        ):
            nameless.append(name[:40])
    if nameless:
        text = f"clients of {listing(nameless, 3)} have no login: the authorizer refuses {ANONYMOUS} what no ACL names it for"
        yield Remark(line=broker.properties[KEY if broker.value(KEY) else INSTEAD].line, text=text)


def _stores(broker: Described) -> Iterator[Remark]:
    """Yield listeners with TLS that have no key (Kafka tries the one between brokers), and PEM that is read as another kind."""
    protocols, between = protocols_by_listener(broker.value(_MAP)), [broker.value(key).upper() for key in _NOT_CLIENTS[1:]]
    used = next(filter(None, between), "PLAINTEXT")
    listeners = [entry.listener for entry in entries({KEY: broker.value(INSTEAD)}) if entry.listener.upper() != used]
    with_tls = [name for name in listeners if protocols.get(name.upper(), name.upper()) in {"SSL", "SASL_SSL"}]
    keyless = [name[:40] for name in with_tls if not any(_gives_key(key, name) for key in broker.properties)]
    if keyless and broker.unknown.isdisjoint({INSTEAD, _MAP}):
        text = f"there is no keystore for {listing(keyless, 3)}: each TLS handshake fails"
        yield Remark(line=broker.properties[INSTEAD].line, text=text)
    for key, setting in broker.properties.items():
        kind = key.removesuffix("location") + "type"
        if _PEM.fullmatch(key) and setting.value.endswith((".pem", ".crt", ".cer", ".key")) and kind not in broker.properties:
            yield Remark(line=setting.line, text=f"Java reads this file as JKS or PKCS12; a PEM file needs {kind}=PEM")


def _gives_key(key: str, listener: str) -> bool:
    return key.removeprefix(f"listener.name.{listener.lower()}.").startswith(("ssl.keystore.", "ssl.engine.factory"))


def _quorum(broker: Described) -> Iterator[Remark]:
    """Yield that an address from which the quorum is found is no listener for controllers."""
    advertised = entries({key: broker.value(key) for key in (KEY, CONTROLLERS)})
    clients = {(entry.host, entry.port): entry.listener for entry in advertised}
    for address in servers_named(broker.value(SERVERS)):
        if address in clients:
            text = f"{address_text(*address)[:80]} is the listener {clients[address]}, and controllers answer at their own"
            yield Remark(line=broker.properties[SERVERS].line, text=text)
            return


def _of_host(broker: Described) -> Iterator[Remark]:
    """Yield what a file says of a host: where it listens, how many brokers there are, whose certificates it trusts."""
    bound = {entry.listener: entry for entry in entries({KEY: broker.value(INSTEAD)})}
    for entry in entries({KEY: broker.value(KEY)}):
        at = bound[entry.listener].host or "" if entry.listener in bound else ""
        if at != _ANY and means_itself(at) and not means_itself(entry.host or ""):
            text = f"{entry.listener} listens on {at} alone, and others are sent to {(entry.host or '')[:60]}"
            yield Remark(line=broker.properties[INSTEAD].line, text=text)
    alone = re.fullmatch(r"(?:localhost|127\.0\.0\.1)(?::\d{1,5})?(?:/.*)?", broker.value("zookeeper.connect"))
    for key in _FACTORS if alone else ():
        if (_number(broker, key) or 0) > 1:
            text = f"{broker.value(key)[:4]} replicas need as many brokers: those of other hosts find no ZooKeeper at localhost"
            yield Remark(line=broker.properties[key].line, text=text)
    trusts = any(key.endswith(("truststore.location", "truststore.certificates")) for key in broker.properties)
    if broker.value("ssl.client.auth") == "required" and not trusts and "ssl.keystore.location" in broker.properties:
        text = "certificates of clients have to be of an authority that Java brings along: there is no ssl.truststore.location"
        yield Remark(line=broker.properties["ssl.client.auth"].line, text=text)
