"""Why a read or a probe failed: a closed list, set once where the failure happens, and stored as the name of its member."""

from enum import Enum, StrEnum
from types import MappingProxyType


class EdgeLayer(StrEnum):
    """The layers of a connection, in their order: the first that fails says where it is broken."""

    NAME = "name"
    TCP = "tcp"
    TLS = "tls"
    SASL = "sasl"
    RIGHTS = "rights"
    IDENTITY = "identity"
    EFFECT = "effect"


_NAME, _TCP, _TLS, _SASL = EdgeLayer.NAME, EdgeLayer.TCP, EdgeLayer.TLS, EdgeLayer.SASL
_RIGHTS, _IDENTITY, _EFFECT = EdgeLayer.RIGHTS, EdgeLayer.IDENTITY, EdgeLayer.EFFECT


class ReadFailure(Enum):
    """A reason, the words for people where the other party has none, and its layer; None: any, or no connection fails."""

    NAME_UNKNOWN = ("name or service not known", _NAME)
    NAME_LOOKUP_FAILED = ("name lookup failed", _NAME)
    NO_HOST = ("no host name", _NAME)
    NO_PORT = ("no port number", _NAME)
    NOT_DIALLED = ("not dialled", _NAME)  # only the cluster lists the address, and it would lead to no broker
    REFUSED = ("connection refused", _TCP)
    NO_ROUTE = ("no route to host", _TCP)
    NETWORK_UNREACHABLE = ("network is unreachable", _TCP)
    RESET = ("connection reset", _TCP)
    CLOSED = ("connection closed", _TCP)
    CLOSED_AT_ONCE = ("connection closed at once", _TCP)  # before anything was sent on it
    CONNECTION_FAILED = ("connection failed", _TCP)
    TIMEOUT = ("timeout", None)
    NOT_TLS = ("no TLS spoken there", _TLS)
    TLS_VERSION = ("no common TLS version", _TLS)
    TLS_REFUSED = ("TLS handshake refused", _TLS)
    CERTIFICATE_EXPIRED = ("certificate expired", _TLS)
    CERTIFICATE_NOT_YET_VALID = ("certificate not yet valid", _TLS)
    CERTIFICATE_NAME = ("certificate for another name", _TLS)
    CERTIFICATE_UNTRUSTED = ("certificate of an unknown issuer", _TLS)
    CERTIFICATE_NOT_ACCEPTED = ("certificate not accepted", _TLS)
    CLIENT_CERTIFICATE_WANTED = ("client certificate required", _TLS)
    CLIENT_CERTIFICATE_REFUSED = ("client certificate refused", _TLS)
    LOGIN_WANTED = ("login required", _SASL)  # none was sent: it answers a handshake, and else closes the connection
    LOGIN_NOT_TAKEN = ("ILLEGAL_SASL_STATE", _SASL)  # of a listener without SASL
    LOGIN_REFUSED = ("SASL_AUTHENTICATION_FAILED", _SASL)
    MECHANISM_NOT_OFFERED = ("UNSUPPORTED_SASL_MECHANISM", _SASL)
    LOGIN_PAUSED = ("login paused", _SASL)  # not tried: other brokers refused it, and none accepted it yet
    SCRAM_WEAK = ("weak SCRAM", _SASL)
    SCRAM_NOT_VERIFIED = ("SCRAM not verified", _SASL)
    NO_TOKEN = ("no token", _SASL)
    TOKEN_REFUSED = ("token refused", _SASL)
    NO_TICKET = ("no Kerberos ticket", _SASL)
    NO_CREDENTIALS = ("no credentials", _SASL)
    NO_LOGIN = ("no login", _SASL)  # at ZooKeeper: the password or a package is missing
    NOT_TRUSTED = ("not trusted", _SASL)  # `trusted_hosts` does not match the address, so no password goes there
    PROTOCOLS_DIFFER = ("protocols differ", _SASL)
    NOT_AUTHORIZED = ("CLUSTER_AUTHORIZATION_FAILED", _RIGHTS)
    NOT_KAFKA = ("not a Kafka broker", _IDENTITY)
    A_CONTROLLER = ("a KRaft controller, and no broker", _IDENTITY)
    CONTRADICTS_ZOOKEEPER = ("contradicts ZooKeeper", _IDENTITY)  # it says that it runs in KRaft mode
    NOT_ZOOKEEPER = ("not an answer of ZooKeeper", _IDENTITY)
    UNSUPPORTED_VERSION = ("UNSUPPORTED_VERSION", _EFFECT)
    NOT_SUPPORTED = ("not supported", _EFFECT)
    THROTTLED = ("throttled", _EFFECT)
    KAFKA_ERROR = ("Kafka error", _EFFECT)  # an error code of Kafka that is no other member
    ZOOKEEPER_ERROR = ("ZooKeeper error", _EFFECT)
    NOT_SERVING = ("it is not serving requests", _EFFECT)
    MALFORMED_ANSWER = ("unreadable answer", _EFFECT)
    UNREADABLE = ("unreadable", _EFFECT)  # what a znode, a file or an answer contains
    UNREADABLE_ENDPOINT = ("unreadable endpoint", _EFFECT)
    UNEXPECTED_ANSWER = ("unexpected answer", _EFFECT)
    IMPOSSIBLE_NAMES = ("impossible names", _EFFECT)  # left out: names that no cluster has, see `model.names`
    INCOMPLETE = ("incomplete", _EFFECT)
    TOO_LARGE = ("too large", None)
    OVER_LIMIT = ("over the limit", None)
    NO_ANSWER = ("no answer", None)
    NOT_TRIED = ("not tried", None)  # another read left it open whether the party would take offence
    NOT_PROBED = ("registered again since, or not probed", None)
    CANNOT_RUN = ("cannot run", None)
    COMMAND_FAILED = ("the command failed", None)
    UNREADABLE_OUTPUT = ("unreadable output", None)
    NO_FILE = ("no such file", None)
    NO_BROKER_ID = ("no broker id", None)
    TWO_BROKER_IDS = ("two broker ids", None)
    TWO_FILES = ("two files", None)
    ANOTHER_FILE = ("another broker's file", None)
    FILE_DENIED = ("permission denied", None)
    FILE_NOT_READ = ("file not read", None)
    JAAS_REFUSED = ("unreadable JAAS text", None)  # Kafka refuses it as well
    NOT_IN_FILE = ("not in the file", None)
    UNKNOWN = ("failed", None)

    def __init__(self, words: str, layer: EdgeLayer | None) -> None:
        """Keep the words and the layer."""
        self.words = words
        self.layer = layer

    @classmethod
    def of(cls, reason: str | None, error: str | None) -> "ReadFailure":
        """Return the member of a stored row; `error` decides in rows of versions without the column, by their exact texts."""
        if reason is not None:
            return cls.__members__.get(reason, cls.UNKNOWN)
        return _BY_EARLIER_TEXT.get(error or "", cls.UNKNOWN)


