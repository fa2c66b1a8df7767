"""Audits of healthy clusters under load, with all inputs of a cluster file and with fewer, and the section that lists them."""

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_audit.model.finding import Severity
from kafka_audit.report.gate import evaluate_gate
from testbed.audit_files import controller_files
from testbed.corpus import record, score
from testbed.corpus.actions import carry_out
from testbed.corpus.auditing import Auditor
from testbed.corpus.catalogue import LOADS, VERSIONS, Control, controls
from testbed.corpus.documents import report_of
from testbed.corpus.inputs import ALL_INPUTS, DEFAULT
from testbed.corpus.record import Result
from testbed.corpus.runner import Stage, commit, now
from testbed.corpus.scene import Scene
from testbed.errors import BedError

_INPUTS = ("controllers", "properties", "logs", "vantages")


def quorum_inputs(scene: Scene) -> Mapping[str, dict[str, Any]]:
    """Return entries of a clusters.yaml by what they give; rights and logins are in each."""
    cluster, whole = scene.cluster, scene.entry
    bare = {key: value for key, value in whole.items() if key not in _INPUTS}
    controllers = {"controllers": whole["controllers"]}
    of_brokers = [f"{cluster.folder}/broker-{{broker_id}}/server.properties"]
    of_controllers = controller_files(cluster)
    files = {"properties": [*of_brokers, *of_controllers]}
    nodes = ["broker-{broker_id}", *(["controller-{controller_id}"] if of_controllers else [])]
    logs = {"logs": {"paths": [f"{cluster.folder}/{node}/logs/server.log*" for node in nodes]}}
    on_controllers = {name: vantage for name, vantage in whole["vantages"].items() if vantage["role"] == "controller"}
    everything = bare | controllers | files | logs | {"vantages": whole["vantages"]}
    entries = {
        "one address": bare | {"bootstrap": whole["bootstrap"][:1]},
        "addresses of brokers": bare,
        "addresses of controllers": bare | controllers,
        "address of one controller": bare | {"controllers": whole["controllers"][:1]},
        "files of brokers": bare | {"properties": of_brokers},
        "files of controllers": bare | {"properties": of_controllers},
        "file of one controller": bare | controllers | {"properties": of_controllers[:1]},
        "files of all": bare | files,
        "logs": bare | logs,
        "vantages on brokers": bare | {"vantages": {"brokers": whole["vantages"]["brokers"]}},
        "vantages on controllers": bare | controllers | {"vantages": on_controllers},
        "all inputs": everything,
        "all but addresses of controllers": {key: value for key, value in everything.items() if key != "controllers"},
    }
    # Brokers that are controllers too have no file and no vantage as controllers.
    return {name: entry for name, entry in entries.items() if entry.get("properties") != [] and entry.get("vantages") != {}}


HEALTHY = record.RECORD.with_name("healthy.json.xz")
KEYS: Mapping[str, tuple[str, ...]] = {
    ALL_INPUTS: (),
    "without vantages": ("vantages",),
    "without logs": ("logs",),
    "without files": ("properties",),
    DEFAULT: ("vantages", "logs", "properties"),
}
"""What the cluster file lacks, by what an audit is called."""


def under_load() -> dict[str, Control]:
    """Return the controls whose clusters have a load, or a quorum to be audited with each set of inputs."""
    return {name: control for name, control in controls().items() if control.loads or control.quorum}


def run_healthy(  # noqa: PLR0913 - what a run needs
    wanted: Iterable[tuple[Control, str]],
    rounds: int,
    auditor: Auditor,
    say: Callable[[str], None],
    *,
    path: Path = HEALTHY,
    deadline: float = float("inf"),
) -> int:
    """Start each cluster, audit it `rounds` times with each set of inputs, and record it; return how many audits there were."""
    audits, stage = 0, Stage(auditor, say)
    try:
        for control, version in wanted:
            if time.monotonic() > deadline:
                say("no time is left")
                break
            stage.clear()
            try:
                scene = stage.prepare(control.preset, version, audited=False)
                carry_out(scene, control.steps)
                result = {"kind": "healthy", "id": control.id, "version": version, "date": now(), "commit": commit()}
                entries = quorum_inputs(scene) if control.quorum else _with_fewer_inputs(scene)
                found = list(_audits(stage, scene, entries, rounds))
            except (BedError, subprocess.SubprocessError) as error:
                say(f"{control.id} on {version}: NOT RUN: {error}")
                continue
            record.append(result | {"loads": loads(control, version), "audits": found}, path)
            audits += len(found)
            exits = Counter(result["exit"] for result in found)
            alarms = [result["alarms"] for result in found if result["alarms"]]
            say(f"{control.id} on {version}: exits {dict(exits)} {alarms or ''}")
    finally:
        stage.clear()
    return audits


