"""The reports before and after a change as sections, worst first; what one check says of many resources is one line."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kafka_audit.migration.predictions import HELD, NOT_HELD, NOT_KNOWN
from kafka_audit.model.report import PlannedChange
from kafka_audit.model.text import brokers, counted, start_upper
from kafka_audit.report.verdicts import Line, Section

_MOST = 4
"""Broken connections of a state that are shown; the JSON has all."""


def before_change_sections(report: Mapping[str, Any]) -> list[Section]:
    """Return the report of the gate."""
    return [
        Section(title="Blockers", mark="no", lines=_items(report["blockers"])),
        Section(title="Warnings", mark="medium", lines=_items(report["warnings"])),
        Section(title="Not known", mark="unknown", lines=_items(report["not_known"])),
        Section(title="Notes", mark="na", lines=_items(report["information"])),
        Section(title="While it is rolled", mark="na", lines=tuple(map(_state, roll_states(report)))),
    ]


def roll_states(report: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for each state between old and new files, in the order of the roll."""
    return tuple(map(_state_text, (report.get("half_rolled") or {}).get("states", ())))


def _state(text: str) -> Line:
    return Line(code="", text=text)


def _state_text(state: Mapping[str, Any]) -> str:
    found = [f"broker {fault['from']} does not reach broker {fault['to']} ({fault['why']})" for fault in state["broken"]]
    open_points = f"; {counted(state['not_known_connections'], 'connection')} not known" if state["not_known"] else ""
    broken = "; ".join(found[:_MOST]) + (f"; and {state['broken_connections'] - _MOST} more" if len(found) > _MOST else "")
    return f"New on {brokers(state['changed'])}: {broken or 'all brokers stay connected'}{open_points}."


def planned_changes(report: Mapping[str, Any]) -> tuple[PlannedChange, ...]:
    """Return the steps of the change, in their order."""
    return msgspec.convert(report.get("steps", ()), tuple[PlannedChange, ...])


def after_change_sections(report: Mapping[str, Any]) -> list[Section]:
    """Return the comparison with the baseline."""
    return [
        Section(title="Not expected", mark="no", lines=tuple(map(_change, report["not_meant"]))),
        Section(title="Missing", mark="no", lines=tuple(Line(code="", text=sentence) for sentence in report["not_done"])),
        Section(title="New failures", mark="no", lines=_items(report["new"])),
        Section(title="Unknown now", mark="unknown", lines=_items(report["not_known"])),
        Section(title="Expected", mark="ok", lines=tuple(map(_change, report["meant"]))),
        Section(title="Resolved", mark="ok", lines=_items(report["resolved"])),
        Section(title="Predictions of the gate", mark="na", lines=tuple(map(_state, prediction_texts(report)))),
    ]


def prediction_texts(report: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for each prediction of the gate, those that did not hold first."""
    order = (NOT_HELD, NOT_KNOWN, HELD)
    found = sorted(report.get("predictions", ()), key=lambda prediction: order.index(prediction["outcome"]))
    return tuple(
        f"{start_upper(prediction['outcome'])}: {prediction['text'].rstrip('.')} ({prediction['seen']})." for prediction in found
    )


def _items(items: Sequence[Mapping[str, str]]) -> tuple[Line, ...]:
    groups: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for item in items:
        source = item.get("source", "audit")
        groups.setdefault((item["code"], "" if source in {"audit", "gate"} else source), []).append(item)
    return tuple(_group(code, source, group) for (code, source), group in groups.items())


def _group(code: str, source: str, items: Sequence[Mapping[str, str]]) -> Line:
    first = items[0]
    places = tuple(item["resource"] for item in items)
    return Line(code=code, source=source, places=places, text=first["message"], remedy=first["remedy"])


def _change(change: Mapping[str, Any]) -> Line:
    kind = str(change["kind"]).replace("_", " ")
    sides = " → ".join("none" if change[side] is None else str(change[side]) for side in ("before", "after"))
    return Line(code="", text=f"{kind} {change['resource']}: {sides}", places=(change["resource"],))
