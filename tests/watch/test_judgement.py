"""What is suspected, each with the healthy sequence that looks most like it."""

from dataclasses import replace
from itertools import pairwise

import pytest

from kafka_audit.model.cluster import Expect
from kafka_audit.watch.judgement import ELECTIONS_S, FORGOTTEN_S, WatchState, new_suspicions, next_state
from kafka_audit.watch.reading import ANSWERED, ControllerReading
from kafka_audit.watch.suspicions import Observation, WatchFault
from watch.readings import (
    DENIED,
    EVERY,
    REFUSED,
    TIMEOUT,
    after,
    broker,
    controller,
    down,
    in_kraft,
    kraft,
    listed,
    reading,
    replicas,
    sentences,
    zookeeper,
)

WITHOUT_2 = frozenset({0, 1})


def test_a_healthy_cluster_is_never_suspected():
    assert sentences(*(reading(20 * number) for number in range(5))) == []
    assert sentences(*(kraft(20 * number) for number in range(5))) == []


def test_a_registered_broker_that_does_not_answer_is_suspected_after_ten_seconds():
    wrong = [reading(20, down(2)), reading(25, down(2)), reading(30, down(2))]
    assert sentences(reading(0), *wrong[:2]) == []
    assert sentences(reading(0), *wrong) == ["Broker 2 does not answer at b2:9092: connection refused"]


def test_one_reading_is_never_enough_however_late_the_next_one_is():
    assert sentences(reading(0), reading(20, down(2)), reading(80)) == []


def left(seconds, *brokers):
    """Broker 2 has left: neither ZooKeeper nor the others know it, and its port is closed."""
    others = [broker(number, lists=WITHOUT_2) for number in (0, 1) if number not in {broker.broker_id for broker in brokers}]
    return reading(seconds, *others, *brokers, down(2), zk=zookeeper(brokers=WITHOUT_2))


def test_a_restart_within_the_grace_is_silent():
    assert sentences(reading(0), left(20), left(25), left(30), left(35), left(45), reading(50)) == []
    assert after(reading(0), left(20), reading(50)).symptoms == {}


def test_a_broker_that_stays_away_is_suspected_after_the_grace():
    times = (20, 25, 30, 35, 40, 45, 50)
    gone = ["Broker 2 is no longer registered and does not answer: connection refused"]
    assert sentences(reading(0), *map(left, times)) == gone
    assert sentences(reading(0), *map(left, times), grace_s=120) == []


def address(seconds, *, failed=True, **lists):
    """Broker 2 was never seen; its address in the cluster file, or a load balancer's, was asked."""
    at = replace(down(2) if failed else broker(2, **lists), broker_id=None, address="b2:9092")
    taken = kraft(seconds, in_kraft(0, **lists), in_kraft(1, **lists))
    return replace(taken, brokers=(*taken.brokers[:2], at))


def test_an_address_of_the_cluster_file_that_was_silent_from_the_first_reading_is_suspected_after_the_grace():
    times = (0, 10, 20, 30)
    silent = ["No broker answers at b2:9092, an address in the cluster file: connection refused"]
    assert sentences(*(address(at, lists=WITHOUT_2) for at in times[:3])) == []
    assert sentences(*(address(at, lists=WITHOUT_2) for at in times)) == silent
    assert sentences(*(address(at, failed=False, lists=WITHOUT_2) for at in times)) == [], "a load balancer that answers"
    assert sentences(*(address(at, lists=WITHOUT_2) for at in times), kraft(40)) == [], "broker 2 is there"


def expecting(number, *readings):
    state = WatchState()
    for taken in readings:
        state = next_state(state, taken, expect=Expect(brokers=number))
    return [suspicion.sentence() for suspicion in state.suspicions]


