"""What `lint` says of one broker's file: Kafka's verdict, and findings with their lines."""

from dataclasses import dataclass

from kafka_audit.model.finding import Finding


@dataclass(frozen=True, kw_only=True)
class FileLine:
    """A line of a file as people may see it: cleaned, without secrets. `start` and `end` are columns of the value, from 0."""

    line: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Remark:
    """What is said of a line besides findings: a setting without effect, or what is not judged."""

    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class LintedFinding:
    """A finding, the line that it is about where one can be named, and why it is muted."""

    finding: Finding
    place: FileLine | None = None
    muted_because: str | None = None
    muted_here: bool = False  # by a comment in the file, not by the mute list


@dataclass(frozen=True, kw_only=True)
class Linted:
    """One broker's settings, judged. A file may hold several brokers; `inside` says which one this is."""

    path: str
    inside: str
    kafka_version: str
    version_why: str
    neighbour_of: str | None  # the version that was meant, if it has no rules; `kafka_version` is its neighbour
    starts: bool | None  # None: a placeholder decides
    kafka_says: str | None
    linted_findings: tuple[LintedFinding, ...]
    remarks: tuple[Remark, ...] = ()
