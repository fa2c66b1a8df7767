"""When one look is enough: rows of a sample in, words out."""

from dataclasses import replace

import pytest

from collect.columns import collected
from kafka_audit.collect.sampling import sample_again
from kafka_audit.collect.sampling.sample_again import ExaminedSample
from kafka_audit.model.cluster import Expect
from kafka_audit.model.tables import (
    AddressProbe,
    BrokerConfig,
    BrokerIdentity,
    BrokerView,
    LogDir,
    Probe,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    SourceRead,
    ViewBroker,
    ViewPartition,
    ViewTopic,
)
from made_rows import made

HOSTS = {0: "a", 1: "b", 2: "c"}


def why_again(rows, brokers=None, cluster_id=None):
    return sample_again.why_again(ExaminedSample(collected(rows), Expect(brokers=brokers, cluster_id=cluster_id)))


def why_once_more(before, now, brokers=None):
    expect = Expect(brokers=brokers)
    return sample_again.why_once_more(ExaminedSample(collected(before), expect), ExaminedSample(collected(now), expect))


def session_wait(rows):
    return sample_again.session_wait(collected(rows))


def registry(**changes):
    held = {"kafka_cluster_id": "id", "controller_id": 0, "controller_epoch": 1, "controller_mzxid": 50, "brokers_pzxid": 40}
    return made(Registry, **held | {"zxid_before": 100, "zxid_after": 100} | changes)


def partition(number=0, **changes):
    state = {"leader": 0, "leader_epoch": 3, "controller_epoch": 1, "isr": (0, 1, 2), "state_mzxid": 60}
    return made(RegisteredPartition, topic="orders", partition=number, **{"replicas": (0, 1, 2)} | state | changes)


def view(observer, brokers="B", topics="T", **changes):
    digests = {"brokers_digest": brokers, "topics_digest": topics, "brokers_listed": 3, "topics_listed": 1}
    own = {"observer": observer, "broker_id": int(observer.rpartition(":")[2]), "kafka_cluster_id": "id"}
    return made(BrokerView, **own | digests | changes)


def held(digest="P", number=0, **changes):
    state = {"leader_epoch": 3, "replicas": (0, 1, 2), "isr": (0, 1, 2)}
    return made(ViewPartition, topic_digest=digest, topic="orders", partition=number, **state | changes)


def probe(**changes):
    return made(Probe, **{"broker_id": 2, "host": "c", "outcome": "failed", "error": "timeout"} | changes)


def each_address(*found):
    """Rows of a name with addresses, each with its outcome and who answers there."""
    return [
        made(AddressProbe, broker_id=2, host="c", address=address, outcome=outcome, answered_by=answered_by)
        for address, outcome, answered_by in found
    ]  # fmt: skip


def failed(error="timeout", observer="broker:2"):
    return SourceRead(sample=1, observer=observer, operation="Metadata", target="c:9092", outcome="failed", error=error)


def log_dir(**changes):
    return made(LogDir, broker_id=2, **{"path": "/data", "total_bytes": 9, "usable_bytes": 9, "replicas": 2} | changes)


def listed(digest="B", hosts=None):
    return [
        ViewBroker(brokers_digest=digest, broker_id=node, host=host, port=9092, rack=None)
        for node, host in (hosts or HOSTS).items()
    ]


def in_zookeeper():
    brokers = [
        RegisteredBroker(sample=1, broker_id=host, rack=None, ephemeral_owner=1, registered_ms=1, czxid=30, mzxid=30)
        for host in HOSTS
    ]
    endpoints = [
        RegisteredEndpoint(sample=1, broker_id=node, listener="PLAINTEXT", protocol="PLAINTEXT", host=host, port=9092)
        for node, host in HOSTS.items()
    ]
    topic = RegisteredTopic(sample=1, last_sample=1, topic="orders", topic_id="i", czxid=20, mzxid=20, deleting=False)
    return [*brokers, *endpoints, topic, partition(0), partition(1)]


def healthy(*more):
    topic = ViewTopic(topics_digest="T", topic="orders", topic_id="i", topic_digest="P", error=0)
    views = [view(f"broker:{host}") for host in HOSTS]
    return [registry(), *in_zookeeper(), *views, *listed(), topic, held(number=0), held(number=1), *more]


def without(rows, *tables):
    return [row for row in rows if not isinstance(row, tables)]


