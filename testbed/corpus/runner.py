"""Runs faults and controls one after the other, on one cluster as long as it heals, and records each result."""

import json
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_audit.report.gate import evaluate_gate
from testbed.bed import Bed
from testbed.corpus import documents, peers, printed, record, score
from testbed.corpus.actions import carry_out
from testbed.corpus.auditing import Auditor
from testbed.corpus.catalogue import VERSIONS, Control, Fault, Loss, presets
from testbed.corpus.leader_loss import lose
from testbed.corpus.scene import Scene, started
from testbed.errors import BedError

HERE = Path(__file__).parent


def commit() -> str:
    """Return the commit of this checkout; with a plus where files of the package or the bed differ from it."""

    def git(*arguments: str) -> str:
        completed = subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True, check=False)
        return completed.stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--", "../../plugins", "..") else "")


class Stage:
    """One bed after the other, each with one cluster of a preset and a version."""

    def __init__(
        self,
        auditor: Auditor,
        say: Callable[[str], None],
        reports: Path | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            auditor: audits the clusters.
            say: receives one line for each step.
            reports: a folder for the reports on broken clusters and on repaired ones.
            properties: of all brokers, below those of the preset.
        """
        self.reports = reports
        self._properties = properties or {}
        self._auditor = auditor
        self._say = say
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._bed: Bed | None = None
        self.scene: Scene | None = None
        self.made: tuple[str, str] | None = None
        self.healthy = ""
        self.first: dict[str, Any] = {}
        self.before: score.Failing = {}
        self._survived: dict[Loss, dict[str, Any]] = {}

    @property
    def engine(self) -> str:
        """What runs the queries of the audits."""
        return self._auditor.engine

    def prepare(self, preset: str, version: str, *, audited: bool = True) -> Scene:
        """Return a whole cluster of a preset and version, the running one if it is such; and audit a new one by default."""
        if self.scene is None or self.made != (preset, version):
            self.clear()
            self._say(f"starting {preset} on {version}")
            self._folder = tempfile.TemporaryDirectory(prefix="kafka-audit-corpus-", ignore_cleanup_errors=True)
            self._bed = Bed(Path(self._folder.name))
            known = presets()[preset]
            wanted = replace(known, properties={**self._properties, **known.properties})
            self.scene, self.made = started(self._bed, wanted, version), (preset, version)
            self.scene.look = self._look
            if audited:
                self.healthy, self.first = self.audit(None)
                self.before = score.failing(self.first)
        return self.scene

    def audit(self, previous: str | None) -> tuple[str, dict[str, Any]]:
        """Audit the cluster; return the snapshot's id and the report."""
        scene = self.running
        snapshot = self._auditor.snapshot(scene)
        report = self._auditor.judged(scene, snapshot, previous)
        scene.report = report
        return snapshot, report

    def _look(self) -> None:
        self.healthy, _ = self.audit(self.healthy)

    def audit_with_peers(self, previous: str | None) -> tuple[str, dict[str, Any], dict[str, str]]:
        """Audit the cluster and run other tools on it at the same time; return what they print, too."""
        scene = self.running
        snapshot = self._auditor.snapshot(scene)
        with ThreadPoolExecutor(1) as pool:
            printed = pool.submit(_ask_peers, scene)
            scene.report = report = self._auditor.judged(scene, snapshot, previous)
            return snapshot, report, printed.result()

    def survived(self, loss: Loss) -> dict[str, Any]:
        """Return what becomes of the whole cluster after a loss, tried once, and what its newest report says of elections."""
        if loss not in self._survived:
            self._survived[loss] = lose(self.running, loss)
        says = {finding["code"]: finding["message"] for finding in self.running.report["findings"] if finding["code"] == "KA218"}
        return {**self._survived[loss], "says": says.get("KA218", "")}

    def keep_report(self, name: str, report: Mapping[str, Any]) -> None:
        """Write a report to the folder of reports, if there is one."""
        if self.reports is not None:
            (self.reports / f"{name}.json").write_text(json.dumps(report, indent=1, ensure_ascii=False))

    def clear(self) -> None:
        """Throw the cluster away."""
        if self._bed is not None:
            self._bed.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._bed = self._folder = self.scene = self.made = None
        self._survived = {}

    @property
    def running(self) -> Scene:
        """The scene of the running cluster.

        Raises:
            BedError: there is none.
        """
        if self.scene is None:
            message = "there is no cluster"
            raise BedError(message)
        return self.scene


def _ask_peers(scene: Scene) -> dict[str, str]:
    printed = {}
    for name, ask in peers.PEERS.items():
        try:
            printed[name] = ask(scene)
        except BedError as error:
            printed[name] = f"{peers.NOT_INSTALLED}: {error}"
    return printed


def run_faults(  # noqa: PLR0913 - what a run needs
    wanted: Iterable[tuple[Fault, str]],
    auditor: Auditor,
    say: Callable[[str], None],
    *,
    path: Path = record.RECORD,
    deadline: float = float("inf"),
    reports: Path | None = None,
) -> int:
    """Run faults, each with its version, and record the results; return how many were run.

    Those of one preset and version follow each other. No further one begins after the deadline.
    """
    stage, ran = Stage(auditor, say, reports), 0
    try:
        for fault, version in _ordered(wanted):
            if time.monotonic() > deadline:
                say("no time is left")
                break
            try:
                result = run_fault(stage, fault, version, printed.PRINTED if path == record.RECORD else path.parent / "printed")
            except (BedError, subprocess.SubprocessError) as error:
                say(f"{fault.id} on {version}: NOT RUN: {error}")
                stage.clear()
                continue
            record.append(result, path)
            ran += 1
            say(told(result))
            if not result["healed"] or fault.alone:
                stage.clear()
    finally:
        stage.clear()
    return ran


def _ordered(wanted: Iterable[tuple[Fault, str]]) -> list[tuple[Fault, str]]:
    """Return faults by version and preset, presets with many faults first; those that need a cluster each come last."""
    chosen = list(wanted)
    many = Counter((version, fault.preset) for fault, version in chosen if not fault.alone)
    versions = list(VERSIONS)
    return sorted(
        chosen,
        key=lambda entry: (versions.index(entry[1]), entry[0].alone, -many[entry[1], entry[0].preset], entry[0].preset),
    )


def run_fault(stage: Stage, fault: Fault, version: str, kept: Path = printed.PRINTED) -> dict[str, Any]:
    """Break a cluster, audit it, repair it, audit it again, keep what tools print of it, and return the result.

    Raises:
        BedError: the cluster could not be started or broken.
    """
    scene = stage.prepare(fault.preset, version)
    began = time.monotonic()
    scene.undo, scene.ran, scene.followed = [], [], []
    before = stage.before if fault.steps else {}
    carry_out(scene, fault.steps)
    if fault.loses:  # other tools are not asked: all clients are served
        others: dict[str, str] = {}
        broken, report = stage.audit(stage.healthy)
    else:
        broken, report, others = stage.audit_with_peers(stage.healthy)
    stage.keep_report(f"{fault.id} {version}", report)
    lost = lose(scene, fault.loses) if fault.loses else None
    found = score.score(fault, before, report)
    texts = {printed.OWN: documents.printed(report), **others}
    result: dict[str, Any] = {
        "kind": "fault",
        "id": fault.id,
        "version": version,
        "date": now(),
        "commit": commit(),
        "engine": stage.engine,
        "verdict": found.verdict,
        "cause": [incident["cause"] for incident in report["incidents"]],
        "confidence": [incident["confidence"] for incident in report["incidents"]],
        "headline": found.headline,
        "failing": sorted(f"{code} {resource}" for code, resource in found.failing),
        "missing": found.missing,
        "instead": _instead(found.missing, report),
        "false": found.false,
        "peers": {tool: _worth(fault, text) for tool, text in texts.items()},
    }
    texts = {name: text for name, text in texts.items() if not text.startswith(peers.NOT_INSTALLED)}
    result |= _healed(stage, fault, version, broken, before, found.failing)
    texts |= {printed.HEALED: documents.printed(stage.running.report)} if result["healed"] else {}
    printed.keep(fault.id, version, result["date"], {tool: record.without_bed(text) for tool, text in texts.items()}, kept)
    if fault.loses is not None:
        result["lost"] = lost
        result["twin"] = stage.survived(fault.loses) if result["healed"] else None
    return result | {"seconds": round(time.monotonic() - began)}


def _instead(missing: Iterable[str], report: dict[str, Any]) -> dict[str, str]:
    """Return what the report has of codes that were expected to fail and did not."""
    codes = {name.split()[0] for name in missing}
    found = {
        finding["code"]: finding for finding in report["findings"] if finding["code"] in codes and finding["status"] != "FAIL"
    }
    return {code: f"{finding['status']} {finding['resource']['name']}: {finding['message']}" for code, finding in found.items()}


def _healed(  # noqa: PLR0913, PLR0917 - what a repair is judged by
    stage: Stage, fault: Fault, version: str, broken: str, before: score.Failing, failing: score.Failing
) -> dict[str, Any]:
    """Repair the cluster and return what became of it."""
    scene = stage.running
    stage.healthy = broken
    try:
        carry_out(scene, fault.heal)
        if fault.healed_as is not None:
            stage.prepare(fault.healed_as, version)
            scene.followed.append(f"another cluster, made as the finding asks: preset {fault.healed_as}")
        # After many elections without a leader, the healed quorum is compared with nothing.
        snapshot, report = stage.audit(None if fault.loses else stage.healthy)
        stage.keep_report(f"{fault.id} {version} repaired", report)
        left = score.left(fault, failing, before, report)
        passing = {finding["code"] for finding in report["findings"]} - {code for code, _ in score.failing(report)}
    except BedError as error:
        left, passing, snapshot = [f"the repair failed: {error}"], set(), stage.healthy
    if not left:
        stage.healthy = snapshot
    return {
        "healed": not left,
        "left": left,
        "passing": sorted(passing & {code for code, _ in failing}) if not left else [],
        "commands": list(scene.ran),
        "followed": list(scene.followed),
    }


def _worth(fault: Fault, text: str) -> dict[str, str]:
    if text.startswith(peers.NOT_INSTALLED):
        return {"verdict": peers.NOT_INSTALLED, "line": ""}
    found = printed.text_worth(fault, text)
    return {"verdict": found.verdict, "line": found.line[:200], **({"false": found.false} if found.false else {})}


def run_controls(  # noqa: PLR0913 - what a run needs
    wanted: Sequence[tuple[Control, str]],
    rounds: int,
    auditor: Auditor,
    say: Callable[[str], None],
    *,
    path: Path = record.RECORD,
    deadline: float = float("inf"),
) -> int:
    """Audit healthy clusters, `rounds` times each, and record the results; return how many audits there were."""
    audits, stage = 0, Stage(auditor, say)
    try:
        for control, version in wanted:
            if time.monotonic() > deadline:
                say("no time is left")
                break
            try:
                stage.clear()
                result = run_control(stage, control, version, rounds)
            except (BedError, subprocess.SubprocessError) as error:
                say(f"{control.id} on {version}: NOT RUN: {error}")
                continue
            record.append(result, path)
            audits += result["audits"]
            alarms = f"; FALSE ALARMS: {', '.join(result['alarms'])}" if result["alarms"] else ""
            alarms += f"; UNREAD: {', '.join(result['unread'])}" if result["unread"] else ""
            exits = ", ".join(map(str, result["exits"]))
            answered = f"{result['answered']} of {result['asked']} reads answered"
            say(f"{control.id} on {version}: exits {exits}, {answered} ({result['seconds']} s){alarms}")
    finally:
        stage.clear()
    return audits


def run_control(stage: Stage, control: Control, version: str, rounds: int) -> dict[str, Any]:
    """Audit a healthy cluster before its steps, at rest, and in each round after each step of its churn; return the result.

    Raises:
        BedError: the cluster could not be started, a step failed, or what lived in it ended.
    """
    began = time.monotonic()
    scene = stage.prepare(control.preset, version)
    reports, previous = [stage.first], stage.healthy
    carry_out(scene, control.steps)
    for _ in range(rounds):
        for step in control.churn or [None]:
            if step is not None:
                carry_out(scene, [step])
            previous, report = stage.audit(previous)
            reports.append(report)
    scene.demand_loads()
    coverage = [report["coverage"] for report in reports]
    return {
        "kind": "control",
        "id": control.id,
        "version": version,
        "date": now(),
        "commit": commit(),
        "engine": stage.engine,
        "audits": len(reports),
        "exits": [evaluate_gate(documents.report_of(report), "high", 1.0)[0] for report in reports],
        "asked": sum(audit["asked"] for audit in coverage),
        "answered": sum(audit["answered"] for audit in coverage),
        "alarms": score.alarms(reports),
        "unread": score.unread(reports),
        "seconds": round(time.monotonic() - began),
    }


def told(result: dict[str, Any]) -> str:
    """Return a result in one line."""
    parts = [f"{result['id']} on {result['version']}: {result['verdict']}", ",".join(result["cause"]) or "no incident"]
    parts += [f"missing {', '.join(result['missing'])}"] if result["missing"] else []
    parts += [f"FALSE {', '.join(result['false'])}"] if result["false"] else []
    parts += [f"{len(result['commands'])} printed"] if result["commands"] else []
    parts += ["healed" if result["healed"] else f"NOT HEALED: {'; '.join(result['left'])}"]
    parts += [f"{tool} {peer['verdict']}" for tool, peer in result["peers"].items()]
    for name in ("lost", "twin"):
        if seen := result.get(name):
            parts.append(f"{name}: {'no leader' if seen['seconds'] is None else seen['seconds']} after {seen['killed']}")
    return f"{'; '.join(parts)} ({result['seconds']} s) — {result['headline']}"


def now() -> str:
    """Return the time as the record has it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
