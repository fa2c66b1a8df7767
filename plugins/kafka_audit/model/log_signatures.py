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

from kafka_audit.model.tables.logs import LogLine

NO_PRINCIPAL = "no_principal"
"""A line about the certificate of a client, which may be a broker: its detail is the name that no rule maps."""

ZOOKEEPER_CLIENT = "ZooKeeperClient"
"""The part of a broker that is connected with ZooKeeper; its lines say nothing about listeners of brokers."""

_ALL, _ZOOKEEPER = "1.1 - 4.3", "1.1 - 3.9"
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


def _signature(name: str, marker: str, pattern: str, **more: Any) -> Signature:  # noqa: ANN401 -- the fields of Signature
    usual = {"versions": _ALL, "log": "server.log"}
    return Signature(id=name, marker=marker, pattern=re.compile(pattern), **(usual | more))


NO_ACL_READ = "AuthorizerNotReadyException"
"""What StandardAuthorizer answers to all but super users until its controller has read the metadata log."""

_NOT_CONNECTED = (
    ("AuthenticationException", "KA412"),
    ("SSLHandshakeException", "KA412"),
    ("java.io.IOException", "KA302"),
    ("SocketTimeoutException", "KA302"),
    ("UnknownHostException", "KA302"),
)
_REFUSED_START = (
    ("inter.broker.listener.name must be a listener name defined in advertised.listeners", "KA311"),
    ("sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms", "KA406"),
    ("requirement failed", "KA310"),
    ("ConfigException", "KA310"),
)

_NO_ZOOKEEPER = (
    ("java.net.", "KA302"),
    ("UnresolvedAddressException", "KA302"),
    ("SessionTimeoutException", "KA302"),
)
# With TLS the client uses Netty, which reports what fails by itself: to the rest of the client, the channel is lost.
_NO_CHANNEL = (
    ("SSLHandshakeException", "KA412"),
    ("NotSslRecordException", "KA412"),
    ("AbstractChannel$Annotated", "KA302"),
    ("ConnectTimeoutException", "KA302"),
    *_NO_ZOOKEEPER,
)
_TO_ZOOKEEPER: Mapping[str, Any] = MappingProxyType(
    {"versions": _ZOOKEEPER, "part": ZOOKEEPER_CLIENT, "repeats": True, "own": True}
)