def with_view_of_2(*content, **changes):
    """Broker 2 shows another view than the healthy one."""
    rows = [row for row in healthy() if not (isinstance(row, BrokerView) and row.broker_id == 2)]
    return [*rows, view("broker:2", **changes), *content]


def other_topic(**changes):
    return [
        ViewTopic(topics_digest="T2", topic="orders", topic_id="i", topic_digest="P2", error=0),
        held("P2", 0, **changes),
        held("P2", 1),
    ]


def test_a_healthy_cluster_needs_one_look():
    assert why_again(healthy()) is None


def test_a_broker_that_holds_more_than_is_assigned_to_it_is_a_reason():
    strays = "broker 2 has 3 replicas, 2 are assigned to it"
    assert why_again(healthy(log_dir())) is None
    assert why_again(healthy(log_dir(), log_dir(path="/data2", replicas=1))) == strays
    in_kraft = without(healthy(log_dir(replicas=3)), Registry, RegisteredPartition, RegisteredTopic, RegisteredBroker)
    assert strays in why_again(in_kraft)
    assert why_again(without(healthy(log_dir(replicas=3)), RegisteredPartition, ViewPartition)) != strays  # nothing was read


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (with_view_of_2(brokers="none", topics="none", controller_id=-1), "differ: 3 brokers, 1 topic, controller -1"),
        (with_view_of_2(*other_topic(leader=1), topics="T2"), "broker 2 and ZooKeeper differ: 1 partition"),
        (with_view_of_2(*other_topic(leader_epoch=2), topics="T2"), "1 partition"),
        (with_view_of_2(*other_topic(isr=(0, 1)), topics="T2"), "1 partition"),
        (with_view_of_2(*other_topic(replicas=(0, 2, 1)), topics="T2"), "1 partition"),
        (with_view_of_2(*other_topic()[:2], topics="T2"), "1 partition"),
        (with_view_of_2(*other_topic(), held("P2", 2), topics="T2"), "1 partition"),
        (with_view_of_2(*listed("B2", {0: "a", 1: "b"}), brokers="B2"), "1 broker"),
        (with_view_of_2(*listed("B2", {**HOSTS, 2: "old"}), brokers="B2"), "1 broker"),
        (with_view_of_2(controller_id=1), "controller 1 instead of 0"),
        ([registry(controller_id=None), *healthy()[1:]], "ZooKeeper has no /controller"),
        (
            [*without(healthy(), RegisteredPartition), partition(0, leader_recovery_state=1), partition(1)],
            "1 partition has not recovered from an unclean election",
        ),
        (healthy(failed()), "broker 2 did not answer at c:9092 (timeout)"),
        (healthy(failed(observer="broker@c:9092")), "a bootstrap address did not answer at c:9092 (timeout)"),
        (healthy(probe()), "from worker tcp to broker 2 failed (timeout)"),
        (
            healthy(*each_address(("10.0.0.1", "ok", 2), ("10.0.0.2", "failed", None))),
            "10.0.0.2, an address of c, does not lead to its broker",
        ),
        (
            healthy(*each_address(("10.0.0.1", "ok", 1), ("10.0.0.2", "ok", 2))),
            "10.0.0.1, an address of c, does not lead to its broker",
        ),
        (healthy(probe(vantage="v", role="broker", from_broker=1)), "from broker 1 tcp to broker 2 failed"),
    ],
)  # fmt: skip
def test_each_difference_is_a_reason(rows, words):
    assert words in why_again(rows)


def test_a_wrong_broker_at_an_address_is_a_reason():
    identity = BrokerIdentity(sample=1, broker_id=2, listener="L", address="c:1", answered_by=1, kafka_cluster_id=None)
    assert "broker 1 answers at c:1, advertised for 2" in why_again(healthy(identity))
    for fine in ({"answered_by": 2}, {"answered_by": None}, {"broker_id": -1}):
        assert why_again(healthy(replace(identity, **fine))) is None


def test_a_wrong_broker_that_one_vantage_meets_is_a_reason():
    """KA111 fails where two samples show it, of a vantage as of this worker."""
    met = probe(vantage="dmz", layer="identity", outcome="ok", error=None, answered_by=1)
    assert "from dmz, broker 1 answers at c:9092, advertised for 2" in why_again(healthy(met))
    for fine in ({"answered_by": 2}, {"answered_by": None, "outcome": "unknown"}):
        assert why_again(healthy(replace(met, **fine))) is None


def test_brokers_that_differ_among_themselves_are_a_reason_without_zookeeper():
    rows = [row for row in with_view_of_2(topics="T2") if isinstance(row, BrokerView)]
    assert why_again(rows) == "on PLAINTEXT broker 2 and the other brokers show different views"


