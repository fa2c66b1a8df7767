"""What is suspected, each with the healthy sequence that looks most like it."""

from itertools import pairwise

import pytest

from kafka_audit.watch.judgement import FORGOTTEN_S, WatchState, new_suspicions, next_state
from kafka_audit.watch.reading import ANSWERED, WatchAnswer, WatchOutcome
from kafka_audit.watch.suspicions import Observation, WatchFault
from watch.readings import (
    DENIED,
    EVERY,
    REFUSED,
    ControllerReading,
    after,
    broker,
    down,
    in_kraft,
    kraft,
    reading,
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
    others = [broker(number, lists=WITHOUT_2) for number in (0, 1) if number not in {one.broker_id for one in brokers}]
    return reading(seconds, *others, *brokers, down(2), zk=zookeeper(brokers=WITHOUT_2))


def test_a_restart_within_the_grace_is_silent():
    assert sentences(reading(0), left(20), left(25), left(30), left(35), left(45), reading(50)) == []
    assert after(reading(0), left(20), reading(50)).symptoms == {}


def test_a_broker_that_stays_away_is_suspected_after_the_grace():
    times = (20, 25, 30, 35, 40, 45, 50)
    gone = ["Broker 2 is no longer registered and does not answer: connection refused"]
    assert sentences(reading(0), *map(left, times)) == gone
    assert sentences(reading(0), *map(left, times), grace_s=120) == []


def test_a_killed_broker_is_suspected_while_it_is_registered_though_the_grace_is_long():
    registered = [reading(seconds, down(2)) for seconds in (20, 25, 30)]
    killed = after(reading(0), *registered, left(35), grace_s=600)
    assert [one.what for one in killed.suspicions] == [WatchFault.GONE]
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


def test_views_that_lack_one_broker_after_the_other_are_a_restart_and_views_that_lack_one_are_not():
    one_after_the_other = [reading(20 * number, *(broker(0, lists=EVERY - {number}) for _ in "x")) for number in (1, 2, 1, 2, 1)]
    assert sentences(*one_after_the_other) == []
    lasting = [reading(20 * number, broker(0, lists=EVERY - {2})) for number in (1, 2)]
    assert sentences(*lasting) == ["Broker 0 does not list broker 2"]


def test_an_empty_view_is_suspected_once_and_not_also_for_the_controller_that_it_lacks():
    empty = [reading(seconds, broker(2, lists=frozenset(), controller_id=-1)) for seconds in (20, 30)]
    assert sentences(*empty) == ["Broker 2 answers, but its own view lists no broker"]


def test_a_broker_that_lists_one_that_is_not_registered_is_suspected():
    stale = [reading(seconds, broker(1, lists=frozenset({0, 1, 2, 5}))) for seconds in (20, 30)]
    assert sentences(*stale) == ["Broker 1 lists broker 5, not registered"]


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


def test_without_zookeeper_the_majority_decides_about_the_controller():
    stale = [reading(seconds, broker(1, controller_id=2), zk=None) for seconds in (20, 30)]
    assert sentences(*stale) == ["Broker 1 reports controller 2; the controller is 0"]


def test_a_cluster_that_migrates_has_no_controller_in_zookeeper():
    migrating = [reading(s, zk=zookeeper(controller=None, brokers=frozenset(), claimed=True)) for s in (0, 10, 20)]
    assert sentences(*migrating) == []


def test_another_cluster_id_is_suspected_also_if_it_is_that_of_the_first_reading_of_all():
    other = [reading(seconds, broker(1, cluster_id="xyz")) for seconds in (0, 10)]
    assert sentences(*other) == ["Broker 1 reports cluster id xyz; the cluster id is abc"]
    state = WatchState()
    for one in (reading(0), reading(10)):
        state = next_state(state, one, cluster_id="expected")
    assert len(state.suspicions) == 3


def test_zookeeper_that_does_not_answer_is_suspected_and_one_that_may_not_be_read_is_not():
    assert sentences(*(reading(s, zk=zookeeper(answer=REFUSED)) for s in (0, 10))) == [
        "ZooKeeper does not answer: connection refused"
    ]
    assert sentences(*(reading(s, zk=zookeeper(answer=DENIED)) for s in (0, 10))) == []


def test_while_zookeeper_does_not_answer_views_are_compared_with_each_other():
    blind = [reading(s, broker(2, lists=WITHOUT_2), zk=zookeeper(answer=REFUSED)) for s in (0, 10)]
    assert "Broker 2 does not list broker 2" in sentences(*blind)


def test_what_the_auditor_may_not_ask_is_not_suspected():
    silent = [reading(s, broker(2, metadata=DENIED, lists=None, controller_id=None)) for s in (0, 20, 40)]
    assert sentences(*silent) == []


def test_a_broker_that_answers_apiversions_and_no_metadata_is_suspected():
    timeout = WatchAnswer(outcome=WatchOutcome.FAILED, error="timeout")
    stuck = [reading(s, broker(2, metadata=timeout, lists=None, controller_id=None)) for s in (0, 10)]
    assert sentences(*stuck) == ["Broker 2 does not answer at b2:9092: timeout"]


def test_a_broker_cut_from_the_controllers_is_suspected_by_its_view_and_by_the_quorum():
    timeout = WatchAnswer(outcome=WatchOutcome.FAILED, error="timeout")
    cut = [
        kraft(
            seconds,
            in_kraft(0, lists=WITHOUT_2),
            in_kraft(1, lists=WITHOUT_2),
            in_kraft(2, quorum=timeout, leader=None, leader_epoch=None),
        )
        for seconds in (20, 30)
    ]
    assert sentences(*cut) == [
        "Broker 2 gets no answer from the quorum's leader: timeout",
        "Broker 2 answers, but it is not registered",
    ]


def test_an_election_of_the_quorum_is_silent_and_a_lasting_one_is_not():
    voting = [in_kraft(number, leader=-1, leader_epoch=8) for number in EVERY]
    elected = [in_kraft(number, leader=1, leader_epoch=9) for number in EVERY]
    assert sentences(kraft(0), kraft(20, *voting), kraft(25, *elected)) == []
    assert sentences(kraft(0), kraft(20, *voting), kraft(30, *voting)) == ["The metadata quorum has no leader"]


def test_a_broker_or_controller_that_reports_an_older_leader_is_suspected():
    stale = in_kraft(2, leader=1, leader_epoch=6)
    old = ControllerReading(address="c1:9093", answer=ANSWERED, leader=2)
    assert sentences(*(kraft(s, stale, controllers=(old,)) for s in (0, 10))) == [
        "Broker 2 reports leader 1 of the quorum; the leader is 0",
        "Controller c1:9093 reports leader 2 of the quorum; the leader is 0",
    ]


def test_without_the_right_to_ask_for_the_quorum_it_is_not_suspected():
    denied = [in_kraft(number, quorum=DENIED, leader=None, leader_epoch=None) for number in EVERY]
    assert sentences(kraft(0, *denied), kraft(10, *denied)) == []


def test_a_suspicion_is_new_once():
    states = [WatchState()]
    for one in (reading(0, down(2)), reading(10, down(2)), reading(30, down(2)), reading(50), reading(70, down(2))):
        states.append(next_state(states[-1], one))
    news = [len(new_suspicions(before, now)) for before, now in pairwise(states)]
    assert news == [0, 1, 0, 0, 0]
    assert [state.unsettled for state in states[1:]] == [True, False, False, False, True]


def test_a_broker_that_was_removed_is_forgotten_after_an_hour():
    hour = int(FORGOTTEN_S)
    removed = after(reading(0), left(20), left(60), left(hour))
    assert 2 in {one.broker for one in removed.suspicions}
    assert after(reading(0), left(20), left(60), left(hour + 20)).suspicions == ()


@pytest.mark.parametrize("text", ["a\x1b[2Jb", "x" * 500])
def test_what_a_cluster_says_is_cleaned_in_a_sentence(text):
    (one,) = sentences(*(reading(s, down(2, error=text)) for s in (0, 10)))
    assert one.isprintable()
    assert len(one) < 300


def test_faults_of_one_broker_have_one_party_and_faults_of_the_cluster_have_none_in_common():
    assert {Observation(fault=fault, broker=2).party for fault in (WatchFault.GONE, WatchFault.VIEW_EMPTY)} == {"2"}
    assert Observation(fault=WatchFault.NO_ANSWER, address="c1:9093").party == "c1:9093"
    of_cluster = (WatchFault.NO_CONTROLLER, WatchFault.NO_QUORUM_LEADER, WatchFault.ZOOKEEPER_UNREACHABLE)
    assert len({Observation(fault=fault).party for fault in of_cluster}) == len(of_cluster)