def _with_fewer_inputs(scene: Scene) -> Mapping[str, dict[str, Any]]:
    return {name: {key: value for key, value in scene.entry.items() if key not in keys} for name, keys in KEYS.items()}


def _audits(stage: Stage, scene: Scene, entries: Mapping[str, dict[str, Any]], rounds: int) -> Iterator[dict[str, Any]]:
    """Yield an audit with each entry; it is compared with the one before that had the same."""
    whole, previous = dict(scene.entry), dict[str, str]()
    for _ in range(rounds):
        for inputs, entry in entries.items():
            scene.entry = entry
            previous[inputs], report = stage.audit(previous.get(inputs))
            scene.demand_loads()
            yield audit(inputs, report)
    scene.entry = whole


def audit(inputs: str, report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the record keeps of one audit."""
    failing = score.failing(report)
    return {
        "inputs": inputs,
        "exit": evaluate_gate(report_of(report), "high", 1.0)[0],
        "asked": report["coverage"]["asked"],
        "answered": report["coverage"]["answered"],
        "unknown": sorted({finding["code"] for finding in report["findings"] if finding["status"] == "UNKNOWN"}),
        "severity": max((Severity[severity] for severity in failing.values()), default=Severity.INFO).name,
        "alarms": score.alarms([report]),
    }


def loads(control: Control, version: str) -> list[str]:
    """Return the loads that the cluster of a control has on a version."""
    release = VERSIONS[version][0]
    return [load for load in control.loads if int(release.partition(".")[0]) >= LOADS[load]]


_HEAD = """## Healthy clusters under load

`make healthy` starts each cluster below, waits until its load runs, and audits it with all inputs of the cluster file and with
fewer. What runs in it is checked after each audit. Each audit is a line of the record: inputs, exit code, the checks that
are not known, the highest severity. Of several runs of a cluster the newest counts. Quorums are audited with each set of inputs
that a cluster file can give, from one address to all.
"""


def section(results: Iterable[Result]) -> str:
    """Return the section of the page that lists these audits."""
    runs = [run for (_, name, _), run in record.newest(results).items() if name in under_load()]
    audits = [(run, audit) for run in runs for audit in run["audits"]]
    lines = [_HEAD, f"{len(audits)} audits of {len(runs)} clusters: {_alarms(audits)} failures of severity HIGH or above.\n"]
    lines += ["| Load | Clusters | Audits | HIGH or above |", "|---|---|---|---|"]
    for load in LOADS:
        own = [(run, audit) for run, audit in audits if load in run["loads"]]
        lines.append(f"| {load} | {len({(run['id'], run['version']) for run, _ in own})} | {len(own)} | {_alarms(own)} |")
    lines += [
        "",
        "| Inputs | Audits | Exit codes | Reads answered | Not known in any | HIGH or above |",
        "|---|---|---|---|---|---|",
    ]
    for inputs in dict.fromkeys((*KEYS, *(audit["inputs"] for _, audit in audits))):
        own = [(run, audit) for run, audit in audits if audit["inputs"] == inputs]
        exits = ", ".join(f"{code} ({count})" for code, count in sorted(Counter(audit["exit"] for _, audit in own).items()))
        reads = f"{sum(audit['answered'] for _, audit in own)} of {sum(audit['asked'] for _, audit in own)}"
        unknown = ", ".join(sorted({code for _, audit in own for code in audit["unknown"]}))
        lines.append(f"| {inputs} | {len(own)} | {exits} | {reads} | {unknown or 'none'} | {_alarms(own)} |")
    lines += ["", "| Healthy cluster | Versions | Audits | Highest severity | HIGH or above |", "|---|---|---|---|---|"]
    for name in under_load():
        own = [(run, audit) for run, audit in audits if run["id"] == name]
        if own:
            versions = ", ".join(version for version in VERSIONS if version in {run["version"] for run, _ in own})
            highest = max(Severity[audit["severity"]] for _, audit in own).name
            found = "; ".join(sorted({f"{alarm}: {text}" for _, audit in own for alarm, text in audit["alarms"].items()}))
            cells = [f"`{name}`", versions, str(len(own)), highest, found.replace("|", "\\|") or "none"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _alarms(audits: Sequence[tuple[Result, Mapping[str, Any]]]) -> int:
    return sum(len(audit["alarms"]) for _, audit in audits)
