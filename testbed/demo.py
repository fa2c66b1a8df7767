"""Start a real cluster with a fault, audit it with the DAG in a real Airflow, repair it, and audit it again.

Broker 2 advertises the address of a forward: clients reach it, the other brokers do not. ZooKeeper, broker 0 and broker 1
report a healthy cluster.
"""

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kafka_audit.model.errors import AuditError
from kafka_audit.model.report import Report
from kafka_audit.report.plain_text import terminal
from kafka_audit.store import Store
from testbed import Bed, BedError, Cluster, jars
from testbed.airflow_home import AirflowHome, DagRun

CLUSTER = "demo"
HIDDEN = 2
CAUSE = "KA302"
WIDTH = 100
WORK = Path(".work") / "demo"


class DemoError(AuditError):
    """An audit did not report what was expected."""


class Demo:
    """One demonstration.

    Attributes:
        work: keeps the store, the Airflow logs and, after a failure, the servers' logs.
    """

    def __init__(self, work: Path, version: str) -> None:
        """Take an empty folder and a Kafka version."""
        self._work = work
        self._version = version
        self._began = time.monotonic()
        self._store = Store(work / "store")

    def say(self, step: str) -> None:
        """Print a step with the time since the start."""
        _print(f"[{time.monotonic() - self._began:3.0f} s] {step}")

    def run(self, scratch: Path) -> None:
        """Break, audit, repair, audit.

        Raises:
            BedError: the cluster or Airflow did not start.
            DemoError: an audit did not report what was expected.
        """
        with Bed(scratch / "bed", keep_logs=self._work / "logs", say=self.say) as bed:
            clusters = scratch / "clusters.yaml"
            airflow = AirflowHome(
                bed.worker,
                scratch / "airflow",
                clusters=clusters,
                store=self._work / "store",
                variables={"KAFKA_AUDIT_SCHEDULE": "none"},
            )
            self.say("Airflow: making its database, while the cluster starts")
            migration = airflow.migrate()
            cluster = self._broken_cluster(bed)
            clusters.write_text(cluster.clusters_yaml(CLUSTER))
            airflow.ready(migration)
            self._first(airflow)
            cluster.advertise_directly([HIDDEN])
            self._second(airflow)

    def _broken_cluster(self, bed: Bed) -> Cluster:
        cluster = bed.cluster(self._version)
        cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
        cluster.create_topic("payments", {0: [1, 0, 2], 1: [0, 2, 1]})
        cluster.await_settled()
        cluster.make_controller(0)
        cluster.advertise_through_forward([HIDDEN])
        self.say("broken: ZooKeeper shows 3 brokers and a leader of each partition, and so do the brokers 0 and 1")
        return cluster

    def _first(self, airflow: AirflowHome) -> None:
        run, document = self._audit(airflow, "audit-broken.log")
        causes = [incident.cause for incident in document.incidents]
        if run.returncode != 1 or CAUSE not in causes or not _failing(document, CAUSE):
            raise DemoError(_disappointed(f"the gate had to fail with {CAUSE}", run, document))
        self.say(f"the gate failed, as expected: {document.incidents[0].headline}")

    def _second(self, airflow: AirflowHome) -> None:
        run, document = self._audit(airflow, "audit-repaired.log")
        resolved = sorted({f.code for f in document.findings if f.lifecycle == "resolved"})
        if run.returncode != 0 or CAUSE not in resolved or document.incidents:
            raise DemoError(_disappointed(f"the gate had to pass and {CAUSE} to be resolved", run, document))
        self.say(f"the gate passed; resolved since the last audit: {', '.join(resolved)}")

    def _audit(self, airflow: AirflowHome, log: str) -> tuple[DagRun, Report]:
        """Run the DAG and show the report that it wrote."""
        self.say("Airflow: DAG kafka_audit")
        run = airflow.run(self._work / log, say=lambda task: self.say(f"  task {task}"))
        newest = next(iter(self._store.manifests()), None)
        document = self._store.read_report(newest.snapshot_id) if newest else None
        if newest is None or document is None:
            raise DemoError(_disappointed("the DAG had to write a report", run, None))
        text = terminal.terminal_report(document, width=WIDTH, color=sys.stdout.isatty())
        _print(f"\n{text.rstrip()}\n")
        self.say(f"report: {WORK / 'store' / 'snapshots' / newest.snapshot_id / 'findings.json'}")
        return run, document


def _failing(document: Report, code: str) -> bool:
    return any(f.code == code and f.status == "FAIL" and not f.muted for f in document.findings)


def _disappointed(expected: str, run: DagRun, document: Report | None) -> str:
    headlines = "nothing" if document is None else json.dumps([incident.headline for incident in document.incidents])
    return f"{run.tail()}\n\n{expected}; it ended with {run.returncode}, incidents: {headlines}. Its whole log: {run.log}"


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _version(text: str) -> str:
    """Return a version that the bed knows, before anything starts."""
    try:
        jars.release(text)
    except BedError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demonstration; return 0 only if both audits reported what was expected."""
    parser = argparse.ArgumentParser(
        prog="kafka-audit demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kafka-version", type=_version, default="3.9.1", help="Kafka version of the cluster (default 3.9.1)")
    options = parser.parse_args(argv)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    before = signal.signal(signal.SIGTERM, _interrupt)  # Ctrl-C already raises KeyboardInterrupt; both leave through `with`
    try:
        with tempfile.TemporaryDirectory(prefix="kafka-audit-demo-", ignore_cleanup_errors=True) as scratch:
            Demo(WORK.absolute(), options.kafka_version).run(Path(scratch))
    except (BedError, AuditError) as error:
        _print(f"\nkafka-audit demo: {error}\nlogs and store: {WORK}")
        return 1
    except KeyboardInterrupt:
        _print("\nkafka-audit demo: interrupted; everything it started has ended")
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)
    command, store = Path(sys.executable).with_name("kafka-audit"), WORK / "store"
    ids = sorted(manifest.snapshot_id for manifest in Store(store).manifests())
    _print(f"\nBoth audits reported what was expected. Their snapshots and reports stay in {store}. Next:")
    _print(f"  {command} report demo --store {store} --format html    # the second report as a page")
    _print(f"  {command} diff {' '.join(ids)} --store {store} --reports    # what the repair changed")
    _print(f"  {command} run --bootstrap HOST:9092    # your own cluster; it only reads")
    return 0


if __name__ == "__main__":
    sys.exit(main())