_EARLIER_TEXTS = {
    ReadFailure.NOT_AUTHORIZED: (
        *("TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
        *("NoAuthError", "NoAuth", "error 29", "error 30", "error 31"),
    ),
    ReadFailure.LOGIN_REFUSED: ("AuthFailedError",),
    ReadFailure.NAME_LOOKUP_FAILED: ("temporary failure in name resolution",),
    ReadFailure.NOT_KAFKA: ("not a Kafka answer",),
    ReadFailure.NOT_DIALLED: tuple(
        f"not dialled: {kind} address" for kind in ("link-local", "multicast", "unspecified", "broadcast", "cloud metadata")
    ),
}
_BY_EARLIER_TEXT = MappingProxyType(
    {member.words: member for member in ReadFailure}
    | {text: member for member, texts in _EARLIER_TEXTS.items() for text in texts}
)

KAFKA_ERRORS = MappingProxyType(
    {
        29: ReadFailure.NOT_AUTHORIZED,
        30: ReadFailure.NOT_AUTHORIZED,
        31: ReadFailure.NOT_AUTHORIZED,
        33: ReadFailure.MECHANISM_NOT_OFFERED,
        34: ReadFailure.LOGIN_NOT_TAKEN,
        35: ReadFailure.UNSUPPORTED_VERSION,
        53: ReadFailure.NOT_AUTHORIZED,
        58: ReadFailure.LOGIN_REFUSED,
    }
)
"""What an error code of Kafka means; any other is `KAFKA_ERROR`."""

NOT_ASKED = frozenset({ReadFailure.NO_CREDENTIALS, ReadFailure.NOT_TRUSTED})
"""A listener was not asked because nothing lets the auditor log in there: a gap of the cluster file."""

OTHER_LISTENER = frozenset({ReadFailure.LOGIN_WANTED, ReadFailure.LOGIN_NOT_TAKEN})
"""The listener requires a login where none is given, or takes none: no password was sent."""

LOGIN_REFUSALS = OTHER_LISTENER | {ReadFailure.LOGIN_REFUSED, ReadFailure.MECHANISM_NOT_OFFERED, ReadFailure.NO_LOGIN}
"""A login was refused, or could not be tried with what is here."""

UNREACHABLE = frozenset(
    {ReadFailure.NO_ROUTE, ReadFailure.NETWORK_UNREACHABLE, ReadFailure.NAME_UNKNOWN, ReadFailure.NAME_LOOKUP_FAILED}
)
"""No packet reaches the host."""

CLOSED_BY_PEER = frozenset({ReadFailure.RESET, ReadFailure.CLOSED, ReadFailure.CLOSED_AT_ONCE})
"""It opened, and the other side closed it."""

AS_IN_A_RESTART = CLOSED_BY_PEER | {ReadFailure.REFUSED, ReadFailure.TIMEOUT, ReadFailure.NO_ROUTE}
"""A broker that restarts causes these as well."""

LASTING = (
    NOT_ASKED
    | OTHER_LISTENER
    | {
        ReadFailure.NOT_TRIED,
        *(ReadFailure.NOT_SUPPORTED, ReadFailure.TOKEN_REFUSED, ReadFailure.SCRAM_WEAK, ReadFailure.SCRAM_NOT_VERIFIED),
        *(ReadFailure.LOGIN_REFUSED, ReadFailure.LOGIN_PAUSED, ReadFailure.MECHANISM_NOT_OFFERED, ReadFailure.NOT_AUTHORIZED),
    }
)
"""Another sample a few seconds later cannot change these."""
