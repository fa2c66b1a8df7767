"""What the rows of single kinds leave out, and what they have in one row."""

import pytest

from checks.cases import base
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.words import summary

COPIES = {"topics": {"orders": {"partitions": {1: {"isr": [1, 2]}, 2: {"isr": [2, 1]}}}}}
ADDED = {
    "topics": {"payments": {"partitions": {0: {"replicas": [1, 0, 2], "isr": [1, 0], "leader": 1}}}},
    "reassigning": [{"topic": "payments", "partition": 0, "adding": [2], "removing": []}],
}
DENIED = {"observer": "broker:0", "operation": "DescribeLogDirs", "error": "CLUSTER_AUTHORIZATION_FAILED"}
OFFLINE = {"leadership": {"answers": [{"broker": 0, "of": "orders-1", "error": 56}]}}
OLD = {"stable": 5, "end": 20, "older_s": 60}
BEGUN = {"id": "tx", "state": "Ongoing", "at": 2, "producer": 7, "epoch": 3, "began_s": 300, "timeout_s": 900}


@pytest.fixture(scope="module")
def views():
    cases = {
        "silent": COPIES | {"views": {0: {"answers": False, "error": "no route to host"}}},
        "denied": COPIES | {"reads": [DENIED]},
        "gone": {"brokers": {2: "absent"}, "views": {2: {"answers": False, "error": "connection refused"}}} | ADDED,
        "copies": COPIES,
        "offline": COPIES | OFFLINE,
        "transaction": {
            "transactions": [{"of": "orders-1"} | OLD, {"of": "orders-2"} | OLD, {"of": "payments-0"} | OLD],
            "coordinated": [{"of": "orders-1, orders-2"} | BEGUN],
        },
    }
    return cluster_views({name: snapshots(base(), name, {"now": case}) for name, case in cases.items()})


def test_a_replica_on_an_offline_disk_does_not_catch_up(views):
    whole, offline = ([row.parties for row in progress_of(views[name]).of_kind("catch_up")] for name in ("copies", "offline"))
    assert ("broker/0", "broker/1") in whole
    assert ("broker/0", "broker/1") not in offline
    assert ("broker/0", "broker/2") in offline


@pytest.mark.parametrize(
    ("name", "needs"),
    [("silent", "an answer from broker 0 in two audits"), ("denied", "DescribeLogDirs in two audits (Describe on Cluster)")],
)
def test_what_the_size_of_a_copy_needs_is_what_is_missing(views, name, needs):
    row = next(row for row in progress_of(views[name]).of_kind("catch_up") if row.parties == ("broker/0", "broker/1"))
    assert row.not_known == f"what changes was not read; needs {needs}"


def test_what_waits_for_a_broker_that_is_not_there_does_not_move(views):
    (row,) = progress_of(views["gone"]).of_kind("reassignment")
    assert summary(row).endswith(": after less than a minute, waits for broker 2, which is not registered")


def test_one_transaction_is_one_row(views):
    rows = progress_of(views["transaction"]).of_kind("transaction")
    assert [row.what for row in rows] == ["transaction tx, Ongoing, in 2 partitions of orders", "transaction in payments-0"]
    assert rows[0].parties == ("topic/orders/partition/1", "topic/orders/partition/2")
