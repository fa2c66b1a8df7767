"""Findings and incidents: the results of checks. `model.report` is what a report holds of them."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any, Literal, cast

from msgspec import Struct

from kafka_audit.compare.addresses import address_text
from kafka_audit.model import quoting
from kafka_audit.model.commands import Line, Prose
from kafka_audit.model.text import our_line

SeverityName = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO"]


class Severity(IntEnum):
    """The urgency; ordered, so that `>=` compares."""

    INFO = 0
    LOW = 1  # style
    MEDIUM = 2  # weak
    HIGH = 3  # clients or replication will fail at the next foreseeable event
    CRITICAL = 4  # they fail now

    @property
    def word(self) -> SeverityName:
        """Its name, as a report has it."""
        return cast("SeverityName", self.name)


class Status(StrEnum):
    """A check's result for one resource."""

    FAIL = "FAIL"
    PASS = "PASS"  # noqa: S105 -- a verdict, no password
    UNKNOWN = "UNKNOWN"
    NOT_APPLICABLE = "NOT_APPLICABLE"


class Confidence(StrEnum):
    """How a failure is known."""

    MEASURED = "measured"  # seen at the failing side
    INFERRED = "inferred"  # the views fit, rivals are ruled out
    SUSPECTED = "suspected"  # a rival was not ruled out, and is named


HEDGE = {Confidence.MEASURED: "", Confidence.INFERRED: "most likely ", Confidence.SUSPECTED: "possibly "}
"""What a sentence says of how sure it is, before the cause."""


class Lifecycle(StrEnum):
    """A finding against the previous snapshot's."""

    NEW = "new"
    ONGOING = "ongoing"
    RESOLVED = "resolved"
    INCOMPARABLE = "incomparable"  # failed before, could not be judged now


@dataclass(frozen=True, kw_only=True)
class Resource:
    """What a finding is about: `name` is the whole path, e.g. `broker/2/listener/PLAINTEXT`, and `type` its kind.

    The other fields are the parts of the path. Names come from the cluster: a part that is not there or malformed is None.
    """

    type: str
    name: str
    broker: int | None = None
    address: str | None = None  # of a broker whose id is unknown
    controller: str | None = None  # address of a controller
    listener: str | None = None
    log_dir: str | None = None
    key: str | None = None  # of a setting
    topic: str | None = None
    partition: int | None = None

    @classmethod
    def of(cls, name: str) -> "Resource":
        """Return the resource with that path: `broker/2/listener/X` is a `listener`, `cluster` is a `cluster`."""
        kind, _, rest = name.partition("/")
        if kind == "broker":
            owner, _, below = rest.partition("/")
            part, _, value = below.partition("/")
            broker = _number(owner)
            parts: dict[str, Any] = {_PARTS[part]: value} if part in _PARTS else {}
            return cls(type=part or kind, name=name, broker=broker, address=owner if broker is None else None, **parts)
        if kind == "controller":
            return cls(type=kind, name=name, controller=rest)
        if kind != "topic":
            return cls(type=kind, name=name)
        topic, found, text = rest.rpartition("/partition/")
        partition = _number(text) if found else None
        if partition is None:
            return cls(type="topic", name=name, topic=rest)
        return cls(type="partition", name=name, topic=topic, partition=partition)

    @property
    def root(self) -> str:
        """The broker, controller or topic that it is or belongs to, e.g. `broker/2`; else the whole name."""
        if self.topic is not None:
            return f"topic/{self.topic}"
        return f"broker/{self.address if self.broker is None else self.broker}" if self.is_of_broker else self.name

    @property
    def is_of_broker(self) -> bool:
        """Return whether it is a broker or a part of one."""
        return self.broker is not None or self.address is not None

    @property
    def part(self) -> str | int | None:
        """The listener, log dir, setting or partition that it is of its broker or topic; None for all of it."""
        parts = (self.listener, self.log_dir, self.key, self.partition)
        return next((part for part in parts if part is not None), None)

    @property
    def topic_partition(self) -> tuple[str, int] | None:
        """Topic and number of a partition, None for any other resource."""
        return None if self.topic is None or self.partition is None else (self.topic, self.partition)

    def concerns(self, other: "Resource") -> bool:
        """Return whether a statement on this resource concerns the other: it is the cluster, or one is a part of the other."""
        if self.name in {"cluster", other.name}:
            return True
        return other.name.startswith(f"{self.name}/") or self.name.startswith(f"{other.name}/")


_PARTS = MappingProxyType({"listener": "listener", "logdir": "log_dir", "config": "key"})
"""The field of `Resource` for each kind of part that a broker's path can name."""

_LONGEST_NUMBER = 10


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER else None


Scalar = str | int | float | bool
Record = Mapping[str, Scalar]
Value = Scalar | tuple[int, ...] | tuple[str, ...] | Record | tuple[Record, ...]
"""A value of evidence: numbers stay numbers, brokers stay lists of ids; what has several parts is a record, or a list of them."""

MOST_VALUES = 1000
"""Entries of a list of evidence that are kept."""