@pytest.mark.parametrize(
    "rows",
    [
        with_view_of_2(*other_topic(leader_epoch=None), topics="T2", metadata_version=5),  # Kafka 1.1 tells no epochs
        with_view_of_2(*listed("B2", {0: "x", 1: "y", 2: "z"}), brokers="B2", listener="bootstrap"),  # of a listener not known
        with_view_of_2(*listed("B2", {node: f"{host.upper()}." for node, host in HOSTS.items()}), brokers="B2"),  # the same names
        [replace(row, deleting=True) if isinstance(row, RegisteredTopic) else row for row in with_view_of_2(topics="T")],
        healthy(failed("not supported", observer="broker@c:9092")),
        healthy(failed(observer="zookeeper")),
        healthy(failed("not supported")),  # the same in five seconds
        healthy(failed("CLUSTER_AUTHORIZATION_FAILED")),
        healthy(probe(outcome="unknown")),
        healthy(*each_address(("127.0.0.1", "ok", 2), ("::1", "ok", None))),
        healthy(*each_address(("127.0.0.1", "ok", 2), ("::1", "failed", None))),  # no client of Java goes there
    ],
)
def test_what_a_second_look_would_not_change_is_no_reason(rows):
    assert why_again(rows) is None


def gone(number=2, rows=None):
    """Broker 2 is in no registration and in no list; partitions are assigned to it still."""
    left = [row for row in rows or healthy() if getattr(row, "broker_id", None) != number]
    return [replace(row, brokers_pzxid=41) if isinstance(row, Registry) else row for row in left]


def unread(rows):
    return [replace(row, brokers_pzxid=None) if isinstance(row, Registry) else row for row in without(rows, RegisteredBroker)]


def test_a_broker_that_is_assigned_and_not_registered_is_a_reason():
    assert why_again(gone()) == "replicas are assigned to broker 2, not registered in ZooKeeper"
    many = [*healthy(), partition(7, replicas=(3, 4, 5, 6))]
    assert "assigned to broker 3, broker 4, broker 5 and 1 more, not registered" in why_again(many)


def test_a_broker_fewer_than_expected_is_a_reason():
    assert why_again(healthy(), 4) == "3 brokers are registered, 4 are expected"
    for enough in (None, 2, 3):
        assert why_again(healthy(), enough) is None


def test_another_topic_id_than_that_of_zookeeper_is_a_reason():
    other = [replace(row, topic_id="j") if isinstance(row, RegisteredTopic) else row for row in healthy()]
    assert why_again(other) == "1 topic with another id in ZooKeeper than at brokers"
    unknown = [replace(row, topic_id=None) if isinstance(row, ViewTopic) else row for row in other]
    assert why_again(unknown) is None


def test_another_cluster_than_the_expected_one_is_a_reason():
    reason = "broker 0, broker 1, broker 2 report another cluster id than the expected one"
    cluster_ids = {row.kafka_cluster_id for row in healthy() if isinstance(row, BrokerView)}
    assert why_again(healthy(), cluster_id="other") == reason
    assert [why_again(healthy(), cluster_id=cluster_id) for cluster_id in cluster_ids] == [None]


def test_a_registration_that_cannot_be_read_is_no_absence():
    there = SourceRead(
        sample=1, observer="zookeeper", operation="zookeeper /brokers/ids/2", target="z:1", outcome="failed", error="unreadable"
    )
    assert why_again([*gone(), there], 3) is None
    assert why_again([*gone(), replace(there, operation="zookeeper /brokers/topics/2")]) is not None
    assert why_again([*gone(), replace(there, operation="zookeeper /brokers/ids/1")]) is not None
    listed_none = [
        *unread(without(healthy(), RegisteredEndpoint, ViewBroker)),
        replace(there, operation="zookeeper /brokers/ids"),
    ]
    assert why_again(listed_none, 3) is None  # nothing was listed, so nobody is known to be absent


def test_a_broker_that_stays_away_has_settled_and_one_that_comes_back_was_never_gone():
    """A killed broker: registered and refusing, then unregistered, then the same again. A restarted one: away, then back."""
    killed = healthy(failed("connection refused"))
    assert "brokers were added or removed" in why_once_more(killed, gone(), 3)
    assert why_once_more(gone(), gone(), 3) is None
    assert why_once_more(gone(), healthy(), 3) is None
    assert "replicas are assigned to broker 2" in why_once_more(healthy(), [registry(), *gone()[1:]])
    assert "2 brokers are registered, 3 are expected" in why_once_more(
        without(healthy(), RegisteredPartition, RegisteredTopic, ViewTopic), [registry(), *gone()[1:]], 3
    )


