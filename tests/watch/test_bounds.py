"""What a watch remembers and reports is bounded, and one party neither fills it nor decides for others."""

import json
from dataclasses import replace

from kafka_audit.model.tables import RegisteredEndpoint
from kafka_audit.watch.audit_requests import SavedWatch, decode_watch, encode_watch
from kafka_audit.watch.judgement import MOST_SYMPTOMS, Patience, WatchState, next_state
from kafka_audit.watch.pacing import NEW_BROKERS, Pacing, next_pacing, parties
from kafka_audit.watch.seen_cluster import SeenCluster
from kafka_audit.watch.suspicions import MOST_NAMED, WatchFault, electorate
from watch.readings import EVERY, after, broker, down, in_kraft, kraft, reading, sentences, zookeeper

HOUR = 3600


def place(number):
    host = f"b{number}"
    return (RegisteredEndpoint(sample=1, broker_id=number, listener="A", protocol="PLAINTEXT", host=host, port=9092),)


def known(taken, *numbers):
    """A reading in which these brokers are known."""
    return replace(taken, endpoints={number: place(number) for number in numbers})


def vouched(*taken):
    return [replace(broker, vouched=True) for broker in taken]


def test_symptoms_are_bounded_and_those_of_long_known_brokers_stay():
    new = range(10, 10 + 2 * MOST_SYMPTOMS)
    wrong = [down(number) for number in (*new, 2)]
    registered = zookeeper(brokers=EVERY.union(new))
    states = [known(reading(0), 0, 1, 2), *(known(reading(s, *wrong, zk=registered), 0, 1, 2, *new) for s in (20, 25, 30))]
    state = after(*states)
    assert len(state.symptoms) == MOST_SYMPTOMS
    assert (WatchFault.NO_ANSWER, 2) in {(suspicion.what, suspicion.broker) for suspicion in state.suspicions}


def test_a_view_of_thousands_is_a_short_suspicion():
    many = [broker(number, lists=frozenset(range(5000))) for number in (0, 2)]
    registered = zookeeper(brokers=frozenset(range(5000)))
    state = after(*(reading(s, *many, broker(1, lists=frozenset({4999})), zk=registered) for s in (20, 30)))
    (found,) = state.suspicions
    assert len(found.observation.missing) == MOST_NAMED
    assert found.sentence() == "Broker 1 does not list 20 brokers or more"
    assert len(encode_watch(SavedWatch(state=state))) < 1000


def test_views_of_brokers_that_nobody_vouches_for_do_not_count():
    sybils = [broker(number, lists=frozenset(range(10, 20)), cluster_id="x", controller_id=10) for number in range(10, 20)]
    honest = vouched(broker(0), broker(1), broker(2))
    taken = reading(0, *honest, *sybils, zk=None)
    assert SeenCluster(taken).registered == EVERY
    assert {row.broker_id for row in electorate(taken)} == EVERY
    state = after(taken, reading(10, *honest, *sybils, zk=None))
    assert {suspicion.broker for suspicion in state.suspicions} == set(range(10, 20))


def test_without_anyone_who_is_vouched_for_all_views_count():
    taken = reading(0, broker(2, lists=EVERY - {2}), zk=None)
    assert {row.broker_id for row in electorate(taken)} == EVERY


def test_one_broker_that_claims_kraft_mode_hides_nothing_of_zookeeper():
    claims = broker(2, kraft=True)
    assert sentences(*(reading(s, claims, zk=zookeeper(controller=None)) for s in (0, 10))) == [
        "The cluster has no controller: /controller does not exist"
    ]
    assert kraft(0, in_kraft(0, kraft=False)).kraft, "as one that denies it hides no quorum"


def test_brokers_at_one_address_have_one_view():
    many = [broker(number, address="b9:9092", lists=frozenset(range(10, 20))) for number in range(10, 20)]
    assert SeenCluster(reading(0, *many, zk=None)).registered == EVERY


def test_a_new_broker_that_most_list_counts_as_they_do():
    more = EVERY | {3}
    taken = reading(0, *vouched(*(broker(number, lists=more) for number in EVERY)), broker(3, lists=more), zk=None)
    assert {row.broker_id for row in electorate(taken)} == more