def test_fewer_brokers_than_the_cluster_file_expects_are_suspected_once():
    whole = [reading(at) for at in (0, 20, 40)]
    assert expecting(4, *whole) == ["The cluster file expects 4 brokers, and the watch finds 3"]
    assert expecting(3, *whole) == expecting(2, *whole) == []
    assert expecting(3, *(address(at, lists=WITHOUT_2) for at in (0, 20, 40))) == [
        "No broker answers at b2:9092, an address in the cluster file: connection refused"
    ]
    assert expecting(3, reading(0), *map(left, (20, 30, 40, 50))) == [
        "Broker 2 is no longer registered and does not answer: connection refused"
    ]


def test_a_killed_broker_is_suspected_while_it_is_registered_though_the_grace_is_long():
    registered = [reading(seconds, down(2)) for seconds in (20, 25, 30)]
    killed = after(reading(0), *registered, left(35), grace_s=600)
    assert [suspicion.what for suspicion in killed.suspicions] == [WatchFault.GONE]
    assert sentences(reading(0), registered[0], left(25), left(30), left(35), grace_s=600) == []


def test_a_rolling_restart_is_silent():
    """Each broker closes its port, leaves for 25 s, comes back; the controller moves, and views lag by one reading."""
    steps = [reading(0)]
    for number in (0, 1, 2):
        start = 100 * (number + 1)
        rest = frozenset({0, 1, 2} - {number})
        controller = 1 if number == 0 else 0
        others = [broker(other, lists=rest, controller_id=controller) for other in rest]
        away = zookeeper(brokers=rest, controller=controller)
        steps += [
            reading(start, down(number)),  # its port is closed while it is registered
            *(reading(start + later, *others, down(number), zk=away) for later in (5, 10, 15, 20, 25)),
            reading(start + 30, broker(number, lists=frozenset(), controller_id=-1)),  # registered again, no view yet
            reading(start + 35),
        ]
    for end in range(1, len(steps) + 1):
        assert sentences(*steps[:end]) == []


COMES_AND_GOES = ["Broker 2 comes and goes: it came back three times within 15 minutes"]


def registered(seconds, czxid):
    """Broker 2 registered by this transaction."""
    return reading(seconds, zk=zookeeper(czxids={2: czxid}))


