"""What a hostile party says beside honest ones: it costs its own row, and neither hides nor displaces another."""

import asyncio
from contextlib import ExitStack, contextmanager

import pytest
from kafka.protocol.metadata import MetadataResponse

from hostile_parties.broker import HostileBroker, changed
from hostile_parties.zookeeper import HostileZookeeper, kafka_tree
from kafka_audit.model.cluster import Cluster, Limits, ZookeeperAccess
from kafka_audit.watch.audit_requests import SavedWatch, encode_watch
from kafka_audit.watch.judgement import Patience, WatchState, next_state
from kafka_audit.watch.reader import Reader
from kafka_audit.watch.suspicions import WatchFault

METADATA = 3
LIMIT = 20
FEW = Limits(read_s=60, brokers=LIMIT)


@contextmanager
def cluster_of(*numbers):
    """Honest brokers with these ids; they list each other."""
    with ExitStack() as stack:
        made = [stack.enter_context(HostileBroker(number)) for number in numbers]
        for broker in made:
            broker.brokers = {other.id: (other.host, other.port) for other in made}
            broker.controller_id = numbers[0]
        yield made


def described(*bootstrap, **more):
    return Cluster(name="c", **{"bootstrap": tuple(broker.address for broker in bootstrap), "limits": FEW, **more})


def listed(ids, host="127.0.0.1", port=1):
    """The honest answer and these brokers, all at one address where nobody listens."""
    kind = MetadataResponse.MetadataResponseBroker

    def add(answer):
        honest = {broker.node_id for broker in answer.brokers}
        more = [kind(node_id=number, host=host, port=port, rack=None) for number in ids() if number not in honest]
        answer.brokers = [*more, *answer.brokers]

    return changed(add)


def others():
    """Other ids in each answer."""
    numbers = iter(range(100, 1_000_000))
    return lambda: [next(numbers) for _ in range(15)]


def watched(cluster, times, between=lambda _: None, seconds=20):
    """Return readings and the states after them; the time of each reading is this many seconds after the one before."""

    async def readings():
        reader, state, found = Reader(cluster, {}), WatchState(), []
        for number in range(times):
            reading = await reader.read(state.endpoints, state.known_ms)
            object.__setattr__(reading, "at_ms", 1_000_000 + number * seconds * 1000)
            state = next_state(state, reading, Patience())
            found.append((reading, state))
            between(number)
        return found

    return asyncio.run(readings())


def suspected(state):
    return {(suspicion.what, suspicion.broker) for suspicion in state.suspicions}


def test_ids_that_one_party_lists_anew_each_time_are_not_known(brokers):
    brokers[1].script[METADATA] = listed(others())
    found = watched(described(brokers[0]), 10)
    assert [sorted(state.endpoints) for _, state in found] == [[0, 1, 2]] * 10
    assert all(len(reading.brokers) == 3 for reading, _ in found)
    assert suspected(found[-1][1]) == set(), "an audit has no finding about who lists others that are not registered"
    sizes = [len(encode_watch(SavedWatch(state=state))) for _, state in found]
    assert max(sizes) < 3000


def test_a_view_of_new_ids_each_time_is_known_within_the_limit_where_no_other_view_is(brokers):
    brokers[0].script[METADATA] = listed(others())
    brokers[1].close()
    brokers[2].close()
    found = watched(described(brokers[0]), 10)
    assert all(len(state.endpoints) <= LIMIT for _, state in found)
    assert {0} <= found[-1][1].endpoints.keys()


def test_low_ids_do_not_displace_the_broker_with_the_highest_id():
    with cluster_of(0, 1, 5000) as made:
        made[0].script[METADATA] = listed(lambda: range(2, 32))
        found = watched(described(*made[:2]), 6, lambda number: made[2].close() if number == 2 else None)
    assert [5000 in state.endpoints for _, state in found] == [True] * 6
    assert (WatchFault.NO_ANSWER, 5000) in suspected(found[-1][1])