def as_text(value: Value | tuple[Scalar | Record, ...]) -> str:
    """Return a value of evidence as sentences show it: lists are joined by commas, true and false are as in JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return " ".join(f"{key} {as_text(part)}" for key, part in value.items())
    return ", ".join(map(as_text, value)) if isinstance(value, tuple) else str(value)


def bounded(evidence: Mapping[str, Value], limit: int) -> dict[str, Value]:
    """Return evidence with clean texts of `limit` characters a value, and lists of at most `MOST_VALUES`.

    Of a list that is cut, `<key>_omitted` says how many values are left out.
    """
    kept: dict[str, Value] = {}
    for key, value in evidence.items():
        if not isinstance(value, tuple):
            kept[key] = _clean(value, limit)
            continue
        # Each of a thousand brokers may name all others: numbers are taken as they are.
        kept[key] = shown = value[:MOST_VALUES] if {*map(type, value)} == {int} else tuple(_first_parts(value, limit))
        if len(shown) < len(value):
            kept[f"{key}_omitted"] = len(value) - len(shown)
    return kept


def _clean(value: Any, limit: int) -> Any:  # noqa: ANN401 -- of the kind that it gets
    if isinstance(value, Mapping):
        return {key: _clean(part, limit) for key, part in value.items()}
    return our_line(value, limit) if isinstance(value, str) else value


def _first_parts(values: tuple[Any, ...], limit: int) -> Iterator[Any]:
    left = limit
    for value in values[:MOST_VALUES]:
        part = _clean(value, limit)
        left -= len(as_text(part)) if isinstance(part, str | Mapping) else 0
        if left < 0:
            return
        yield part


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a check says of one resource.

    `evidence` fills the check's message template of that status. `severity` None means the check's own.
    """

    snapshot_id: str
    resource: str
    status: Status
    code: str = ""  # of the check, which does not name itself: `checks.run` adds it
    evidence: Mapping[str, Value] = field(default_factory=dict)
    severity: Severity | None = None
    confidence: Confidence = Confidence.MEASURED


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A judgement in words, with its place in time and in the mute list."""

    code: str
    name: str
    status: Status
    severity: Severity
    confidence: Confidence
    resource: Resource
    message: str
    evidence: Mapping[str, Value]
    remedy: Prose
    fingerprint: str
    lifecycle: Lifecycle = Lifecycle.NEW
    muted: bool = False
    last_known: str = ""  # the message of the audit that judged it last, where this one could not
    headlines: tuple[str, ...] = ()  # the first sentence of the message, and shorter forms of it

    @property
    def remediation(self) -> str:
        """What to do, as text whose commands can be copied."""
        return quoting.plain_prose(self.remedy)

    def text(self, key: str) -> str:
        """Return a text of the evidence, "" where there is none."""
        value = self.evidence.get(key)
        return value if isinstance(value, str) else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts of the evidence, empty where there is none."""
        value = self.evidence.get(key)
        return tuple(part for part in value if isinstance(part, str)) if isinstance(value, tuple) else ()

    def number(self, key: str) -> int:
        """Return a number of the evidence, 0 where there is none."""
        value = self.evidence.get(key)
        return value if isinstance(value, int) else 0

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return a list of numbers of the evidence, e.g. of broker ids; empty where there is none."""
        value = self.evidence.get(key)
        return tuple(part for part in value if isinstance(part, int)) if isinstance(value, tuple) else ()


CHANGES = "changes"
"""Observer of the changes before the fault; reports show it in a separate section."""


class Evidence(Struct, frozen=True, kw_only=True, gc=False):
    """One statement for or against a cause, with who said it."""

    observer: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a repair. kind: see, quick, lasting, prove, do_not; `commands` also has settings and comments."""

    kind: str
    text: str | Prose
    commands: tuple[Line, ...] = ()
    cost: str | None = None


@dataclass(frozen=True, kw_only=True)
class CauseCandidate:
    """Causes of one kind that an incident may have. `against` is why they are ruled out, where they are.

    Attributes:
        cause: the kind, such as `address` or `tls`.
        code: of the check that reports it.
        word: for a headline.
        fault: for a sentence.
        state: `measured`, `possible`, `rare` (possible, and nothing suggests it) or `ruled_out`.
        speaks_for: what shows it; where nothing does, why it is open.
        against: what rules it out.
        decided_by: what would decide; empty where it is decided.
    """

    cause: str
    code: str
    word: str
    fault: str
    state: str
    speaks_for: tuple[Evidence, ...]
    against: tuple[Evidence, ...]
    decided_by: str


@dataclass(frozen=True, kw_only=True)
class Incident:
    """Findings that one cause explains.

    `cause` is a check code; `findings` are the fingerprints of those of HIGH and above, `explains` of those below.
    """

    headline: str
    cause: str
    severity: Severity
    confidence: Confidence
    findings: tuple[str, ...]
    evidence_for: tuple[Evidence, ...]
    evidence_against: tuple[Evidence, ...]
    not_known: tuple[str, ...]
    remediation: tuple[Step, ...]
    lifecycle: Lifecycle = Lifecycle.NEW
    impact: str = ""  # who suffers now, in one or two sentences
    confidence_why: str = ""  # one sentence: what the confidence rests on
    candidates: tuple[CauseCandidate, ...] = ()  # of an incident about an edge, the likeliest first
    explains: tuple[str, ...] = ()


class Address(Struct, frozen=True, kw_only=True, gc=False):
    """Where a broker listens, or listened."""

    host: str
    port: int

    @property
    def text(self) -> str:
        """`host:port`, as Kafka writes it."""
        return address_text(self.host, self.port)


@dataclass(frozen=True, kw_only=True)
class Change:
    """A fact that differs from the previous snapshot; shown in the timeline and in "changed before"."""

    # broker_came, broker_went, endpoint, voter_address, version, config, acl, controller, topic_created, topic_deleted,
    # topic_recreated, leader_moved
    kind: str
    resource: str
    before: str | None
    after: str | None
    addresses_before: tuple[Address, ...] = ()  # of an endpoint, or a broker that went
    addresses_after: tuple[Address, ...] = ()


def fingerprint(code: str, cluster_id: str, resource: str) -> str:
    """Return the stable identity of a finding: 16 hex digits of SHA-256 over code, cluster id and resource."""
    return hashlib.sha256(f"{code}\0{cluster_id}\0{resource}".encode(errors="surrogatepass")).hexdigest()[:16]
