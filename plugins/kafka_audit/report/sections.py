"""Parts of a report that is a list: what `migration` sorts, and what pages and approvals show."""

from dataclasses import dataclass


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
