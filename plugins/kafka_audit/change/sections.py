"""The reports before and after a change as sections, worst first; what one check says of many resources is one line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka_audit.report.sections import Line, Section


def before(report: Mapping[str, Any]) -> list[Section]:
    """Return the report of the gate."""
    return [
        Section(title="Blockers", mark="no", lines=_items(report["blockers"])),
        Section(title="Warnings", mark="medium", lines=_items(report["warnings"])),
        Section(title="Not known", mark="unknown", lines=_items(report["not_known"])),
        Section(title="To keep in mind", mark="na", lines=_items(report["information"])),
    ]


def after(report: Mapping[str, Any]) -> list[Section]:
    """Return the comparison with the baseline."""
    return [
        Section(title="Not meant", mark="no", lines=tuple(map(_change, report["not_meant"]))),
        Section(title="Not done", mark="no", lines=tuple(Line(code="", told=one) for one in report["not_done"])),
        Section(title="Fails now", mark="no", lines=_items(report["new"])),
        Section(title="Not known any more", mark="unknown", lines=_items(report["not_known"])),
        Section(title="As meant", mark="ok", lines=tuple(map(_change, report["meant"]))),
        Section(title="Resolved", mark="ok", lines=_items(report["resolved"])),
    ]


def _items(items: Sequence[Mapping[str, str]]) -> tuple[Line, ...]:
    groups: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for one in items:
        source = one.get("source", "audit")
        groups.setdefault((one["code"], "" if source in {"audit", "gate"} else source), []).append(one)
    return tuple(_group(code, source, found) for (code, source), found in groups.items())


def _group(code: str, source: str, found: Sequence[Mapping[str, str]]) -> Line:
    first = found[0]
    places = tuple(one["resource"] for one in found)
    return Line(code=code, source=source, places=places, told=first["message"], remedy=first["remedy"])


def _change(one: Mapping[str, Any]) -> Line:
    return Line(code="", told=" ".join(_words(one)), places=(one["resource"],))


def _words(one: Mapping[str, Any]) -> Iterator[str]:
    yield f"{str(one['kind']).replace('_', ' ')} {one['resource']}:"
    yield " → ".join("none" if one[side] is None else str(one[side]) for side in ("before", "after"))
