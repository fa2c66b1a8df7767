"""Who keeps a partition from having a leader, and what waits for a broker."""

import pytest

import small_cluster
from kafka_audit.cluster.held_up_by import all_waiting_known, held_up_by, waiting_for

ORDERS = ("orders", 0)


def view(state, **more):
    partition = {"replicas": [0, 1, 2], **state}
    return small_cluster.view({"topics": {"orders": {"partitions": {0: partition}}}, **more})


def test_the_last_isr_and_no_other_replica_holds_it_up():
    seen = view({"leader": -1, "isr": [2]})
    assert held_up_by(seen, *ORDERS) == {2}
    assert waiting_for(seen, 2) == {ORDERS}
    assert waiting_for(seen, 0) == frozenset()
    assert all_waiting_known(seen)


def test_each_replica_may_where_no_isr_is_known():
    assert held_up_by(view({"leader": -1, "isr": []}), *ORDERS) == {0, 1, 2}


@pytest.mark.parametrize(("isr", "missing"), [([0], {1, 2}), ([0, 1, 2], set())])
def test_with_a_leader_those_out_of_the_isr_do(isr, missing):
    assert held_up_by(view({"leader": 0, "isr": isr}), *ORDERS) == missing


def test_what_was_not_read_may_wait():
    unread = {"observer": "zookeeper", "operation": "zookeeper /brokers/topics", "error": "NoAuthError"}
    seen = small_cluster.view({"reads": [{**unread, "needs": "read on /brokers/topics"}]})
    assert waiting_for(seen, 2) == frozenset()
    assert not all_waiting_known(seen)
