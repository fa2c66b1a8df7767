"""Kills at random points of every step of an audit: nothing half is read, said twice or left, and the next audit is clean.

`make kills [KILLS=50] [SEED=7]`, also part of `make scenarios`. The cluster is of fakes on loopback with one broker whose view is
empty; Spark is real where `compare` and `kafka-audit run` need it. A process is killed by SIGKILL: the whole of it with its
children, or one of them alone.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import kafka_audit
from hostile_parties.cluster import HostileCluster
from kafka_audit import audit, settings
from kafka_audit.bounds import scratch
from kafka_audit.job.embedded_job import answer
from kafka_audit.model.tables import SnapshotInfo
from kafka_audit.store import Store

pytestmark = [pytest.mark.spark, pytest.mark.scenario]

STEPS = Path(__file__).with_name("kill_steps.py")
PLUGINS = Path(kafka_audit.__file__).parents[1]
MARK = "LC_KAFKA_AUDIT_KILLED_BY"  # what begins with LC_ reaches every program that an audit starts
ENDS_S = 300.0  # an orphan's own end: it notices that nobody waits for it
KINDS = ("collect", "report", "run:all", "collect", "compare:task", "report", "run:audit", "run:worker", "collect", "report")
KINDS += ("run:driver", "compare:driver", "report", "run:all")


class Victims:
    """Processes that carry a mark in their environment, and so are found whatever becomes of their parents."""

    def __init__(self, folder):
        self.mark = uuid.uuid4().hex
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        # So that a JVM's files are found here also where no option of ours sends them to a folder of the run.
        java = f"-Djava.io.tmpdir={self.temporary} -XX:-UsePerfData"
        ours = {
            MARK: self.mark,
            "TMPDIR": str(self.temporary),
            "JAVA_TOOL_OPTIONS": java,
            "AIRFLOW_HOME": str(folder / "airflow"),
        }
        paths = [str(PLUGINS), *filter(None, [os.environ.get("PYTHONPATH")])]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_AUDIT_")}
        self.environment = clean | ours | {"PYTHONPATH": os.pathsep.join(paths)}

    def start(self, command):
        return subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
        )

    def alive(self):
        """Return command lines by process id, zombies left out."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
        return {pid: text for pid, text in found.items() if text}

    def kill(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def await_none(self):
        until = time.monotonic() + ENDS_S
        while left := self.alive():
            assert time.monotonic() < until, left
            time.sleep(0.1)


def is_worker(line):
    return bool(re.match(r"\S*python\S* \S*diff_snapshots\.py ", line))


def is_driver(line):
    return bool(re.match(r"\S*java ", line)) and "org.apache.spark.deploy.SparkSubmit" in line


class Audits:
    """One cluster, a store for `kafka-audit run` and one for each of two steps of the DAG, and what each report must say."""

    def __init__(self, folder, cluster, victims):
        self.folder, self.victims = folder, victims
        self.file = folder / "clusters.yaml"
        self.file.write_text(json.dumps({"clusters": {"c": cluster.entry()}}))
        self.described = settings.load(str(self.file))["c"]
        self.stores = {name: Store(folder / name) for name in ("run", "compare", "report")}
        self.alerts = folder / "alerts"
        self.alerts.touch()
        self.compared = folder / "compared"
        self.expected = {}
        self.lasted = {}
        self.kills = Counter()

    def command(self, kind, *, run_id=None):
        if kind in {"collect", "run"}:
            return [sys.executable, "-m", "kafka_audit.cli", {"collect": "snapshot"}.get(kind, kind), "c", *self._places()]
        file = self.compared if kind == "compare" else self.alerts
        return [sys.executable, str(STEPS), kind, self.stores[kind].root, str(self.file), run_id, str(file)]

    def _places(self):
        return ["--config", str(self.file), "--out", self.stores["run"].root]

    def asked(self, step):
        """Do what the tasks before a step do; return what it is given: `compare` a snapshot, `report` a run with its answer."""
        store = self.stores[step]
        snapshot_id = audit.publish_snapshot(self.described, store, lambda _: None)
        if step == "compare":
            return snapshot_id
        run_id = f"run-{uuid.uuid4().hex[:6]}"
        audit.prepare_request(store, [snapshot_id], None, run_id)
        answer(store, run_id)
        return run_id

    def whole(self, kind, *, run_id=None):
        """Let a step end by itself, note how long its own work took, and hold what it left to what it must be."""
        process = self.victims.start(self.command(kind, run_id=run_id))
        began = self._begun(kind, process)
        process.stdout.read()
        assert process.wait() == {"run": 3}.get(kind, 0), kind
        process.stdout.close()
        self.lasted[kind] = time.monotonic() - began
        if kind == "compare":
            audit.write_reports(self.stores[kind], self.compared.read_text(), {})
        if kind != "collect":
            self.judged(kind)

    def _begun(self, kind, process):
        if kind in {"compare", "report"}:
            assert process.stdout.readline() == "begun\n"
        return time.monotonic()

    def judged(self, kind):
        """Hold the newest report to the first of its kind: the same failures, each once, and none of them new again."""
        store = self.stores[kind]
        document = json.loads((Path(store.root) / "findings.json").read_text())
        failures = Counter((f["code"], f["resource"]["name"]) for f in document["findings"] if f["status"] == "FAIL")
        assert set(failures.values()) == {1}
        prints = Counter(f["fingerprint"] for f in document["findings"])
        assert set(prints.values()) == {1}
        if kind in self.expected:
            assert set(failures) == self.expected[kind]
            assert {f["lifecycle"] for f in document["findings"] if f["status"] == "FAIL"} == {"ongoing"}
        self.expected[kind] = set(failures)

    def killed(self, kind, dice):
        """Kill a step somewhere within its work; tell whether it was still there."""
        step, _, whom = kind.partition(":")
        run_id = self.asked(step) if step in {"compare", "report"} else None
        process = self.victims.start(self.command(step, run_id=run_id))
        began = self._begun(step, process)
        time.sleep(max(0.0, began + dice.uniform(0, self.lasted[step]) - time.monotonic()))
        hit = sum(self.victims.kill(pid) for pid in self._whom(process, whom)) > 0
        process.stdout.read()
        code = process.wait()
        process.stdout.close()
        self.victims.await_none()
        self.kills[kind] += hit
        return hit, code, run_id

    def _whom(self, process, whom):
        alive = self.victims.alive()
        if whom in {"worker", "driver"}:
            wanted = is_worker if whom == "worker" else is_driver
            return [pid for pid, line in alive.items() if wanted(line)]
        return [*alive] if whom == "all" else [process.pid] if process.poll() is None else []

    def after(self, kind, run_id):
        """Do the step again, as a person or Airflow does, and look at all that is there."""
        self.readable()
        step = kind.partition(":")[0]
        if step == "compare":
            run_id = self.asked(step)  # Airflow's next try asks anew
        self.whole(step, run_id=run_id)
        self.readable()
        self.victims.await_none()
        left = [path.name for path in self.victims.temporary.iterdir() if not path.name.startswith(scratch.LOG_PREFIX)]
        assert left == [], kind

    def readable(self):
        for store in self.stores.values():
            for manifest in store.manifests():
                (info,) = store.read(manifest.snapshot_id).of(SnapshotInfo)
                assert info.cluster == "c"
                store.read_report(manifest.snapshot_id)
            for path in Path(store.root).rglob("findings*.json"):
                json.loads(path.read_text())

    def nothing_left(self):
        """Hold stores and temporary folder, a week later, to what audits leave that nobody killed."""
        for store in self.stores.values():
            store.remove_leftovers(datetime.now(UTC) + timedelta(days=2))
            root = Path(store.root)
            assert sorted(path.name for path in (root / "snapshots").iterdir()) == sorted(
                m.snapshot_id for m in store.manifests()
            )
            assert list((root / ".staging").iterdir()) == []
            hidden = [path for path in root.rglob(".*") if "runs" not in path.relative_to(root).parts]
            assert hidden == [root / ".staging"]
        week_ago = time.time() - 8 * 24 * 3600
        logs = list(self.victims.temporary.iterdir())
        for log in logs:
            os.utime(log, (week_ago, week_ago))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tempfile.tempdir", str(self.victims.temporary))
            scratch.remove_scratch_leftovers()
        assert list(self.victims.temporary.iterdir()) == []


@pytest.fixture
def audits(tmp_path):
    victims = Victims(tmp_path)
    with HostileCluster() as cluster:
        cluster.brokers[2].brokers, cluster.brokers[2].topics, cluster.brokers[2].controller_id = {}, {}, -1
        yield Audits(tmp_path, cluster, victims)
    for pid in victims.alive():
        victims.kill(pid)


def test_kills_at_random_points_leave_nothing(audits, request, record_property):
    count, seed = request.config.getoption("--kills"), request.config.getoption("--kills-seed")
    dice = random.Random(seed)  # noqa: S311 -- no secret
    audits.whole("collect")
    audits.whole("run")
    for step in ("compare", "report"):
        audits.whole(step, run_id=audits.asked(step))
    alerts = audits.alerts.read_text()
    number = 0
    while sum(audits.kills.values()) < count:
        kind = KINDS[number % len(KINDS)]
        number += 1
        assert number < 3 * count, audits.kills
        hit, code, run_id = audits.killed(kind, dice)
        sys.stdout.write(f"{number} {kind} {'killed' if hit else 'had ended'} {code}\n")
        audits.after(kind, run_id)
    record_property("kills", dict(audits.kills))
    audits.nothing_left()
    assert audits.alerts.read_text() == alerts
