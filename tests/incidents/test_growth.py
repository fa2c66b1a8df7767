"""Brokers that a party makes up make checks, incidents and the report that many times the work, and no more."""

from datetime import date

import pytest

import small_cluster
from counted_work import exponent
from kafka_audit.checks import run
from kafka_audit.cluster.changes import changes
from kafka_audit.incidents import findings
from kafka_audit.incidents.causes import incidents
from kafka_audit.report.document import build_document


def refused(count):
    """Return the view of three honest brokers and so many that refuse connections, two at each address, which is an incident."""
    made_up = range(100, 100 + count)
    addresses = {broker: f"10.1.{broker // 500}.{broker // 2 % 250}:9092" for broker in made_up}
    failed = {"outcome": "failed", "error": "connection refused", "reason": "REFUSED"}
    snapshot = small_cluster.snapshot(
        {
            "brokers": {broker: f"10.200.0.{broker}:9092" for broker in range(3)} | addresses,
            "topics": {"orders": {"partitions": {0: {"replicas": [0, 1, 2]}}}},
            "probes": [{"to": broker, "vantage": "worker", "layer": "tcp", **failed} for broker in made_up],
            "reads": [
                {"observer": f"broker:{broker}", "operation": operation, "error": "connection refused", "reason": "REFUSED"}
                for broker in made_up
                for operation in ("ApiVersions", "Metadata")
            ],
        },
        before={},
    )
    return small_cluster.view(snapshot)


def judge(view):
    found = findings.findings_with_lifecycle(view, run.judge(view), mutes=(), previous_report=None, today=date(2026, 9, 14))
    stories = incidents(view, found, changes(view))
    assert len(stories) >= (len(view.brokers) - 3) // 2
    build_document(view, None, found, stories, (), None, show_all=False, passed_over=())


@pytest.mark.parametrize("sizes", [(40, 160)])
def test_judging_grows_with_the_brokers(sizes):
    """1,000 took 41 s of CPU, 250 took 5."""
    assert exponent(judge, sizes, refused) <= 1.1
