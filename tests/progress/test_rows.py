"""What the rows of single kinds leave out, and what they have in one row."""

import pytest

from checks.cases import base
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.progress.rows import progress_of

COPIES = {"topics": {"orders": {"partitions": {1: {"isr": [1, 2]}, 2: {"isr": [2, 1]}}}}}
OFFLINE = {"leadership": {"answers": [{"broker": 0, "of": "orders-1", "error": 56}]}}
OLD = {"stable": 5, "end": 20, "older_s": 60}
BEGUN = {"id": "tx", "state": "Ongoing", "at": 2, "producer": 7, "epoch": 3, "began_s": 300, "timeout_s": 900}


@pytest.fixture(scope="module")
def views():
    cases = {
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


def test_one_transaction_is_one_row(views):
    rows = progress_of(views["transaction"]).of_kind("transaction")
    assert [row.what for row in rows] == ["transaction tx, Ongoing, in 2 partitions of orders", "transaction in payments-0"]
    assert rows[0].parties == ("topic/orders/partition/1", "topic/orders/partition/2")
