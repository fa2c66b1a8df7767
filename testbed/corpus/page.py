"""Writes docs/corpus.md and docs/versions.md from the record: ``python -m testbed.corpus docs``."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from testbed.corpus import confusion, printed, record, versions_page
from testbed.corpus import healthy as healthy_clusters
from testbed.corpus.catalogue import GROUPS, VERSIONS, controls, faults, without_sign
from testbed.corpus.peers import NOT_INSTALLED, UNAVAILABLE
from testbed.corpus.printed import NOT_SCORED, OWN
from testbed.corpus.record import Result
from testbed.corpus.words import VERDICTS, Worth

_HEAD = """# Fault corpus

Written by `python -m testbed.corpus docs` from the record of `make corpus` (`testbed/records`). Each fault is put into a real
cluster, the cluster is audited, repaired by what the finding says, and audited again. Faults are data:
`testbed/corpus/faults/*.yaml`. To repeat one: `python -m testbed.corpus run FAULT --versions "3.9.1 ZooKeeper" --rerun`.
Of several runs of a fault on one version the newest counts; the earlier ones stay in the record.
"""
_RULE = """One rule for all tools, on what they print (`testbed/corpus/words.py`). Of kafka-audit that is the terminal report of
`kafka-audit run`, from which the codes of checks are taken away. Each fault demands words (`demands`): its cause and the place.

- *cause*: one line has both, as a statement. *undecided*: a line names the cause as a possible one ("possibly", "suspected",
  "not ruled out", "?"), below a heading that has the place. "Most likely" is a statement.
- *symptom*: an error, a time-out, a partition without a leader or with a replica that is not in sync, a missing broker.
  *silent*: none of these, which is what the user of a tool without such a check sees.
- *wrong*: a line states another fault of the corpus, in its own words and place, that this cluster does not have (`besides` lists
  what it has besides; `usual` are settings of all test clusters). One such line is enough, even beside the true cause.

Texts are kept since 2026-11-27 (`testbed/corpus/printed`). Of earlier runs the record has codes, and one line of other tools:
their texts are *not scored again*, unless a snapshot of that fault and release was recorded, from which the report is printed
anew. Tests hold that no report on a recorded cluster has the words of another fault, and that reports on healthy clusters, and
on repaired ones, have none.
"""
_LOSSES = """Faults of controllers wait for an election: the cluster works, and all clients are served. Each was named meanwhile.
Then the leader of the quorum was killed (*all*: all controllers, which started again at once), and a setting of a topic was
changed again and again, which the quorum did not do in ten seconds or more. The same cluster without the fault lost its leader,
too, and changed the setting. Voters of a *dynamic* quorum are in the metadata log, else in files.
"""
_VERSIONS = GROUPS["all"]


Texts = Mapping[tuple[str, str], Mapping[str, str]]
"""What tools printed on the broken cluster, by fault and version, then by tool."""


def page(results: Iterable[Result], causes: str, texts: Texts, healthy_audits: Iterable[Result] = ()) -> str:
    """Return the page of a record, with the section about causes."""
    newest = record.newest(results)
    broken = [run for (kind, name, _), run in newest.items() if kind == "fault" and name in faults()]
    healthy = [run for (kind, name, _), run in newest.items() if kind == "control" and name in controls()]
    parts = [
        _HEAD,
        *_figures(broken),
        "## Score\n",
        _RULE,
        *_scores(broken, texts),
        "## Faults\n",
        *_faults(broken, texts),
        "[Checks by release](versions.md) lists which check was seen to fail, and to pass once the fault was repaired.\n",
        causes,
        "## Faults without a sign in logs\n",
        *_without_sign(),
        "## Elections that fail\n",
        *_losses(broken),
        "## What is not as it should be\n",
        *_open(broken, texts),
        "## Healthy clusters\n",
        *_controls(healthy),
        "",
        healthy_clusters.section(healthy_audits),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _figures(broken: Sequence[Result]) -> list[str]:
    verdicts = Counter(run["verdict"] for run in broken)
    share = f"{verdicts['cause'] / (len(broken) or 1):.0%}"
    commands = sum(len(run["commands"]) for run in broken)
    text = (
        f"{len(broken)} runs of {len({run['id'] for run in broken})} faults. By the codes of its findings, kafka-audit reported"
        f" the cause in {verdicts['cause']} ({share}), was undecided in {verdicts['undecided']}, reported a symptom in"
        f" {verdicts['symptom']}, nothing in {verdicts['silent']}, and something false in {verdicts['wrong']}."
        f" {sum(run['healed'] for run in broken)} healed. {commands} commands were run as findings print them, in"
        f" {sum(bool(run['commands']) for run in broken)} runs.\n"
    )
    return [text]


@cache
def _worth(fault: str, text: str) -> Worth:
    return printed.text_worth(faults()[fault], text)  # four parts of the page ask


def text_worth(run: Result, tool: str, texts: Texts) -> Worth:
    """Return what a tool's text of a run is worth."""
    text = texts.get((run["id"], run["version"]), {}).get(tool)
    if text is not None:
        return _worth(run["id"], text)
    away = run["peers"].get(tool, {}).get("verdict") == NOT_INSTALLED
    return Worth(verdict=NOT_INSTALLED if away else NOT_SCORED)


