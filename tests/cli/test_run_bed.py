"""`kafka-audit` for real: a three-broker cluster in the test bed, Spark, the console script as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafka_audit.bounds.scratch import remove_scratch_leftovers
from kafka_audit.model.report import report_json
from kafka_audit.store import Store

pytestmark = [pytest.mark.bed, pytest.mark.spark]

MARK = "LC_KAFKA_AUDIT_TEST"  # what begins with LC_ reaches every program that an audit starts


@pytest.fixture(scope="module")
def cluster(cluster):
    cluster.make_controller(0)
    cluster.await_settled()
    return cluster


@pytest.fixture
def audit(bed, cluster, tmp_path):
    """Run the console script on the worker host; `clusters.yaml` and the store are in the test's own folder."""
    (tmp_path / "clusters.yaml").write_text(cluster.clusters_yaml("bed"))
    environ = {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_AUDIT_")}

    def run(*argv, start=bed.worker.run, **options):
        command = [sys.executable, "-m", "kafka_audit.cli", *argv]
        mark = {MARK: str(tmp_path), "KAFKA_AUDIT_STORE": str(tmp_path / "store")}
        return start(command, cwd=tmp_path, env=environ | mark, **options)

    yield run
    assert _ours(tmp_path) == []


def _ours(tmp_path):
    """Return the command lines of processes that a test has left behind; a JVM may take a moment to close, a busy one minutes."""
    until = time.monotonic() + 300
    while (found := _found(tmp_path)) and time.monotonic() < until:
        time.sleep(0.1)
    return found


def _found(tmp_path):
    mark = f"{MARK}={tmp_path}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ")[:200])
        except OSError:  # it has just ended
            continue
    return found


def _report(tmp_path):
    return json.loads((tmp_path / "store" / "findings.json").read_text())


def _failing(document):
    return {finding["code"] for finding in document["findings"] if finding["status"] == "FAIL"}


@pytest.mark.scenario
def test_a_healthy_cluster_is_clean_twice_and_the_second_compares_with_the_first(audit, tmp_path):
    first = audit("run", "bed")
    assert first.returncode == 0, first.stdout + first.stderr
    document = _report(tmp_path)
    assert document["previous_snapshot_id"] is None
    assert document["coverage"]["asked"] == document["coverage"]["answered"] > 0
    assert "bed" in first.stdout.splitlines()[0]
    assert "snapshot" not in first.stdout.splitlines()[0]
    assert first.stderr.rstrip().endswith("reads answered")
    assert all(" s  " in line for line in first.stderr.splitlines())

    second = audit("run", "bed", "--format", "json", "--quiet")
    assert second.returncode == 0, second.stdout + second.stderr
    assert second.stderr == ""
    assert json.loads(second.stdout) == _report(tmp_path)
    assert _report(tmp_path)["previous_snapshot_id"] == document["snapshot_id"]
    assert json.loads((tmp_path / "store" / "clusters" / "bed" / "findings.json").read_text()) == _report(tmp_path)


@pytest.mark.scenario
def test_a_broken_cluster_is_3_with_the_headline_and_a_repaired_one_0_again(audit, tmp_path, cluster):
    cluster.advertise_through_forward([2])
    try:
        broken = audit("run", "bed")
        below = audit("run", "bed", "--baseline", "none", "--fail-on", "critical", "--quiet")
        by_address = audit("run", "--bootstrap", "10.98.0.12:9092", "--out", str(tmp_path / "typed"))  # of the cut-off broker
    finally:
        cluster.advertise_directly([2])
        cluster.await_settled()
    assert broken.returncode == 3, broken.stdout + broken.stderr
    assert below.returncode == 3
    first_report = json.loads((tmp_path / "store" / "snapshots" / _snapshots(tmp_path)[0] / "findings.json").read_text())
    assert broken.stderr.rstrip().splitlines()[-1].endswith(first_report["incidents"][0]["headline"])
    assert {"KA105", "KA302"} <= _failing(first_report)
    assert "its brokers use ZooKeeper at" in by_address.stderr
    typed_report = json.loads((tmp_path / "typed" / "findings.json").read_text())
    assert [incident["headline"] for incident in typed_report["incidents"]] == [
        "Broker 2 is cut off: most likely controller 0 cannot reach the address it advertises"
    ]

    healed = audit("run", "bed")
    assert healed.returncode == 0, healed.stdout + healed.stderr
    lives = {finding["code"]: finding["lifecycle"] for finding in _report(tmp_path)["findings"]}
    assert lives["KA302"] == "resolved"


def _snapshots(tmp_path):
    return sorted(path.name for path in (tmp_path / "store" / "snapshots").iterdir())


