"""Writes docs/corpus.md and docs/versions.md from the record: ``python -m testbed.corpus docs``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from kafka_audit.checks import catalogue
from kafka_audit.model.text import listing
from testbed.corpus import confusion, record, versions_page
from testbed.corpus.catalogue import DYNAMIC, GROUPS, VERSIONS, controls, faults
from testbed.corpus.peers import NOT_INSTALLED, UNAVAILABLE
from testbed.corpus.remedies import remedies
from testbed.corpus.score import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from testbed.corpus.record import Result

_HEAD = """# Fault corpus

Written by `python -m testbed.corpus docs` from `corpus.json`, the record of `make corpus`. Each fault is put into a real
cluster, the cluster is audited, repaired by what the finding says, and audited again. Faults are data:
`testbed/corpus/faults/*.yaml`. To repeat one: `python -m testbed.corpus run FAULT --versions "3.9.1 ZooKeeper" --rerun`.
Of several runs of a fault on one version the newest counts; the earlier ones stay in the record.
"""
_RULE = """The rule is the same for all tools. *cause*: the output names the cause. *undecided*: it names a cause as suspected,
with the rival that it could not rule out. *symptom*: it names something true that follows from the cause. *silent*: it names
nothing. *wrong*: it names something that is false. For kafka-audit this is decided by the codes of incidents and findings
(`cause`, `also`, `never` of the fault; a second incident with a cause that is not among them is wrong, even beside the right
one). For other tools it is decided by their output: a symptom is an error, a time-out, a listed partition, a missing broker or
replica; the words that name a cause are in the fault (`peers`). A tool without such a check is silent, which is what its user
sees.
"""
_REPAIRS = """Commands were run as a finding prints them, with the placeholders filled; a login that they name is that of an
administrator. Repairs that findings describe in words were carried out by the bed, and are quoted.
"""
_REMEDIES = """What was done of the text that a check prints under "What to do", in runs after which the cluster was healed.
*As printed*: the versions, with the number of commands that were run as the finding prints them. *In words*: the versions on
which the bed carried out what the text asks for. *Ends with*, where neither was done: the checks with whose executed remedy this
failure ended, too. The reasons are data: `testbed/corpus/remedies.yaml`.
"""
_LOSSES = """Faults of controllers wait for an election: the cluster works, and all clients are served. Each was named meanwhile.
Then the leader of the quorum was killed (*all*: all controllers, which started again at once), and a setting of a topic was
changed again and again: *no leader* says that the quorum did it in none of so many seconds. The same cluster without the fault
lost its leader, too, and changed the setting. Voters of a *static* quorum are in files, those of a *dynamic* one in the metadata
log.
"""
MOST_ENDS = 5
_VERSIONS = GROUPS["all"]
_NAME = "kafka-audit"


def page(results: Iterable[Result], causes: str) -> str:
    """Return the page of a record, with the section about causes."""
    newest = record.newest(results)
    broken = [one for (kind, name, _), one in newest.items() if kind == "fault" and name in faults()]
    healthy = [one for (kind, name, _), one in newest.items() if kind == "control" and name in controls()]
    parts = [
        _HEAD,
        *_figures(broken),
        "## Score\n",
        _RULE,
        *_scores(broken),
        "## Faults\n",
        *_faults(broken),
        "[Checks by release](versions.md) lists which check was seen to fail, and to pass once the fault was repaired.\n",
        causes,
        "## Elections that fail\n",
        *_losses(broken),
        "## What is not as it should be\n",
        *_open(broken),
        "## Repairs\n",
        *_repairs(broken),
        "## Remedies\n",
        *_remedies(broken),
        "## Healthy clusters\n",
        *_controls(healthy),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _figures(broken: Sequence[Result]) -> list[str]:
    verdicts = Counter(one["verdict"] for one in broken)
    count = len(broken) or 1
    printed = sum(len(one["commands"]) for one in broken)
    text = (
        f"{len(broken)} runs of {len({one['id'] for one in broken})} faults: cause named in {verdicts['cause']}"
        f" ({verdicts['cause'] / count:.0%}), undecided in {verdicts['undecided']}, symptom named in {verdicts['symptom']},"
        f" silent in {verdicts['silent']}, wrong in {verdicts['wrong']}. {sum(one['healed'] for one in broken)} healed."
        f" {printed} commands were run as findings print them, in {sum(bool(one['commands']) for one in broken)} runs.\n"
    )
    return [text]


def _scores(broken: Sequence[Result]) -> list[str]:
    tools = sorted({tool for one in broken for tool in one["peers"]})
    lines = [f"| Tool | {' | '.join(VERDICTS)} |", f"|---|{'---|' * len(VERDICTS)}"]
    for tool in [_NAME, *tools]:
        got = Counter(one["verdict"] if tool == _NAME else one["peers"].get(tool, {}).get("verdict") for one in broken)
        if got[NOT_INSTALLED] == len(broken):
            lines.append(f"| {tool} | {NOT_INSTALLED} |{' |' * (len(VERDICTS) - 1)}")
        else:
            lines.append(f"| {tool} | {' | '.join(str(got[verdict]) for verdict in VERDICTS)} |")
    return [*lines, "", *(f"- {tool}: {NOT_INSTALLED}: {why}." for tool, why in UNAVAILABLE.items()), ""]


def _faults(broken: Sequence[Result]) -> list[str]:
    tools = sorted({tool for one in broken for tool in one["peers"]})
    lines = [f"| Fault | {' | '.join(_VERSIONS)} | {' | '.join(tools)} |", f"|---|{'---|' * (len(_VERSIONS) + len(tools))}"]
    for fault in faults().values():
        mine = {one["version"]: one for one in broken if one["id"] == fault.id}
        cells = [_cell(mine.get(version), applies=version in fault.versions) for version in _VERSIONS]
        others = [_told(one["peers"].get(tool, {}).get("verdict", "") for one in mine.values()) for tool in tools]
        lines.append(f"| `{fault.id}`: {fault.title} | {' | '.join([*cells, *others])} |")
    return [*lines, ""]


def _cell(result: Result | None, *, applies: bool) -> str:
    if result is None:
        return "not run" if applies else "does not apply"
    return f"{result['verdict']}, {'healed' if result['healed'] else '**not healed**'}"


def _losses(broken: Sequence[Result]) -> list[str]:
    """Return what was said of faults of controllers before the leader was killed, and what became of the quorum then."""
    seen = [one for one in broken if one.get("lost")]
    shown = [one for one in seen if one["lost"]["seconds"] is None and one["verdict"] == "cause"]
    survived = sum((one["twin"] or {}).get("seconds") is not None for one in seen)
    figures = (
        f"{len(seen)} runs of {len({one['id'] for one in seen})} faults: in {len(shown)} the cause was named before, and no"
        f" leader was elected after. Without the fault one was elected in {survived}.\n"
    )
    lines = [
        _LOSSES,
        figures,
        "| Fault | Release | Voters | Named before as | Killed | Then | Without the fault |",
        "|---|---|---|---|---|---|---|",
    ]
    for fault in faults().values():
        for one in sorted(seen, key=lambda one: list(VERSIONS).index(one["version"])):
            if one["id"] == fault.id:
                release, kind = one["version"].split()[0], "dynamic" if one["version"] in DYNAMIC else "static"
                codes = ", ".join(found for found in one["failing"] if found.split()[0] in fault.cause)
                cells = [f"`{fault.id}`: {fault.title}", release, kind, f"{codes}: {_plain(one['headline'])}"]
                cells += ["all" if fault.loses == "all" else "the leader", _then(one["lost"]), _then(one["twin"])]
                lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _then(loss: Mapping[str, Any] | None) -> str:
    if not loss:
        return "not seen"
    if loss["seconds"] is None:
        return f"no leader in {loss['waited']} s"
    says = f"; {_plain(loss['says'])}" if loss.get("says") else ""
    return f"controller {loss['leader']} leads, written after {loss['seconds']} s{says}"


def _told(verdicts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, verdicts)))


def _open(broken: Sequence[Result]) -> list[str]:
    lines = []
    for one in broken:
        parts = [f"verdict {one['verdict']} ({', '.join(one['cause']) or 'no incident'})"] if one["verdict"] != "cause" else []
        parts += [f"not reported: {', '.join(one['missing'])}"] if one["missing"] else []
        parts += [f"false: {', '.join(one['false'])}"] if one["false"] else []
        parts += [f"not healed: {_plain('; '.join(one['left']))}"] if not one["healed"] else []
        if parts:
            lines.append(
                f"- `{one['id']}` on {one['version']}: {'; '.join(parts)}. Headline: {_plain(one['headline']) or 'none'}"
            )
    return [*(lines or ["Nothing."]), ""]


def _repairs(broken: Sequence[Result]) -> list[str]:
    lines = [_REPAIRS]
    for fault in faults().values():
        mine = [one for one in broken if one["id"] == fault.id and one["healed"]]
        commands = list(dict.fromkeys(f"`{_plain(command)}`" for one in mine for command in one["commands"]))
        words = list(dict.fromkeys(f"“{word}”" for one in mine for word in one["followed"]))
        if commands or words:
            lines.append(f"- `{fault.id}`: {'; '.join([*commands[:4], *words])}")
    return [*lines, ""]


def _remedies(broken: Sequence[Result]) -> list[str]:
    known = remedies(broken)
    count = sum(sum(one.commands.values()) for one in known.values())
    executed = [one for one in known.values() if one.executed]
    by_command, scenario = sum(bool(one.commands) for one in executed), sum(bool(one.scenario) for one in known.values())
    figures = (
        f"{len(known)} checks: the remedy of {len(executed)} was executed, of {by_command} of them by {count} commands as"
        f" printed. A scenario test heals {scenario}. The remedy of {len(known) - len(executed) - scenario} was not executed.\n"
    )
    lines = [
        _REMEDIES,
        figures,
        "| Check | As printed | In words | Ends with | Not executed, because |",
        "|---|---|---|---|---|",
    ]
    for code, one in known.items():
        printed = ", ".join(f"{version} ({number})" for version, number in one.commands.items())
        why = f"broken and healed by `{one.scenario}`" if one.scenario else one.why
        ends = "" if one.executed else listing(one.ends_with, MOST_ENDS)
        cells = [f"[{code}](checks/{code}.md) {catalogue()[code].name}", printed, ", ".join(one.words), ends]
        lines.append(f"| {' | '.join([*cells, why])} |")
    return [*lines, ""]


def _controls(healthy: Sequence[Result]) -> list[str]:
    audits, alarms = sum(one["audits"] for one in healthy), sum(len(one["alarms"]) for one in healthy)
    lines = [
        f"{audits} audits of {len(healthy)} healthy clusters: {alarms} failures of severity HIGH or above.\n",
        "| Healthy cluster | Version | Audits | Reads answered | HIGH or above |",
        "|---|---|---|---|---|",
    ]
    for control in controls().values():
        for one in healthy:
            if one["id"] == control.id:
                found = "; ".join(f"{what}: {_plain(text)}" for what, text in one["alarms"].items()) or "none"
                cells = [f"`{control.id}`: {control.title}", one["version"], str(one["audits"]), _answered(one), found]
                lines.append(f"| {' | '.join(cells)} |")
    return lines


def _answered(result: Result) -> str:
    """Return how many reads of a healthy cluster were answered; runs before 2026-11-26 recorded the share alone."""
    if "asked" not in result:
        return f"{result['coverage']:.0%}"
    unread = f" ({_plain(', '.join(result['unread']))})" if result["unread"] else ""
    return f"{result['answered']} of {result['asked']}{unread}"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def write(folder: Path) -> None:
    """Write the page beside the record, and the one of the checks by release."""
    results, causes = record.read(folder / "corpus.json"), confusion.section(confusion.judged(confusion.of_causes()))
    (folder / "corpus.md").write_text(page(results, causes))
    (folder / "versions.md").write_text(versions_page.page(results))
