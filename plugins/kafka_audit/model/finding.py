"""Findings and incidents: what checks conclude and how it is told (JSON: `report/findings.schema.json`)."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Severity(IntEnum):
    """How soon somebody must act; ordered, so that `>=` compares."""

    INFO = 0
    LOW = 1  # style
    MEDIUM = 2  # weak
    HIGH = 3  # clients or replication will fail at the next foreseeable event
    CRITICAL = 4  # they fail now


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


class Lifecycle(StrEnum):
    """A finding against the previous snapshot's."""

    NEW = "new"
    ONGOING = "ongoing"
    RESOLVED = "resolved"
    INCOMPARABLE = "incomparable"  # failed before, could not be judged now


@dataclass(frozen=True, kw_only=True)
class Resource:
    """What a finding is about. `name` is the whole path, e.g. `broker/2/listener/PLAINTEXT`; `type` its kind."""

    type: str
    name: str

    @classmethod
    def of(cls, name: str) -> "Resource":
        """Derive the type from the path: `broker/2/listener/X` is a `listener`, `cluster` is a `cluster`."""
        parts = name.split("/")
        if parts[0] == "broker":
            return cls(type=parts[2] if len(parts) > 2 else "broker", name=name)  # noqa: PLR2004 -- broker/ID/<type>
        if parts[0] == "topic":
            return cls(type="partition" if name.rpartition("/")[0].endswith("/partition") else "topic", name=name)
        return cls(type=parts[0], name=name)


def broker_of(resource: str) -> int | None:
    """Return the broker that a resource name starts with, e.g. 2 for `broker/2/listener/PLAINTEXT`."""
    match = re.match(r"broker/(\d+)(?:/|$)", resource)
    return int(match[1]) if match else None


Value = str | int | float | bool | tuple[int, ...] | tuple[str, ...]
"""A value of evidence: numbers stay numbers, brokers stay lists of ids."""


def as_text(value: Value) -> str:
    """Return a value of evidence as sentences show it: lists are joined by commas, true and false are as in JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a check says of one resource.

    `evidence` fills the check's message template of that status. `severity` None means the check's own.
    """

    snapshot_id: str
    code: str
    resource: str
    status: Status
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
    evidence: Mapping[str, str]
    remediation: str
    fingerprint: str
    lifecycle: Lifecycle = Lifecycle.NEW
    muted: bool = False


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One statement for or against a cause, with who said it."""

    observer: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a repair. kind: see, quick, lasting, prove, do_not. Commands can be copied as they are."""

    kind: str
    text: str
    commands: tuple[str, ...] = ()
    cost: str | None = None


@dataclass(frozen=True, kw_only=True)
class Incident:
    """Findings that one cause explains. `cause` is a check code; `findings` are fingerprints."""

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


@dataclass(frozen=True, kw_only=True)
class Change:
    """A fact that differs from the previous snapshot; told in the timeline and in "what changed before it broke"."""

    # broker_came, broker_went, endpoint, version, config, acl, controller, topic_created, topic_deleted, topic_recreated,
    # leader_moved
    kind: str
    resource: str
    before: str | None
    after: str | None


def fingerprint(code: str, cluster_id: str, resource: str) -> str:
    """Return the stable identity of a finding: 16 hex digits of SHA-256 over code, cluster id and resource."""
    return hashlib.sha256(f"{code}\0{cluster_id}\0{resource}".encode(errors="surrogatepass")).hexdigest()[:16]