@pytest.mark.scenario
def test_snapshot_and_diff_tell_what_changed_and_leave_the_current_reports(audit, tmp_path, cluster):
    before = audit("snapshot", "bed", "--quiet")
    cluster.create_topic("refunds", {0: [0, 1, 2]})
    after = audit("snapshot", "bed", "--quiet")
    assert (before.returncode, before.stderr) == (0, "")
    ids = before.stdout.strip(), after.stdout.strip()
    assert list(ids) == _snapshots(tmp_path)
    process = audit("diff", *ids)
    assert process.returncode == 0, process.stderr
    assert "topic created: topic/refunds" in process.stdout
    assert process.stdout.startswith(f"bed: {ids[0]} -> {ids[1]}\n")
    assert not (tmp_path / "store" / "findings.json").exists()
    assert report_json(Store(tmp_path / "store").read_report(ids[0]))["previous_snapshot_id"] is None  # judged along
    wrong = audit("diff", *reversed(ids))
    assert wrong.returncode == 2
    assert "name the earlier snapshot first" in wrong.stderr


@pytest.mark.scenario
def test_a_source_that_is_down_fails_and_below_fail_on_it_is_a_gap(audit, tmp_path, cluster):
    text = cluster.clusters_yaml("bed").replace("bootstrap: [", 'bootstrap: ["10.99.0.1:9", ')
    (tmp_path / "clusters.yaml").write_text(text)
    left_behind = audit("run", "bed", "--quiet", "--baseline", "none")  # all brokers that are expected are registered
    assert left_behind.returncode == 4, left_behind.stdout + left_behind.stderr
    (tmp_path / "clusters.yaml").write_text(text.replace("expect: {brokers: 3}", "expect: {}"))
    failed = audit("run", "bed", "--quiet")
    assert failed.returncode == 3, failed.stdout + failed.stderr
    assert "KA001" in _failing(_report(tmp_path))
    gap = audit("run", "bed", "--fail-on", "critical", "--baseline", "none")
    assert gap.returncode == 4, gap.stdout + gap.stderr
    assert "reads were answered, first failed read: " in gap.stderr.splitlines()[-1]
    assert audit("run", "bed", "--fail-on", "critical", "--min-coverage", "0.1", "--quiet").returncode == 0


@pytest.mark.scenario
def test_no_zookeeper_at_all_is_a_failure_not_an_error(audit, tmp_path):
    (tmp_path / "clusters.yaml").write_text('clusters: {bed: {zookeeper: "10.99.0.1:9", limits: {read_s: 2}}}')
    completed = audit("run", "bed")
    assert completed.returncode == 3, completed.stdout + completed.stderr
    assert "KA001" in _failing(_report(tmp_path))


def test_a_chroot_without_kafka_is_a_slip_in_the_file(audit, tmp_path, cluster):
    (tmp_path / "clusters.yaml").write_text(f'clusters: {{bed: {{zookeeper: "{cluster.zookeeper_connect}/nothing"}}}}')
    completed = audit("run", "bed", "--quiet")
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert completed.stderr.startswith("kafka-audit: ")
    assert completed.stderr.count("\n") == 1
    assert "/nothing" in completed.stderr


@pytest.mark.scenario
def test_a_damaged_baseline_stops_the_run_and_names_the_file(audit, tmp_path):
    snapshot_id = audit("snapshot", "bed", "--quiet").stdout.strip()
    damaged = tmp_path / "store" / "snapshots" / snapshot_id / "broker_view.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    completed = audit("run", "bed", "--quiet")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert f"{damaged}: has " in completed.stderr
    assert completed.stderr.count("\n") == 1
    assert audit("run", "bed", "--quiet", "--baseline", "none").returncode == 0


@pytest.mark.parametrize("moment", [0, 2], ids=["Spark was just started", "Spark is starting"])
def test_ctrl_c_ends_everything_at_once(audit, bed, tmp_path, moment):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and so would what it starts
    process = audit("run", "bed", "--engine", "spark", start=bed.worker.popen, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and not any(b"/pyspark/" in line for line in _found(tmp_path)):
        time.sleep(0.1)
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "kafka-audit: interrupted"
    assert "Traceback" not in err


def test_a_killed_run_takes_spark_with_it(audit, bed, tmp_path):
    process = audit(
        "run", "bed", "--engine", "spark", start=bed.worker.popen, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and not any(b"/bin/java -cp" in line for line in _found(tmp_path)):
        time.sleep(0.1)
    process.kill()
    process.wait()
    while _found(tmp_path):
        remove_scratch_leftovers()  # as the next run does, while the JVM of this one still starts
        time.sleep(0.05)
    assert _ours(tmp_path) == []
