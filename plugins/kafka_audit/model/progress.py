"""What is on its way in a cluster: rows of a report, and what is known of each kind of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta, Struct

from kafka_audit.model.package_yaml import package_yaml

State = Literal["moving", "standing", "unknown"]

_COUNT = Meta(ge=0, le=2**53 - 1)
_TIME = Meta(extra_json_schema={"format": "date-time", "pattern": "Z$"})


class ProgressRow(Struct, frozen=True, kw_only=True):
    """Something that may be on its way.

    Attributes:
        kind: A key of `progress` in the cluster file.
        parties: Resources that take part, the one that is changed first.
        what: The row in a few words, with names that the cluster supplied.
        since: When it was seen first, or began by its own time.
        minutes: How long that was before this audit.
        measure: What must change: bytes, an offset, a number of parties, a state; null: it was not read.
        before: The measure in the previous snapshot, or in the sample before; null: there was none.
        unit: Of the measure.
        share: How much of it is done, 0 to 1; null: not known.
        waits_for: What it waits for; empty: not known.
        state: Whether the measure changes. It stands if it has been the same for longer than is ordinary.
        unchanged_since: Since when the measure is known to be the same; null where it changes.
        unchanged_minutes: How long that was before this audit.
        ordinary_minutes: How long the measure ordinarily stays the same at most.
        minutes_left: When it will be done, if it goes on as it did, at half its speed at least; null: not known.
        left_grows: Whether more is left than before: producers are faster than a copy.
        not_known: Why the state is unknown, and when it will be known.
        clients_wait: Whether clients wait for it.
        aside: Whether pages leave it out: it is ordinary unless the next audit sees it again, or it follows from an incident.
    """

    kind: str
    parties: tuple[str, ...]
    what: str
    since: Annotated[str, _TIME]
    minutes: Annotated[int, _COUNT] = 0
    measure: int | str | None
    before: int | str | None
    unit: str = ""
    share: Annotated[float, Meta(ge=0, le=1)] | None = None
    waits_for: str = ""
    state: State
    unchanged_since: Annotated[str, _TIME] | None = None
    unchanged_minutes: Annotated[int, _COUNT] | None = None
    ordinary_minutes: Annotated[int, _COUNT] = 0
    minutes_left: Annotated[int, _COUNT] | None = None
    left_grows: bool = False
    not_known: str = ""
    clients_wait: bool = False
    aside: bool = False


@dataclass(frozen=True, kw_only=True)
class ProgressKind:
    """What is known of a kind of rows.

    Attributes:
        minutes: how long its measure ordinarily stays the same at most.
        why: the reason for that.
        source: where that was read.
        check: the code of the check that judges it, by the first of its parties.
    """

    minutes: float
    why: str
    source: str
    check: str = ""


@cache
def progress_kinds() -> Mapping[str, ProgressKind]:
    """Return all kinds by their keys, in the order of a report."""
    return {name: ProgressKind(**kind) for name, kind in package_yaml("kafka_audit.model", "progress.yaml").items()}
