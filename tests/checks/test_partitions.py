"""Checks of partitions where there are more than the difference tables list."""

from dataclasses import replace

import pytest

from kafka_audit.checks import catalogue
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, DeletedTopic, PartitionCount, ReplicaFault, ReplicaState
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import Sample, Snapshot, SnapshotInfo
from made_rows import made

KINDS = {"KA601": "leaderless", "KA604": "under_replicated", "KA606": "single_replica"}


def view(*rows, total=20_000, deleting=0):
    count = dict.fromkeys(("led", "leaderless", "incomplete", "unregistered"), 0)
    counted = PartitionCount(topics=1, partitions=total, deleting=deleting, **count)
    times = {"started_ms": 1, "finished_ms": 2}
    rows_of_sample = (made(SnapshotInfo, **times), made(Sample, **times))
    snapshot = Snapshot(snapshot_id="s", cluster="c", cluster_id="i", rows=rows_of_sample)
    previous = replace(snapshot, rows=(made(Sample, started_ms=1 - 3_600_000, finished_ms=0),))
    return ClusterView(snapshot, previous, Differences.from_rows(DIFFERENCES, (counted, *rows)))


def state(number, kind):
    return ReplicaState(
        topic="t",
        partition=number,
        replicas=(0,),
        leader=-1,
        isr=(),
        factor=1,
        missing=(0,),
        unregistered=(),
        lasting=None,
        min_isr=1,
        rack=None,
        moving=False,
        repeated=True,
        kinds=(kind,),
    )


def judged(code, seen):
    return {(judgement.resource, judgement.status): dict(judgement.evidence) for judgement in catalogue()[code].function(seen)}


@pytest.mark.parametrize("code", KINDS)
def test_what_is_not_listed_is_said_beside_what_is(code):
    kind = KINDS[code]
    found = judged(code, view(state(3, kind), ReplicaFault(kind=kind, partitions=15_000)))
    assert set(found) == {("topic/t/partition/3", Status.FAIL), ("cluster", Status.UNKNOWN)}
    assert found["cluster", Status.UNKNOWN]["error"] == "14999 more partitions are not listed"
    assert found["cluster", Status.UNKNOWN]["needs"] == "fewer faults at once"


@pytest.mark.parametrize("code", KINDS)
def test_a_check_passes_whatever_else_fills_the_list(code):
    others = (state(3, "too_few_replicas"), ReplicaFault(kind="too_few_replicas", partitions=15_000))
    assert judged(code, view(*others)) == {("cluster", Status.PASS): {"total": 20_000}}


def test_a_check_does_not_pass_where_none_of_its_partitions_is_listed():
    assert set(judged("KA606", view(ReplicaFault(kind="single_replica", partitions=1)))) == {("cluster", Status.UNKNOWN)}


def test_deletions_that_are_not_listed_are_not_known():
    stuck = DeletedTopic(topic="t", before=True, unregistered=())
    found = judged("KA610", view(stuck, deleting=1001))
    assert set(found) == {("topic/t", Status.FAIL), ("cluster", Status.UNKNOWN)}
    assert found["cluster", Status.UNKNOWN]["error"] == "1000 more topics in deletion are not listed"