def _tools(broken: Sequence[Result]) -> list[str]:
    return [OWN, *sorted({tool for run in broken for tool in run["peers"]} - {OWN})]


def _scores(broken: Sequence[Result], texts: Texts) -> list[str]:
    columns = (*VERDICTS, NOT_SCORED, NOT_INSTALLED)
    lines = [f"| Tool | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for tool in _tools(broken):
        verdicts = Counter(text_worth(run, tool, texts).verdict for run in broken)
        lines.append(f"| {tool} | {' | '.join(str(verdicts[verdict]) for verdict in columns)} |")
    return [*lines, "", *(f"- {tool}: {NOT_INSTALLED}: {why}." for tool, why in UNAVAILABLE.items()), ""]


def _faults(broken: Sequence[Result], texts: Texts) -> list[str]:
    own, *tools = _tools(broken)
    lines = [f"| Fault | {' | '.join(_VERSIONS)} | {' | '.join(tools)} |", f"|---|{'---|' * (len(_VERSIONS) + len(tools))}"]
    for fault in faults().values():
        mine = {run["version"]: run for run in broken if run["id"] == fault.id}
        cells = [
            _cell(run, text_worth(run, own, texts).verdict)
            if (run := mine.get(version))
            else "not run"
            if version in fault.versions
            else "does not apply"
            for version in _VERSIONS
        ]
        others = [", ".join(dict.fromkeys(text_worth(run, tool, texts).verdict for run in mine.values())) for tool in tools]
        lines.append(f"| `{fault.id}`: {fault.title} | {' | '.join([*cells, *others])} |")
    return [*lines, ""]


def _cell(result: Result, verdict: str) -> str:
    return f"{verdict}, {'healed' if result['healed'] else '**not healed**'}"


def _without_sign() -> list[str]:
    listed = without_sign()
    text = (
        f"Of {len(listed)} of {len(faults())} faults no line of any process shows the cause, so that no diagnosis from logs alone"
        " can name it. [Faults by their logs](logs-corpus.md) has what `kafka-audit logs` says of the others.\n"
    )
    lines = [f"| `{name}`: {faults()[name].title} | {why} |" for name, why in listed.items()]
    return [text, "| Fault | Why there is no sign |", "|---|---|", *lines, ""]


def _losses(broken: Sequence[Result]) -> list[str]:
    """Return what was said of faults of controllers before the leader was killed, and what became of the quorum then."""
    seen = [run for run in broken if run.get("lost")]
    shown = [run for run in seen if run["lost"]["seconds"] is None and run["verdict"] == "cause"]
    survived = sum((run["twin"] or {}).get("seconds") is not None for run in seen)
    figures = (
        f"{len(seen)} runs of {len({run['id'] for run in seen})} faults: in {len(shown)} the cause was named before, and no"
        f" leader was elected after. Without the fault one was elected in {survived}.\n"
    )
    lines = [
        _LOSSES,
        figures,
        "| Fault | Named before by | Releases | Killed | No leader after | Without the fault |",
        f"|{'---|' * 6}",
    ]
    for fault in faults().values():
        mine = [run for run in seen if run["id"] == fault.id]
        if not mine:
            continue
        codes = sorted({found.split()[0] for run in mine for found in run["failing"]} & {*fault.cause})
        cells = [f"`{fault.id}`: {fault.title}", ", ".join(codes), _listed(run["version"] for run in mine)]
        cells += ["all" if fault.loses == "all" else "the leader", f"{sum(run in shown for run in mine)} of {len(mine)}"]
        after = sorted(run["twin"]["seconds"] for run in mine if run["twin"] and run["twin"]["seconds"] is not None)
        cells.append(f"one after {after[0]:g} to {after[-1]:g} s in {len(after)} of {len(mine)}" if after else "not seen")
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _listed(versions: Iterable[str]) -> str:
    known = {*versions}
    return ", ".join(version for version in VERSIONS if version in known)


def _open(broken: Sequence[Result], texts: Texts) -> list[str]:
    lines = []
    for run in broken:
        parts = [f"by codes {run['verdict']} ({', '.join(run['cause']) or 'no incident'})"] if run["verdict"] != "cause" else []
        worth = text_worth(run, OWN, texts)
        if worth.verdict not in {"cause", NOT_SCORED}:
            of = f" of {worth.false}" if worth.false else ""
            parts.append(f"by text {worth.verdict}{of}: {_plain(worth.line)[:200] or 'no line'}")
        parts += [f"not reported: {', '.join(run['missing'])}"] if run["missing"] else []
        parts += [f"false: {', '.join(run['false'])}"] if run["false"] else []
        parts += [f"not healed: {_plain('; '.join(run['left']))}"] if not run["healed"] else []
        if parts:
            lines.append(
                f"- `{run['id']}` on {run['version']}: {'; '.join(parts)}. Headline: {_plain(run['headline']) or 'none'}"
            )
    return [*(lines or ["Nothing."]), ""]


def _controls(healthy: Sequence[Result]) -> list[str]:
    audits, alarms = sum(run["audits"] for run in healthy), sum(len(run["alarms"]) for run in healthy)
    lines = [
        f"{audits} audits of {len(healthy)} healthy clusters: {alarms} failures of severity HIGH or above.\n",
        "| Healthy cluster | Versions | Audits | Reads answered | HIGH or above |",
        "|---|---|---|---|---|",
    ]
    for control in controls().values():
        if mine := [run for run in healthy if run["id"] == control.id]:
            found = "; ".join(f"{alarm}: {_plain(text)}" for run in mine for alarm, text in run["alarms"].items()) or "none"
            answered = min(run["answered"] / run["asked"] if "asked" in run else run["coverage"] for run in mine)
            cells = [f"`{control.id}`: {control.title}", _listed(run["version"] for run in mine)]
            cells += [str(sum(run["audits"] for run in mine)), f"{answered:.0%}", found]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def texts_of(results: Iterable[Result]) -> dict[tuple[str, str], dict[str, str]]:
    """Return what tools printed in the newest runs: as it was kept, else anew from the recorded snapshot, if there is one."""
    runs = [run for (kind, name, _), run in record.newest(results).items() if kind == "fault" and name in faults()]
    found = {(run["id"], run["version"]): printed.kept(run) for run in runs}
    anew = printed.rejudged(run for run in runs if not found[run["id"], run["version"]])
    return {key: texts for key, texts in found.items() if texts} | {key: {OWN: text} for key, text in anew.items()}


def write(folder: Path, path: Path = record.RECORD) -> None:
    """Write the page of a record, and the one of the checks by release."""
    results, causes = record.read(path), confusion.section(confusion.judged(confusion.of_causes()))
    audits = record.read(path.with_name(healthy_clusters.HEALTHY.name))
    (folder / "corpus.md").write_text(page(results, causes, texts_of(results), audits))
    (folder / "versions.md").write_text(versions_page.page(results))
