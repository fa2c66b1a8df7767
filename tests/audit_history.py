"""A history of audits of one cluster without Kafka and Spark: judgements in, `findings.json` out, by the real engine."""

from datetime import UTC, date, datetime, timedelta

from msgspec import structs

import small_cluster
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents import causes, findings
from kafka_audit.model.cluster import Mute
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Snapshot
from kafka_audit.report import document

START = datetime(2026, 9, 14, 6, tzinfo=UTC)
CLUSTER = {
    "brokers": {0: "10.99.0.10:9092", 1: "10.99.0.11:9092", 2: "10.99.0.12:9092", 3: "10.99.0.13:9092"},
}


def no_zookeeper(target, error):
    """Return a cluster of which nothing is known, because its ZooKeeper does not answer."""
    return {
        "zookeeper": "none",
        "reads": [{"observer": "zookeeper", "operation": "zookeeper*", "target": target, "error": error}],
    }


DEAD = no_zookeeper("zk1:2181", "timeout")


def cut_off(*brokers, extra=()):
    """Return the judgements of brokers that the controller does not reach."""
    documents = []
    for broker in brokers:
        documents.append(("KA302", f"broker/{broker}/listener/PLAINTEXT", "CRITICAL", {"from": "0"}))
        documents.append(("KA105", f"broker/{broker}", "CRITICAL", {}))
    return [*documents, *extra]


class History:
    """Audits in a row, each compared with the newest one before it of the same cluster id."""

    def __init__(self, step=timedelta(hours=6)):
        self.now = START - step
        self._step = step
        self._reports = {}
        self._codes = {"KA001"}

    def audit(self, *failures, unknown=(), dead=False, mutes=(), after=None, changes=()):
        """Return the report of the next audit.

        Failures are (code, resource, severity, evidence), what is unknown (code, resource); all else that ever spoke passes.
        """
        self.now += self._step if after is None else after
        cluster_id = "unknown:prod" if dead else small_cluster.CLUSTER_ID
        snapshot_id = f"{self.now:%Y%m%dT%H%M%SZ}-prod-0001"
        rows = small_cluster.snapshot(DEAD if dead else CLUSTER, snapshot_id).rows
        snapshot = Snapshot(snapshot_id=snapshot_id, cluster="prod", cluster_id=cluster_id, rows=rows)
        judged = [
            Judgement(
                snapshot_id=snapshot_id,
                code=code,
                resource=resource,
                status=Status.FAIL,
                severity=Severity[severity],
                evidence=evidence,
            )
            for code, resource, severity, evidence in failures
        ]
        if dead:
            judged.append(Judgement(snapshot_id=snapshot_id, code="KA001", resource="cluster", status=Status.FAIL))
        judged += [Judgement(snapshot_id=snapshot_id, code=c, resource=r, status=Status.UNKNOWN) for c, r in unknown]
        spoken = {finding.code for finding in judged}
        judged += [
            Judgement(snapshot_id=snapshot_id, code=code, resource="cluster", status=Status.PASS)
            for code in sorted(self._codes - spoken if not dead else ())
        ]
        self._codes |= spoken
        previous = self._reports.get(cluster_id)
        before = (
            None
            if previous is None
            else Snapshot(snapshot_id=previous.snapshot_id, cluster="prod", cluster_id=cluster_id, rows=())
        )
        view = ClusterView(snapshot, before, small_cluster.view(snapshot).differences)
        found = findings.findings_with_lifecycle(
            view, judged, mutes=[Mute(**mute) for mute in mutes], previous_report=previous, today=date(2026, 9, 14)
        )
        incidents = causes.incidents(view, found, changes)
        report = document.build_report(view, previous and previous.snapshot_id, found, incidents, (), previous)
        self._reports[cluster_id] = structs.replace(report, finished_at=f"{self.now:%Y-%m-%dT%H:%M:%SZ}")
        return self._reports[cluster_id]