SIGNATURES: tuple[Signature, ...] = (
    _signature(
        "controller_connection_unsuccessful",
        "was unsuccessful",
        r"Controller (?P<writer>\d{1,10})'s connection to broker (?P<host>\S{1,255}):(?P<port>\d{1,5}) "
        r"\(id: (?P<about>\d{1,10}) rack: [^)]{0,200}\) was unsuccessful",
        versions=_ZOOKEEPER,
        log="controller.log",
        means="the controller's connection to it fails",
        by_reason=_NOT_CONNECTED,
        repeats=True,
    ),
    _signature(
        "connection_not_established",
        "could not be established",
        _PART + "Connection to node " + _NODE + r" could not be established\. (?:Broker|Node) may not be available",
        means="its port does not accept the connection",
        supports="KA302",
        repeats=True,
    ),
    _signature(
        "connection_setup_timeout",
        "due to socket connection setup timeout",
        _PART + r"Disconnecting from node (?P<node>-?\d{1,10}) due to socket connection setup timeout",
        versions="2.7 - 4.3",
        means="nothing answers at its address: packets to it are dropped",
        supports="KA302",
        repeats=True,
    ),
    _signature(
        "connection_error",
        "Error connecting to node",
        _PART + r"Error connecting to node (?P<host>\S{1,255}):(?P<port>\d{1,5}) \(id: (?P<node>-?\d{1,10}) rack:",
        means="its address cannot be resolved or reached",
        supports="KA302",
        repeats=True,
    ),
    _signature(
        "login_failed",
        "failed authentication due to",
        _PART + "Connection to node " + _NODE + r" failed authentication due to: (?P<detail>.{1,300}?)(?: \([\w.$]{1,200}\))?$",
        means="the login fails there",
        supports="KA412",
        repeats=True,
    ),
    _signature(
        "update_refused",
        "Received error ",
        r"\[Controller id=(?P<writer>\d{1,10})\b[^\]]{0,100}\] Received error (?:(?P<detail>[A-Z_]{1,60}) )?in "
        r"(?:UpdateMetadata|LeaderAndIsr) response (?:[^ ]{0,200}\b(?P<code>errorCode=\d{1,5})\b)?.{0,3500} "
        r"from broker (?P<about>\d{1,10})",
        versions="2.4 - 3.9",
        log="state-change.log",
        means="it rejects updates of the controller, because ClusterAction is missing",
        by_detail=(("CLUSTER_AUTHORIZATION_FAILED", "KA401"), ("errorCode=31", "KA401")),
    ),
    _signature(
        "fetch_refused",
        "Error for partition ",
        r"\[(?P<part>ReplicaFetcher) replicaId=\d{1,10}, leaderId=(?P<about>\d{1,10})[^\]]{0,100}\] Error for partition ",
        means="it rejects the fetch of a follower, because ClusterAction is missing",
        by_reason=(("TopicAuthorizationException", "KA401"), ("ClusterAuthorizationException", "KA401")),
        repeats=True,
    ),
    _signature(
        "cluster_action_denied",
        "is Denied ",
        r"Principal = (?P<detail>\S{1,300}) is Denied [Oo]peration = (?:ClusterAction|CLUSTER_ACTION) from host = \S{1,100} "
        r"on resource = Cluster:(?:LITERAL:)?kafka-cluster",
        log="kafka-authorizer.log",
        means="its authorizer denies ClusterAction",
        supports="KA401",
        own=True,
        names_principal=True,
    ),
    _signature(
        "request_refused",
        "handling request",
        r"(?:Error when|Unexpected error) handling request"
        r"(?:(?:: clientId=[^,]{0,300}, correlationId=\d{1,10}, api=| RequestHeader\(apiKey=)"
        r"(?:UPDATE_METADATA|LEADER_AND_ISR|STOP_REPLICA),| \{controller_id=\d)",
        versions=_ZOOKEEPER,
        means="it rejects a request of the controller, because the principal has no ClusterAction",
        by_reason=(("ClusterAuthorizationException", "KA401"),),
        own=True,
        names_principal=True,
    ),
    _signature(
        NO_PRINCIPAL,
        "Failed to map name for ",
        r"Failed to map name for '(?P<detail>.{1,300}?)' based on SSL principal mapping rules",
        versions="2.2 - 4.3",
        means="its mapping rules derive no principal from the name in a certificate",
        supports="KA412",
        repeats=True,
        own=True,
    ),
    _signature(
        "append_failed",
        "Error while appending records to ",
        r"Error while appending records to \S{1,300} in dir (?P<detail>[^\n(]{1,300})",
        means="it could not write to a log dir",
        supports="KA501",
        own=True,
    ),
    _signature(
        "log_dir_stopped",
        "Stopping serving logs in dir ",
        r"Stopping serving logs in dir (?P<detail>[^\n(]{1,300})",
        means="it stopped serving a log dir",
        supports="KA501",
        own=True,
    ),
    _signature(
        "start_refused",
        "Fatal error during KafkaServer startup",
        "Fatal error during KafkaServer startup",
        versions=_ZOOKEEPER,
        means="it did not start",
        by_reason=_REFUSED_START,
        own=True,
    ),
    _signature(
        "start_refused_early",
        "Exiting Kafka due to fatal exception",
        "Exiting Kafka due to fatal exception",
        means="it did not start",
        by_reason=_REFUSED_START,
        own=True,
    ),
    _signature(
        "session_expired",
        "Session expired.",
        r"\[ZooKeeperClient[^\]]{0,100}\] Session expired\.",
        versions=_ZOOKEEPER,
        means="its ZooKeeper session expired",
        supports="KA805",
        own=True,
    ),
    _signature(
        "zookeeper_silent",
        "have not heard from server in",
        r"Client session timed out, have not heard from server in (?P<detail>\d{1,10} ?ms)(?! for session ?id 0x0\b)",
        versions=_ZOOKEEPER,
        means="it received nothing from ZooKeeper for this time, or it paused",
        supports="KA805",
        own=True,
    ),
    _signature(
        "zookeeper_unreached",
        "have not heard from server in",
        r"have not heard from server in \d{1,10} ?ms for session ?id 0x0\b",
        means="its connection to ZooKeeper does not come about",
        supports="KA302",
        **_TO_ZOOKEEPER,
    ),
    _signature(
        "zookeeper_connection_failed",
        "losing socket connection",
        # ZooKeeper 3.6.0 to 3.6.3 spell it `sever`.
        r"Session 0x[0-9a-f]{1,16} for ser?ver (?P<detail>[^,\s]{1,300}), "
        r"(?:unexpected error, closing|Closing) socket connection",
        means="its connection to ZooKeeper fails",
        by_reason=_NO_ZOOKEEPER,
        **_TO_ZOOKEEPER,
    ),
    _signature(
        "zookeeper_channel_failed",
        ".ClientCnxnSocketNetty)",
        r"(?:future isn't success(?:\.|, cause:)|Exception caught|Unexpected throwable) "
        r"\(org\.apache\.zookeeper\.ClientCnxnSocketNetty\)",
        means="its connection to ZooKeeper with TLS fails",
        by_reason=_NO_CHANNEL,
        **{**_TO_ZOOKEEPER, "versions": "2.4 - 3.9"},
    ),
    _signature(
        "zookeeper_socket_error",
        "Socket error occurred: ",
        r"Socket error occurred: (?P<detail>\S{1,300}: [A-Z].{1,100}?)(?: \([\w.$]{1,200}\))?$",
        means="its connection to ZooKeeper fails",
        supports="KA302",
        **{**_TO_ZOOKEEPER, "versions": "2.4 - 2.8"},
    ),
    _signature(
        "zookeeper_unresolved",
        "Unable to resolve address: ",
        r"Unable to resolve address: (?P<detail>[^\s(]{1,300})",
        means="it cannot resolve the name of a ZooKeeper server",
        supports="KA302",
        **{**_TO_ZOOKEEPER, "versions": "2.4 - 3.9"},
    ),
    _signature(
        "zookeeper_login_failed",
        "SASL authentication ",
        # The second where ZooKeeper refuses the password. The exception is in the line up to ZooKeeper 3.5, else below it.
        r"SASL authentication (?:with Zookeeper Quorum member failed|failed using login context '[^']{1,100}')"
        r"(?:: (?P<detail>.{1,300}?)(?: \([\w.$]{1,200}\))?$)?",
        means="ZooKeeper refuses its login",
        supports="KA412",
        **_TO_ZOOKEEPER,
    ),
    _signature(
        "registration_failed",
        "Error while creating ephemeral at ",
        r"Error while creating ephemeral at \S{0,300}/brokers/ids/\d{1,10} with return code: (?P<detail>[A-Z]{1,40})",
        means="it could not register in ZooKeeper",
        by_detail=(("NOAUTH", "KA401"),),
        **{**_TO_ZOOKEEPER, "repeats": False},
    ),
    _signature(
        "long_pause",
        "Pause ",
        r"GC\(\d{1,10}\) Pause .{1,100} (?P<detail>\d{4,9}\.\d{1,6}ms)",
        log="kafkaServer-gc.log",
        means="its garbage collector paused it for a second or more",
        supports="KA805",
        own=True,
    ),
    _signature(
        "duplicate_registration",
        "Unable to register broker ",
        r"Unable to register broker (?P<about>\d{1,10}) because the controller returned error DUPLICATE_BROKER_REGISTRATION",
        versions="3.0 - 4.3 (KRaft)",
        means="the controller refuses its registration, because another process is registered with its id",
        supports="KA114",
        repeats=True,
    ),
    _signature(
        "fenced",
        "because its session has timed out",
        r"Fencing broker (?P<about>\d{1,10})(?: at epoch \d{1,19})? because its session has timed out",
        versions="2.8 - 4.3 (KRaft)",
        means="the controller received no heartbeat from it within the session timeout",
        supports="KA105",
    ),
    _signature(
        "cleaner_stopped",
        "Error due to",
        r"\[kafka-log-cleaner-thread-\d{1,5}\]: Error due to",
        log="log-cleaner.log",
        means="a thread of its log cleaner ended",
        supports="KA617",
        own=True,
    ),
    _signature(
        "log_uncleanable",
        "as uncleanable",
        r"Unexpected exception thrown when cleaning log .{1,1000}\. Marking its partition \((?P<detail>[^()\s]{1,270})\) "
        "as uncleanable",
        versions="2.1 - 4.3",
        log="log-cleaner.log",
        means="its log cleaner no longer cleans a partition",
        supports="KA617",
        own=True,
    ),
    _signature(
        "fetcher_stopped",
        "Error due to",
        r"\[(?P<part>ReplicaFetcher) replicaId=\d{1,10}, leaderId=\d{1,10}[^\]]{0,100}\] Error due to",
        means="a thread that fetches from a leader ended",
        supports="KA618",
        own=True,
    ),
    _signature(
        "partition_failed",
        "marked as failed",
        r"\[(?P<part>ReplicaFetcher) replicaId=\d{1,10}, leaderId=\d{1,10}[^\]]{0,100}\] "
        r"Partition (?P<detail>\S{1,270}) marked as failed",
        versions="2.3 - 4.3",
        means="it no longer fetches a partition",
        supports="KA618",
        own=True,
    ),
    _signature(
        "out_of_memory",
        "java.lang.OutOfMemoryError",
        r"java\.lang\.OutOfMemoryError: (?P<detail>[A-Za-z][A-Za-z0-9 /:,.-]{1,100})",
        means="it ran out of memory",
        supports="KA321",
        own=True,
    ),
    _signature(
        "too_many_open_files",
        "Too many open files",
        r"(?P<detail>Too many open files)",
        means="it could not open more files or connections",
        supports="KA321",
        own=True,
    ),
    _signature(
        "controller_refuses",
        "Unexpected error handling request ",
        r"\[ControllerApis nodeId=\d{1,10}\] Unexpected error handling request RequestHeader\(apiKey="
        r"(?:VOTE|BEGIN_QUORUM_EPOCH|END_QUORUM_EPOCH|FETCH|FETCH_SNAPSHOT|(?:BROKER|CONTROLLER)_REGISTRATION|BROKER_HEARTBEAT"
        r"|ALTER_PARTITION|ALLOCATE_PRODUCER_IDS), apiVersion=\d{1,5}, clientId=(?:raft-client-)?(?P<about>\d{1,10}),",
        versions="2.8 - 4.3 (KRaft)",
        means="the controller rejects its request, because the principal has no ClusterAction or no ACL was read yet",
        by_reason=(("ClusterAuthorizationException", "KA220"), (NO_ACL_READ, "KA220")),
        repeats=True,
        names_principal=True,
    ),
    _signature(
        "fatal_fault",
        "Encountered fatal fault: ",
        r"Encountered fatal fault: (?P<detail>.{1,300}?)(?: \([\w.$]{1,200}\))?$",
        versions="3.3 - 4.3 (KRaft)",
        means="it ended itself",
        # A request that a controller rejects ends who sent it.
        by_reason=(("Received cluster authorization error in response", "KA220"), ("", "KA221")),
        own=True,
    ),
    _signature(
        "metadata_fault",
        " fault: ",
        r"Encountered (?P<detail>(?:metadata (?:loading|publishing)|quorum controller|initial broker metadata loading) fault: "
        r".{1,300}?)(?: \([\w.$]{1,200}\))?$",
        versions="3.3 - 4.3 (KRaft)",
        means="it did not load or apply a part of the metadata",
        supports="KA221",
        own=True,
    ),
    _signature(
        "stale_epoch",
        "received error STALE_BROKER_EPOCH",
        r"Broker (?P<about>\d{1,10}) sent a heartbeat request but received error STALE_BROKER_EPOCH",
        versions="2.8 - 4.3 (KRaft)",
        means="the controllers reject its heartbeats, because they know a newer registration of it",
        supports="KA212",
        repeats=True,
    ),
)

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