def test_reasons_are_cut_and_clean():
    many = [failed(observer=f"broker:{number}") for number in range(9)]
    assert why_again(healthy(*many)).endswith("; and 6 more")
    hostile = why_again(healthy(replace(failed(), target="c\x1b[31m\n:1")))
    assert hostile.isprintable()


def stale(**changes):
    return with_view_of_2(*other_topic(leader=1, **changes), topics="T2")


def test_a_difference_that_stays_on_ground_that_stays_has_settled():
    assert why_once_more(stale(), stale()) is None
    assert why_once_more(stale(), healthy()) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"brokers_pzxid": 41}, "brokers were added or removed"),
        ({"controller_mzxid": 51}, "the controller changed"),
    ],
)
def test_a_difference_on_ground_that_moved_needs_another_look(change, words):
    assert words in why_once_more(stale(), [registry(**change), *stale()[1:]])


def test_only_the_state_of_partitions_that_differ_counts():
    def moved(number):
        return [
            replace(row, state_mzxid=61) if isinstance(row, RegisteredPartition) and row.partition == number else row
            for row in stale()
        ]

    assert why_once_more(stale(), moved(0)) == "the state of orders-0 changed since the previous sample"
    assert why_once_more(stale(), moved(1)) is None


def test_a_missing_topic_rests_on_the_states_of_all_its_partitions():
    rows = with_view_of_2(topics="none")
    moved = [replace(row, state_mzxid=61) if isinstance(row, RegisteredPartition) and row.partition == 1 else row for row in rows]
    assert "orders-1 changed" in why_once_more(rows, moved)


def test_a_difference_that_is_new_needs_another_look():
    assert "1 partition" in why_once_more(healthy(), stale())
    assert why_once_more(stale(), [*stale(), failed()]) is not None
    at_broker_1 = [
        replace(row, observer="broker:1", broker_id=1)
        if isinstance(row, BrokerView) and row.broker_id == 2
        else replace(row, observer="broker:2", broker_id=2)
        if isinstance(row, BrokerView) and row.broker_id == 1
        else row
        for row in stale()
    ]
    assert why_once_more(stale(), at_broker_1) is not None


def test_a_refusing_broker_gets_its_session_timeout():
    refused = probe(error="connection refused")
    config = made(BrokerConfig, broker_id=0, key="zookeeper.session.timeout.ms", value="6000", source=5)
    assert session_wait(healthy(refused)) == sample_again.SESSION_S + sample_again.TICK_S
    assert session_wait(healthy(refused, config)) == 6 + sample_again.TICK_S
    assert session_wait(healthy(refused, replace(config, value=None))) == sample_again.SESSION_S + sample_again.TICK_S
    for other in (probe(), replace(refused, vantage="far"), replace(refused, broker_id=9)):
        assert session_wait(healthy(other)) == 0
    assert session_wait(without(healthy(refused), RegisteredBroker)) == 0


def in_kraft(rows):
    return without(rows, Registry, RegisteredBroker, RegisteredEndpoint, RegisteredTopic, RegisteredPartition)


def test_without_zookeeper_views_that_differ_need_a_second_look_and_a_third_where_they_move():
    apart = in_kraft(with_view_of_2(topics="old"))
    assert why_again(in_kraft(healthy())) is None
    assert "broker 2 and the other brokers show different views" in (why_again(apart) or "")
    assert why_once_more(apart, apart) is None
    assert why_once_more(apart, in_kraft(healthy())) is None
    for before in (in_kraft(healthy()), in_kraft(with_view_of_2(topics="older"))):
        assert why_once_more(before, apart) is not None


def test_a_refusing_broker_gets_its_lease_without_zookeeper():
    refused = probe(error="connection refused")
    config = made(BrokerConfig, broker_id=0, key="broker.session.timeout.ms", value="6000", source=5)
    assert session_wait(in_kraft(healthy(refused))) == sample_again.LEASE_S + sample_again.TICK_S
    assert session_wait(in_kraft(healthy(refused, config))) == 6 + sample_again.TICK_S
    assert session_wait(in_kraft(healthy(probe()))) == 0
    assert session_wait([failed(observer="zookeeper"), refused]) == 0
