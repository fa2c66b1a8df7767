"""The reports before and after a change as plain text: the verdict first, then what speaks against it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka_audit.model.text import clean
from kafka_audit.report.text import prose, wrap

_INDENT = " " * 6
_MOST = 50
"""Lines of one section that are shown; the JSON has all."""


def before(report: Mapping[str, Any], *, width: int) -> str:
    """Return the report of the gate."""
    lines = [
        *wrap(clean(report["headline"], 500), width),
        "",
        f"Snapshot {clean(report['snapshot_id'])}, the baseline to compare with.",
    ]
    sections = ("BLOCKERS", "blockers"), ("WARNINGS", "warnings"), ("NOT KNOWN", "not_known"), ("TO KEEP IN MIND", "information")
    for title, key in sections:
        lines += _section(title, [_item(one, width) for one in report[key]])
    return "\n".join(lines) + "\n"


def after(report: Mapping[str, Any], *, width: int) -> str:
    """Return the comparison with the baseline."""
    lines = [*wrap(clean(report["headline"], 500), width), "", f"{clean(report['baseline'])} -> {clean(report['snapshot_id'])}"]
    lines += _section("NOT MEANT", [_change(one, width) for one in report["not_meant"]])
    lines += _section("NOT DONE", [list(wrap(prose(one), width, "    ")) for one in report["not_done"]])
    lines += _section("FAILS NOW", [_item({"source": "audit", **one}, width) for one in report["new"]])
    lines += _section("NOT KNOWN ANY MORE", [_item({"source": "audit", **one}, width) for one in report["not_known"]])
    lines += _section("AS MEANT", [_change(one, width) for one in report["meant"]])
    lines += _section("RESOLVED", [_item({"source": "audit", **one, "remedy": ""}, width) for one in report["resolved"]])
    return "\n".join(lines) + "\n"


def _section(title: str, items: Sequence[Sequence[str]]) -> list[str]:
    if not items:
        return []
    shown = [line for item in items[:_MOST] for line in item]
    more = [f"    and {len(items) - _MOST} more, in the JSON"] if len(items) > _MOST else []
    return ["", f"{title} ({len(items)})", *shown, *more]


def _item(one: Mapping[str, str], width: int) -> list[str]:
    source = "" if one["source"] == "audit" else f" [{clean(one['source'])}]"
    told = f"{one['code']} {clean(one['resource'])}{source}: {clean(one['message'], 1000)}"
    return [*wrap(told, width, "    "), *_remedy(one["remedy"], width)]


def _remedy(text: str, width: int) -> Iterator[str]:
    if text:
        yield from wrap(prose(text), width, _INDENT)


def _change(one: Mapping[str, Any], width: int) -> list[str]:
    sides = [("-" if one[side] is None else clean(one[side])) for side in ("before", "after")]
    return list(wrap(f"{clean(one['kind']).replace('_', ' ')} {clean(one['resource'])}: {sides[0]} -> {sides[1]}", width, "    "))