def test_a_broker_that_registers_again_and_again_between_two_readings_is_suspected():
    loop = [registered(20 * number, 1 + number // 3) for number in range(12)]
    assert sentences(*loop[:9]) == []
    assert sentences(*loop) == COMES_AND_GOES
    assert sentences(*(registered(400 * number, number) for number in range(12))) == [], "three restarts in twenty minutes"
    assert sentences(*loop, registered(940, 4)) == COMES_AND_GOES
    assert sentences(*loop, registered(1140, 4)) == [], "it has lasted for a quarter of an hour"


def test_a_broker_of_kraft_that_answers_again_and_again_is_suspected_and_a_watch_that_was_cut_off_suspects_nobody():
    turns = [(40 * number, 40 * number + 20) for number in range(1, 4)]
    loop = [taken for away, back in turns for taken in (kraft(away, down(2)), kraft(back))]
    assert sentences(kraft(0), *loop[:-1], kraft(160)) == []
    assert sentences(kraft(0), *loop, kraft(160)) == COMES_AND_GOES
    cut = [taken for away, back in turns for taken in (kraft(away, down(1), down(2)), kraft(back))]
    assert sentences(kraft(0), *cut, kraft(160)) == []


def test_views_that_lack_one_broker_after_the_other_are_a_restart_and_views_that_lack_one_are_not():
    one_after_the_other = [reading(20 * number, *(broker(0, lists=EVERY - {number}) for _ in "x")) for number in (1, 2, 1, 2, 1)]
    assert sentences(*one_after_the_other) == []
    lasting = [reading(20 * number, broker(0, lists=EVERY - {2})) for number in (1, 2)]
    assert sentences(*lasting) == ["Broker 0 does not list broker 2"]


def test_an_empty_view_is_suspected_once_and_not_also_for_the_controller_that_it_lacks():
    empty = [reading(seconds, broker(2, lists=frozenset(), controller_id=-1)) for seconds in (20, 30)]
    assert sentences(*empty) == ["Broker 2 answers, but its own view lists no broker"]


def test_a_broker_that_lists_one_that_is_not_registered_is_not_suspected():
    """No check judges it: an audit would find nothing, unless the broker that left had a replica."""
    stale = [reading(seconds, broker(1, lists=frozenset({0, 1, 2, 5}))) for seconds in (20, 30)]
    assert sentences(*stale) == []


def test_a_broker_that_is_listed_at_another_address_than_registered_is_suspected_and_the_same_one_in_other_letters_is_not():
    stale = [reading(seconds, broker(1, listed=listed(EVERY, b2="b9"))) for seconds in (20, 30)]
    assert sentences(*stale) == ["Broker 1 lists broker 2 at another address than registered"]
    same = [reading(seconds, broker(1, listed=listed(EVERY, b2="B2."))) for seconds in (20, 30)]
    assert sentences(*same) == []
    moving = [reading(seconds, broker(1, listed=listed(EVERY, **{name: "b9"}))) for seconds, name in ((20, "b1"), (30, "b2"))]
    assert sentences(*moving) == []


def test_a_broker_that_answers_and_is_not_registered_is_suspected():
    now = [
        reading(seconds, broker(0, lists=WITHOUT_2), broker(1, lists=WITHOUT_2), zk=zookeeper(brokers=WITHOUT_2))
        for seconds in (20, 30)
    ]
    assert sentences(*now) == ["Broker 2 answers, but it is not registered"]


def test_brokers_that_disagree_about_the_controller_are_suspected_and_an_election_is_not():
    stale = [reading(seconds, broker(1, controller_id=2)) for seconds in (20, 30)]
    assert sentences(*stale) == ["Broker 1 reports controller 2; the controller is 0"]
    moved = [broker(number, controller_id=1) for number in EVERY]
    election = [
        reading(20, zk=zookeeper(controller=None)),
        reading(25, broker(0, controller_id=0), *moved[1:], zk=zookeeper(controller=1)),
        reading(30, *moved, zk=zookeeper(controller=1)),
    ]
    assert sentences(*election) == []


def test_no_controller_is_suspected():
    assert sentences(*(reading(s, zk=zookeeper(controller=None)) for s in (0, 10))) == [
        "The cluster has no controller: /controller does not exist"
    ]


def test_in_kraft_mode_any_broker_may_be_named_as_controller():
    random = [kraft(20 * n, *(in_kraft(b, controller_id=(b + n) % 3) for b in EVERY)) for n in range(5)]
    assert sentences(*random) == []


def test_without_zookeeper_nothing_says_which_controller_is_right():
    stale = [reading(seconds, broker(1, controller_id=2), zk=None) for seconds in (20, 30)]
    assert sentences(*stale) == []


def test_a_cluster_that_migrates_has_no_controller_in_zookeeper():
    of_both = [broker(0), broker(1), in_kraft(2)]
    for brokers, left in (([*map(in_kraft, EVERY)], ()), (of_both, (0, 1))):
        claimed = zookeeper(controller=None, brokers=frozenset(left), claimed=True)
        migrating = [reading(s, *brokers, zk=claimed) for s in (0, 10, 20)]
        assert sentences(*migrating) == []


def test_another_cluster_id_is_suspected_also_if_it_is_that_of_the_first_reading_of_all():
    other = [reading(seconds, broker(1, cluster_id="xyz")) for seconds in (0, 10)]
    assert sentences(*other) == ["Broker 1 reports cluster id xyz; the cluster id is abc"]
    state = WatchState()
    for taken in (reading(0), reading(10)):
        state = next_state(state, taken, expect=Expect(cluster_id="expected"))
    assert len(state.suspicions) == 3


def test_zookeeper_that_does_not_answer_is_suspected_and_one_that_may_not_be_read_is_not():
    assert sentences(*(reading(s, zk=zookeeper(answer=REFUSED)) for s in (0, 10))) == [
        "ZooKeeper does not answer: connection refused"
    ]
    assert sentences(*(reading(s, zk=zookeeper(answer=DENIED)) for s in (0, 10))) == []


def test_while_zookeeper_does_not_answer_views_are_compared_with_nothing():
    blind = [reading(s, broker(2, lists=WITHOUT_2), zk=zookeeper(answer=REFUSED)) for s in (0, 10)]
    assert sentences(*blind) == ["ZooKeeper does not answer: connection refused"]
    killed = [reading(s, down(2), zk=zookeeper(answer=REFUSED)) for s in (0, 10, 40)]
    assert "Broker 2 does not answer at b2:9092: connection refused" in sentences(*killed)


def test_what_the_auditor_may_not_ask_is_not_suspected():
    silent = [reading(s, broker(2, metadata=DENIED, lists=None, controller_id=None)) for s in (0, 20, 40)]
    assert sentences(*silent) == []


def test_a_broker_that_answers_apiversions_and_no_metadata_is_suspected():
    stuck = [reading(s, broker(2, metadata=TIMEOUT, lists=None, controller_id=None)) for s in (0, 10)]
    assert sentences(*stuck) == ["Broker 2 does not answer at b2:9092: timeout"]


def test_a_broker_cut_from_the_controllers_is_suspected_by_its_view_and_by_the_quorum():
    cut = [
        kraft(
            seconds,
            in_kraft(0, lists=WITHOUT_2),
            in_kraft(1, lists=WITHOUT_2),
            in_kraft(2, quorum=TIMEOUT, leader=None),
        )
        for seconds in (20, 30)
    ]
    assert sentences(*cut) == [
        "Broker 2 gets no answer from the quorum's leader: timeout",
        "Broker 2 answers, but it is not registered",
    ]


def test_an_election_of_the_quorum_is_silent_and_a_lasting_one_is_not():
    voting = [in_kraft(number, leader=-1, epoch=8) for number in EVERY]
    elected = [in_kraft(number, leader=1, epoch=9) for number in EVERY]
    assert sentences(kraft(0), kraft(20, *voting), kraft(25, *elected)) == []
    assert sentences(kraft(0), kraft(20, *voting), kraft(30, *voting)) == ["The metadata quorum has no leader"]


def test_a_broker_or_controller_that_reports_an_older_leader_is_suspected():
    stale = in_kraft(2, leader=1, epoch=6)
    old = controller("c1:9093", leader=2, epoch=5)
    assert sentences(*(kraft(s, stale, controllers=(old,)) for s in (0, 10))) == [
        "Broker 2 reports leader 1 of the quorum; the leader is 0",
        "Controller c1:9093 reports leader 2 of the quorum; the leader is 0",
    ]


def test_without_the_right_to_ask_for_the_quorum_it_is_not_suspected():
    denied = [in_kraft(number, quorum=DENIED, leader=None) for number in EVERY]
    assert sentences(kraft(0, *denied), kraft(10, *denied)) == []


def test_a_suspicion_is_new_once():
    states = [WatchState()]
    for taken in (reading(0, down(2)), reading(10, down(2)), reading(30, down(2)), reading(50), reading(70, down(2))):
        states.append(next_state(states[-1], taken))
    news = [len(new_suspicions(before, now)) for before, now in pairwise(states)]
    assert news == [0, 1, 0, 0, 0]
    assert [state.unsettled for state in states[1:]] == [True, False, False, False, True]


def test_a_broker_that_was_removed_is_forgotten_after_an_hour():
    hour = int(FORGOTTEN_S)
    removed = after(reading(0), left(20), left(60), left(hour))
    assert 2 in {suspicion.broker for suspicion in removed.suspicions}
    assert after(reading(0), left(20), left(60), left(hour + 20)).suspicions == ()


@pytest.mark.parametrize("text", ["a\x1b[2Jb", "x" * 500])
def test_what_a_cluster_says_is_cleaned_in_a_sentence(text):
    (sentence,) = sentences(*(reading(s, down(2, error=text)) for s in (0, 10)))
    assert sentence.isprintable()
    assert len(sentence) < 300


def test_faults_of_one_broker_have_one_party_and_faults_of_the_cluster_have_none_in_common():
    assert {Observation(fault=fault, broker=2).party for fault in (WatchFault.GONE, WatchFault.VIEW_EMPTY)} == {"2"}
    assert Observation(fault=WatchFault.NO_ANSWER, address="c1:9093").party == "c1:9093"
    of_cluster = (WatchFault.NO_CONTROLLER, WatchFault.NO_QUORUM_LEADER, WatchFault.ZOOKEEPER_UNREACHABLE)
    assert len({Observation(fault=fault).party for fault in of_cluster}) == len(of_cluster)


def elections(*epochs, every=20):
    """Return readings in which the quorum has these epochs, each with the leader that won."""
    return [
        kraft(every * turn, *(in_kraft(number, leader=200 + epoch % 3, epoch=epoch) for number in EVERY))
        for turn, epoch in enumerate(epochs)
    ]


def test_a_quorum_that_elects_again_and_again_is_suspected():
    assert sentences(*elections(7, 9, 11, 14, 15)) == ["The metadata quorum elects a leader again and again"]


def test_a_planned_change_of_the_leader_and_a_rolling_restart_of_all_controllers_are_no_elections_too_many():
    """Each restart of a leader takes an election, and where votes are split another epoch."""
    assert sentences(*elections(7, 8, 8, 8)) == []
    assert sentences(*elections(7, 9, 9, 11, 11, 13, 13)) == []
    five = replicas(**{f"v{node}": 0 for node in range(200, 205)})
    assert sentences(*(replace(election, replicas=five) for election in elections(7, 9, 11, 13, 15, 17))) == []


def test_elections_are_forgotten_and_those_of_a_day_are_not_counted_together():
    state = after(*elections(7, 9, 11, 14, 15))
    assert state.suspicions
    calm = kraft(80 + ELECTIONS_S, *(in_kraft(number, epoch=15) for number in EVERY))
    assert next_state(state, calm).suspicions == ()
    hourly = elections(*range(7, 31), every=3600)
    assert sentences(*hourly) == []


def test_one_party_that_claims_other_epochs_makes_no_elections():
    assert sentences(*(kraft(20 * turn, in_kraft(2, epoch=100 * turn)) for turn in range(1, 9))) == []


VOTERS = {"v200": 0, "v201": 0, "v202": 0, "b0": 0, "b1": 0, "b2": 0}


def followed(seconds, *brokers, **ages):
    return kraft(seconds, *brokers, nodes=replicas(**VOTERS | ages))


def test_a_voter_that_does_not_follow_is_suspected_after_the_grace():
    lagging = [followed(seconds, v201=11 + seconds) for seconds in (20, 25, 30, 45, 50)]
    assert sentences(followed(0), *lagging) == ["Voter 201 of the metadata quorum does not follow leader 0"]
    assert sentences(followed(0), *lagging[:-1]) == []
    never = [followed(seconds, v201=None, v202=None) for seconds in (20, 30, 50)]
    assert sentences(*never) == ["Voters 201 and 202 of the metadata quorum do not follow leader 0"]


def test_a_rolling_restart_of_controllers_is_silent():
    """Each is away for 25 s, in which it does not answer; it lags from 10 s after its last fetch until it is back."""
    steps, epoch = [], 7
    for turn, node in enumerate((201, 202, 200)):
        start = 60 * turn
        epoch += node == 200
        leader = 201 if node == 200 else 200
        for later in range(0, 60, 5):
            away = later < 25
            brokers = [in_kraft(number, leader=leader, epoch=epoch) for number in EVERY]
            ages = {f"v{node}": later if later < 30 else 0}
            others = [controller("c200:9093", leader=leader, epoch=epoch)] if leader == 200 else []
            there = ControllerReading(address=f"c{node}:9093", answer=REFUSED if away else ANSWERED)
            taken = followed(start + later, *brokers, **ages)
            steps.append(replace(taken, controllers=(*others, there)))
    for end in range(1, len(steps) + 1):
        assert sentences(*steps[:end]) == []
    assert after(*steps).symptoms == {}


def test_a_controller_that_stays_away_is_suspected_after_the_grace_also_where_no_broker_says_who_leads():
    gone = ControllerReading(address="c1:9093", answer=REFUSED)
    denied = [in_kraft(number, quorum=DENIED, leader=None) for number in EVERY]
    for brokers in ((), denied):
        away = [kraft(seconds, *brokers, controllers=(gone,)) for seconds in (0, 10, 30)]
        assert sentences(*away) == ["Controller c1:9093 does not answer at c1:9093: connection refused"]
        assert sentences(*away[:2]) == []


def test_a_broker_that_answers_and_no_longer_follows_the_metadata_log_is_suspected():
    lagging = [followed(seconds, b2=15 + seconds) for seconds in (20, 30)]
    assert sentences(*lagging) == ["Broker 2 answers, but it no longer follows the metadata log of leader 0"]
    stopped = [followed(seconds, down(2), b2=15 + seconds) for seconds in (20, 30)]
    assert [suspicion.what for suspicion in after(*stopped).suspicions] == [WatchFault.NO_ANSWER]
    paused = [followed(20, b2=12), followed(30), followed(40, b2=12)]
    assert sentences(*paused) == []


def test_a_release_without_times_in_its_answer_lags_in_nothing():
    """DescribeQuorum before version 1 (Kafka 3.3)."""
    timeless = [replace(row, last_fetch_ms=None, last_caught_up_ms=None) for row in replicas(**VOTERS | {"v201": 900, "b2": 900})]
    assert sentences(*(kraft(seconds, nodes=tuple(timeless)) for seconds in (0, 20, 60))) == []


def applied(seconds, two, committed):
    """All have applied what is committed, but broker 2."""
    offsets = {0: committed - 1, 1: committed - 2, 2: two}
    return kraft(seconds, *(in_kraft(number, committed=committed, applied=offsets[number]) for number in EVERY))


def test_a_broker_that_applies_nothing_while_records_are_committed_is_suspected():
    stands_still = [applied(seconds, 30, 50 + seconds) for seconds in (0, 20, 30)]
    assert sentences(*stands_still) == ["Broker 2 answers, but it applies no metadata after offset 30"]
    assert sentences(*stands_still[:2]) == []


def test_a_broker_that_fetches_nothing_lags_and_is_not_also_suspected_of_applying_nothing():
    cut = tuple(replace(row, log_end_offset=31 if row.replica_id == 2 else 90) for row in replicas(**VOTERS | {"b2": 5}))
    assert sentences(*(replace(applied(seconds, 30, 50 + seconds), replicas=cut) for seconds in (0, 20, 30))) == []
    fetched = tuple(replace(row, log_end_offset=90) for row in cut)
    suspected = [replace(applied(seconds, 30, 50 + seconds), replicas=fetched) for seconds in (0, 20, 30)]
    assert sentences(*suspected) == ["Broker 2 answers, but it applies no metadata after offset 30"]


def test_a_broker_that_starts_or_is_slow_applies_something():
    assert sentences(*(applied(seconds, 10 + seconds, 1000 + seconds) for seconds in (0, 20, 30, 40))) == []


def test_a_log_that_does_not_move_leaves_nothing_to_apply():
    """Before metadata.version 3.3, only changes are written; broker 1 has no use for the last record, that of an election."""
    assert sentences(*(applied(seconds, 49, 50) for seconds in (0, 20, 30, 60))) == []


def test_without_the_right_to_ask_for_the_quorum_nothing_is_known_of_what_brokers_apply():
    denied = [in_kraft(number, quorum=DENIED, leader=None, applied=30) for number in EVERY]
    assert sentences(*(kraft(seconds, *denied) for seconds in (0, 20, 40))) == []


def test_an_answer_that_only_one_party_gives_shows_that_reports_differ_and_names_nobody():
    other = [kraft(seconds, in_kraft(2, leader=99, epoch=9)) for seconds in (0, 10)]
    assert sentences(*other) == ["Brokers and controllers report different leaders of the metadata quorum"]
