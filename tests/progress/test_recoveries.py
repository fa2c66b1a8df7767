"""How far a recovery of logs has come, by the log of the broker alone, and what other starts are."""

import pytest

from checks.cases import base
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.words import summary

BEGINS = """
[2023-11-14 22:10:00,100] INFO starting (kafka.server.KafkaServer)
[2023-11-14 22:10:01,000] INFO Recovering 400 logs from /data since no clean shutdown file was found (kafka.log.LogManager)
"""
LOADED = "[2023-11-14 22:{time}] INFO Completed load of Log(dir=/data/orders-1) with 12 segments in 2210ms ({count} completed in /data) (kafka.log.LogManager)\n"  # noqa: E501
LOGS = {
    "moves": BEGINS + LOADED.format(time="12:00,000", count="40/400") + LOADED.format(time="15:01,000", count="100/400"),
    "no_counts": BEGINS + "[2023-11-14 22:15:01,000] INFO Recovering unflushed segment 0 (kafka.log.Log)\n",
    "silent": BEGINS + LOADED.format(time="10:02,000", count="1/400"),
    "done": BEGINS + "[2023-11-14 22:15:00,000] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)\n",
    "no_log": None,
}


@pytest.fixture(scope="module")
def found():
    gone = {"brokers": {2: "absent"}, "topics": {"orders": {"partitions": {2: {"leader": 0, "isr": [0, 1]}}}}}
    cases = {name: {"world": gone, "now": {} if log is None else {"log_texts": {2: log}}} for name, log in LOGS.items()}
    views = cluster_views({name: snapshots(base(), name, case) for name, case in cases.items()})
    return {name: progress_of(view).of_kind("recovery") for name, view in views.items()}


def test_one_that_moves_is_estimated_by_its_own_times(found):
    (row,) = found["moves"]
    assert (row.state, row.parties, row.measure, row.share, row.unit) == ("moving", ("broker/2",), 100, 0.25, "logs")
    assert summary(row) == "Recovery of the logs of broker 2: 25 % after 5 minutes, about 15 more"


def test_one_without_counts_is_not_known_and_names_the_line(found):
    (row,) = found["no_counts"]
    assert (row.state, row.share) == ("unknown", None)
    assert "how many logs are loaded" in row.not_known


@pytest.mark.parametrize("name", ["silent", "done", "no_log"])
def test_what_is_no_recovery_has_no_row(found, name):
    assert found[name] == ()
