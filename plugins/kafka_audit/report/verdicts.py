"""What the reports before and after a change say: their sections, and a verdict with its exit code and its color."""

from dataclasses import dataclass

from kafka_audit.report import gate

GO, NO_GO = "go", "no-go"
AS_EXPECTED, NOT_AS_EXPECTED = "as expected", "not as expected"
NOT_DECIDED = "not decided"
EXIT_CODES = {
    GO: gate.CLEAN,
    AS_EXPECTED: gate.CLEAN,
    NO_GO: gate.FAILED,
    NOT_AS_EXPECTED: gate.FAILED,
    NOT_DECIDED: gate.UNCOVERED,
}
TONES = {GO: "ok", AS_EXPECTED: "ok", NO_GO: "critical", NOT_AS_EXPECTED: "critical"}
"""Classes of the style sheet; any other verdict is `unknown`."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """What one check says, or one change; everything but `code` quotes a cluster.

    Attributes:
        code: of the check; "" for a change.
        source: who says so, "" where it is the audit.
        places: the resources, the first of which `text` is about.
        text: the sentence.
        remedy: what to do, or what to know; may be empty.
    """

    code: str
    text: str
    places: tuple[str, ...] = ()
    source: str = ""
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """Lines of one kind under a title; `mark` is the page's: no, medium, unknown, na or ok."""

    title: str
    mark: str
    lines: tuple[Line, ...]

    @property
    def number(self) -> int:
        """The number of resources and changes in the lines."""
        return sum(len(line.places) or 1 for line in self.lines)
