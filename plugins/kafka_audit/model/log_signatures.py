"""Lines that Kafka logs when something is wrong: the text, the releases, the log file and the meaning.

The texts are from the classes of 1.1.1, 2.8.2, 3.9.1 and 4.3.0 (`RequestSendThread`, `KafkaController`, `NetworkClient`,
`AclAuthorizer`, `UnifiedLog`, `LogManager`, `KafkaServer`, `KafkaZkClient`, `ReplicationControlManager`, `ShutdownableThread`,
`AbstractFetcherThread`, `LogCleaner`, `ControllerApis`, `ProcessTerminatingFaultHandler`, `LoggingFaultHandler`,
`BrokerLifecycleManager`). Those of ZooKeeper's client are from the releases that Kafka contains: 3.4.10 (Kafka 1.1), 3.5.9
(2.8), 3.6.3 (3.0 to 3.4) and 3.8.4 (3.9): `ClientCnxn`, `ClientCnxnSocketNetty`, `StaticHostProvider`, `ZooKeeperSaslClient`.
Those of an exhausted process are Java's.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafka_audit.model.package_yaml import package_yaml
from kafka_audit.model.tables.logs import LogLine

NO_PRINCIPAL = "no_principal"
"""A line about the certificate of a client, which may be a broker: its detail is the name that no rule maps."""

ZOOKEEPER_CLIENT = "ZooKeeperClient"
"""The part of a broker that is connected with ZooKeeper; its lines say nothing about listeners of brokers."""

_ALL = "1.1 - 4.3"
# Whose connections go from broker to broker, or to a controller; an AdminClient or a producer inside a broker is a client.
_PART = (
    r"\[(?:(?P<part>Controller) id=\d{1,10}, targetBrokerId=(?P<about>\d{1,10})"
    r"|(?P<part_f>ReplicaFetcher) replicaId=\d{1,10}, leaderId=(?P<about_f>\d{1,10})"
    r"|(?P<part_q>RaftManager|(?:Node|Broker)ToControllerChannelManager)\b)[^\]]{0,200}\] "
)
_NODE = r"(?P<node>-?\d{1,10})(?: \((?P<address>[^() ]{1,300})\))?"


@dataclass(frozen=True, kw_only=True)
class Signature:
    """One message that Kafka logs. Named groups: part, about (a broker's id), node, host and port or address, detail.

    The detail of a line without such a group is the exception below it, or the principal in one of them.
    """

    id: str
    marker: str  # a plain part of the line, searched before the pattern
    pattern: re.Pattern[str]
    versions: str  # the releases that word it so
    log: str  # the file of Kafka's own log4j configuration
    means: str  # for a sentence: "its log says that …"
    supports: str | None = None  # the check whose fault it shows; None where the line below it decides, or nothing does
    by_reason: tuple[tuple[str, str], ...] = ()  # a part of the exception below the line, and the check
    by_detail: tuple[tuple[str, str], ...] = ()  # a part of the detail, and the check
    names_principal: bool = False  # the detail is the principal that was refused

    def shows(self, detail: str, below: str) -> str | None:
        """Return the code of the check whose fault such a line shows, by its detail and the exception below it."""
        if self.by_reason:
            return next((code for part, code in self.by_reason if part in below), None)
        if self.by_detail:
            return next((code for part, code in self.by_detail if part in detail), None)
        return self.supports

    part: str | None = None  # of the broker, where the line does not name it
    repeats: bool = False  # whether Kafka writes it again and again for as long as the fault lasts
    own: bool = False  # about the broker that writes it


NO_ACL_READ = "AuthorizerNotReadyException"
"""What StandardAuthorizer answers to all but super users until its controller has read the metadata log."""


def _signature(name: str, raw: Mapping[str, Any]) -> Signature:
    """Return a line of the file."""
    pieces = raw["pattern"] if isinstance(raw["pattern"], list) else [raw["pattern"]]
    pattern = re.compile("".join(pieces).replace("<PART>", _PART).replace("<NODE>", _NODE))
    by = {key: tuple(raw.get(key, {}).items()) for key in ("by_reason", "by_detail")}
    return Signature(id=name, **{"versions": _ALL, "log": "server.log", **raw, **by, "pattern": pattern})


SIGNATURES = tuple(_signature(name, raw) for name, raw in package_yaml(__package__, "log_signatures.yaml").items())

BY_ID: Mapping[str, Signature] = MappingProxyType({signature.id: signature for signature in SIGNATURES})

HANDSHAKE = "certificate"
"""What `login_fault` returns where TLS fails."""

_LOGIN_FAULTS = (
    ("ssl handshake", HANDSHAKE),
    ("sslhandshake", HANDSHAKE),
    ("sslauthentication", HANDSHAKE),
    ("notsslrecord", HANDSHAKE),
    ("post-handshake", HANDSHAKE),  # TLS 1.3 refuses a client's certificate after the client's own handshake has ended
    ("mechanism", "mechanism"),
)


def shown_by(line: LogLine) -> str | None:
    """Return the code of the check whose fault a line shows, None where it shows none."""
    signature = BY_ID.get(line.signature)  # None for one of a later version
    below = line.text.partition(" / ")[2] if line.exception is None else line.exception
    return signature.shows(f"{line.detail or ''} {line.text}", below) if signature else None


def login_fault(line: LogLine) -> str:
    """Return why the login of a line fails: certificate, mechanism, principal or credential."""
    if line.signature == NO_PRINCIPAL:
        return "principal"
    lower = f"{line.detail or ''} {line.exception or ''} {line.text}".lower()
    return next((fault for part, fault in _LOGIN_FAULTS if part in lower), "credential")