def test_one_broker_that_claims_the_newest_epoch_does_not_name_the_leader_of_the_quorum():
    claims = [kraft(s, in_kraft(2, leader=99 + s, epoch=2**31 - 1)) for s in (0, 10)]
    stale = [kraft(s, in_kraft(1, leader=7, epoch=3), in_kraft(2, leader=0)) for s in (0, 10)]
    assert all("Broker 0" not in sentence and "Broker 1" not in sentence for sentence in sentences(*claims))
    assert sentences(*stale) == ["Broker 1 reports leader 7 of the quorum; the leader is 0"]


def test_brokers_are_known_since_they_are_registered_and_until_they_are_forgotten():
    first = next_state(WatchState(), known(reading(0), 0, 1, 2))
    assert first.known_ms == dict.fromkeys((0, 1, 2), 1_000_000)
    later = next_state(first, known(reading(20, broker(3), zk=zookeeper(brokers=EVERY | {3})), 0, 1, 2, 3, 9))
    assert later.known_ms == {**first.known_ms, 3: 1_020_000}, "no party has registered 9"
    assert next_state(later, known(reading(40), 1, 2)).known_ms == {1: 1_000_000, 2: 1_000_000}


def test_one_view_alone_registers_only_those_that_answer():
    alone = known(reading(0, broker(0, lists=frozenset({0, 5})), down(1), down(2), zk=None), 0, 5)
    assert next_state(WatchState(), alone).known_ms == {0: 1_000_000}


def test_the_order_in_which_brokers_became_known_is_saved():
    state = WatchState(at_ms=5, endpoints={n: place(n) for n in (7, 2, 5)}, known_ms={7: 1, 2: 2, 5: 3})
    read = decode_watch(encode_watch(SavedWatch(state=state))).state
    assert [*read.endpoints] == [*read.known_ms] == [7, 2, 5]


def flapping(minutes):
    """A party that registers another id each minute and lets it die, while broker 2 dies in the last minute; the requests."""
    state, pacing, requested = WatchState(), Pacing(), []
    alive, dead = [], []
    for minute in range(minutes):
        at = minute * 60
        dead, alive = [*dead, *alive][-30:], [1000 + minute]
        last = minute >= minutes - 5
        ids = EVERY.union(alive, dead)
        for second in (at, at + 20, at + 40):
            taken = reading(
                second,
                *(down(number) for number in dead),
                *(broker(number, lists=ids) for number in (*alive, *EVERY)),
                *([down(2)] if last else []),
                zk=zookeeper(brokers=ids),
            )
            before, state = state, next_state(state, known(taken, 0, 1, 2, *dead, *alive), Patience())
            suspected = {suspicion.observation.key for suspicion in before.suspicions}
            new = [suspicion for suspicion in state.suspicions if suspicion.observation.key not in suspected]
            pacing, due = next_pacing(
                pacing, taken.at_ms, 300.0, new=parties(new, state), suspected=parties(state.suspicions, state)
            )
            if due:
                requested.append((second, 2 in {suspicion.broker for suspicion in state.suspicions}))
    return requested, pacing


def test_a_party_with_a_new_id_each_minute_is_one_flapping_party_and_delays_no_other():
    minutes = 600
    requested, pacing = flapping(minutes)
    assert {*pacing.audited} == {"2", NEW_BROKERS}
    calm = [second for second, honest in requested if not honest]
    assert len(calm) <= 5 + minutes / 60, "not one each five minutes"
    assert any(honest for _, honest in requested), "broker 2 is audited while the other flaps"


def test_brokers_that_the_watch_began_with_are_parties_of_their_own():
    state = after(known(reading(0), 0, 1, 2), *(known(reading(s, down(1), down(2)), 0, 1, 2) for s in (20, 30)))
    assert parties(state.suspicions, state) == ["1", "2"]
    assert json.loads(encode_watch(SavedWatch(state=state)))["state"]["known_ms"] == dict.fromkeys("012", 1_000_000)