def test_a_broker_that_was_known_stays_known_when_one_party_lists_many_and_the_named_one_is_hostile():
    with cluster_of(0, 1, 2, 5000) as made:

        def begin(number):
            if number == 1:
                made[0].script[METADATA] = listed(lambda: range(3, 300))
            if number == 3:
                made[3].close()

        found = watched(described(made[0]), 8, begin)
    assert all(5000 in state.endpoints and len(state.endpoints) <= LIMIT for _, state in found)
    assert (WatchFault.NO_ANSWER, 5000) in suspected(found[-1][1])


def test_brokers_that_list_only_each_other_do_not_decide_who_is_registered():
    """Six addresses of one party, which list each other and no honest broker, beside three honest ones that list its first."""
    with cluster_of(0, 1, 2) as honest, cluster_of(*range(10, 16)) as sybils:
        for broker in (*honest, sybils[0]):
            broker.brokers = {**broker.brokers, 10: (sybils[0].host, sybils[0].port)}
        found = watched(described(honest[0]), 4)
    assert sorted(found[-1][1].endpoints) == [0, 1, 2, 10]
    assert suspected(found[-1][1]) == {(WatchFault.VIEW_DIFFERS, 10)}


def test_one_party_does_not_lead_the_watch_to_another_address_of_a_broker_that_died(brokers):
    with HostileBroker(2) as false:
        false.brokers = {**brokers[0].brokers}

        def begin(number):
            if number == 1:
                brokers[1].brokers = {**brokers[1].brokers, 2: (false.host, false.port)}
                brokers[2].close()

        found = watched(described(brokers[0]), 5, begin)
        assert false.connections == 0
    assert (WatchFault.NO_ANSWER, 2) in suspected(found[-1][1])


def test_a_broker_that_really_moved_is_followed(brokers):
    with HostileBroker(2) as elsewhere:
        elsewhere.controller_id = 0

        def move(number):
            if number == 1:
                elsewhere.brokers = {**brokers[0].brokers, 2: (elsewhere.host, elsewhere.port)}
                for broker in brokers[:2]:
                    broker.brokers = elsewhere.brokers
                brokers[2].close()

        found = watched(described(brokers[0]), 5, move)
    assert suspected(found[-1][1]) == set()
    assert found[-1][0].brokers[2].address == elsewhere.address


@pytest.mark.parametrize(
    "host", ["[::1]", "[::1", "::1]", "", "a b", "x ;touch P;#", "x" * 30_000, "\x00", "é", "1.2.3.4.5", "a..b", "%", "[[::1]]"]
)
def test_an_odd_host_is_one_row(brokers, host):
    for broker in brokers:
        broker.script[METADATA] = listed(lambda: [7], host=host, port=9092)
    found = watched(described(brokers[0]), 3)
    reading, state = found[-1]
    assert [broker.broker_id for broker in reading.brokers if broker.metadata.answered] == [0, 1, 2]
    (hostile,) = (broker for broker in reading.brokers if broker.broker_id == 7)
    assert not hostile.api_versions.answered
    assert len(hostile.address) < 300
    assert suspected(state) == {(WatchFault.NO_ANSWER, 7)}


@pytest.mark.parametrize(
    ("name", "content"), [("7", b"{"), ("7", b'{"host": 5}'), ("evil", b"{}"), ("7", b'{"endpoints": ["PLAINTEXT://x"]}')]
)
def test_an_odd_registration_ends_neither_the_reading_of_zookeeper_nor_that_of_others(brokers, name, content):
    places = {broker.id: {"PLAINTEXT": ("PLAINTEXT", broker.host, broker.port)} for broker in brokers}
    with HostileZookeeper(kafka_tree(places, {})) as zookeeper:
        zookeeper.znodes[f"/brokers/ids/{name}"] = content
        cluster = described(zookeeper=ZookeeperAccess(connect=zookeeper.address))
        found = watched(cluster, 4, lambda number: brokers[2].close() if number == 1 else None)
    reading, state = found[-1]
    assert reading.zookeeper.answer.answered
    assert {0, 1, 2} <= reading.zookeeper.brokers
    assert (WatchFault.NO_ANSWER, 2) in suspected(state)
    assert ((WatchFault.NO_ANSWER, 7) in suspected(state)) == (name == "7"), "registered, and at no address"
