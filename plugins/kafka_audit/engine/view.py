"""What a prepared view is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class View:
    """A named SELECT over snapshot tables and earlier views.

    A `kept` view is computed once a submission, because several others read it; nothing of how it came about stays in their
    plans, which would grow with every level. "small" is a row per broker, listener or path, sent to every side of a join; "large"
    a row per partition that differs; "table" is a whole snapshot table, kept column by column.

    `kraft` is added to `sql` where a snapshot of the submission is of KRaft mode: others do not pay for it. A view of nothing
    else is only there then.
    """

    name: str
    doc: str
    sql: str
    kraft: str = ""
    kept: Literal["small", "large", "table"] | None = None
