"""Risks in the settings that processes announce when they start (`KafkaConfig values`), by the checks of `lint`."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kafka_audit.checks import Check
from kafka_audit.lint.files import lint_files
from kafka_audit.lint.judging import REFUSED, Rules
from kafka_audit.logs.tally import LogTally, nodes_of
from kafka_audit.model.finding import Status
from kafka_audit.model.text import our_line

_MOST_NODES, _LONGEST = 50, 400
_ALL = 120  # settings; a process announces more of them, so that fewer are a log that is cut
_NOT_SET, _HIDDEN = {"", "null", "[]"}, {"[hidden]", "[masked]"}
_NOT_FROM_LOGS = {REFUSED, "KA717", "KA719"}
"""A process that starts refused nothing; there may be more brokers than logs; which keys a file has is not announced."""
_OF_LISTENERS = ("ssl.", "sasl.", "principal.builder.class", "connections.max.reauth.ms")
"""Settings that a listener may have of its own, which no line announces."""
_UNKNOWN = "${not-in-the-log}"


def logged_risks(
    tally: LogTally, checks: Mapping[str, Check], today: date, redact: Callable[[str], str] = str
) -> list[dict[str, Any]]:
    """Return what `lint` finds in the settings of the last start of each node, the worst first."""
    nodes = {name: node for name, node in nodes_of(tally).items() if node.settings[1].count("\n") >= _ALL}
    shown = dict(list(nodes.items())[:_MOST_NODES])
    if not shown:
        return []
    release = next((node.release for node in shown.values() if node.release), None)
    rules = Rules(checks=checks, mutes=(), today=today, version=release, show_all=False)
    with TemporaryDirectory() as folder:
        paths = {}
        for number, (name, node) in enumerate(shown.items()):
            path = Path(folder, str(number), "server.properties")
            path.parent.mkdir()
            path.write_text("".join(f"{key}={value}\n" for key, value in _properties(node.settings[1])), encoding="utf-8")
            paths[str(path)] = name
        outcome = lint_files([*paths], rules)
    found = [
        (file.path, linted.finding)
        for file in outcome.files
        for linted in file.linted_findings
        if linted.finding.status is Status.FAIL and linted.finding.code not in _NOT_FROM_LOGS
    ]
    found.sort(key=lambda one: -one[1].severity)
    return [
        {
            "node": paths.get(path, ""),
            "severity": finding.severity.name,
            "check": finding.code,
            "headline": our_line(redact(finding.message.replace(" (set in server.properties)", "")), _LONGEST),
        }
        for path, finding in found
    ]


def _properties(announced: str) -> Iterator[tuple[str, str]]:
    """Yield settings as a file has them: what is hidden, or may differ at a listener, as not known."""
    known: dict[str, str] = {}
    for line in announced.split("\n")[1:]:
        key, _, value = line.strip().partition(" = ")
        value = value[1:-1].replace(", ", ",") if value.startswith("[") and value not in _HIDDEN else value.removeprefix("class ")
        if value in _HIDDEN:
            known[key] = _UNKNOWN
        elif value not in _NOT_SET:
            known[key] = value.replace("\\", "\\\\")
    yield from known.items()
    names = [one.partition(":")[0].strip() for one in known.get("listeners", "").split(",")]
    for name in names[:20]:
        for key in known:
            if name and key.startswith(_OF_LISTENERS) and not key.endswith(".jaas.config"):
                yield f"listener.name.{name.lower()}.{key}", _UNKNOWN
