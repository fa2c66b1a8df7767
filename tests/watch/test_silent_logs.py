"""A broker whose log says that its start failed is suspected at once, and no log of one that answers is read."""

from pathlib import Path

from kafka_audit.model.cluster import Cluster, Logs, Security
from kafka_audit.watch.judgement import WatchState, next_state
from kafka_audit.watch.silent_logs import MOST_LOGS, SilentLogs
from kafka_audit.watch.suspicions import WatchFault
from watch.readings import after, down, reading, sentences, zookeeper

REFUSED = """[2026-11-29 10:00:{0:02},100] INFO starting (kafka.server.KafkaServer)
[2026-11-29 10:00:{0:02},900] ERROR Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)
org.apache.kafka.common.KafkaException: Found directory /data/lost+found, 'lost+found' is not in the form of topic-partition
"""
STOPPED = """[2026-11-29 10:00:00,000] INFO Terminating process due to signal SIGTERM (o.a.k.common.utils.LoggingSignalHandler)
[2026-11-29 10:00:03,000] INFO [KafkaServer id=2] shut down completed (kafka.server.KafkaServer)
"""
HEADLINE = "Broker 2 does not start: its log dir holds lost+found"


def logs_of(folder: Path, texts):
    for number, text in texts.items():
        (folder / f"server-{number}.log").write_text(text)
    paths = (str(folder / "server-{broker_id}.log"),)
    return SilentLogs(Cluster(name="a", bootstrap=("b:1",), security=Security(), logs=Logs(paths=paths)), 5.0)


def test_a_start_that_failed_is_named_and_a_stop_on_purpose_is_none(tmp_path):
    logs = logs_of(tmp_path, {2: REFUSED.format(1), 3: STOPPED})
    assert logs.read({1: False, 2: True, 3: True, 4: True, None: True}, ()) == {2: HEADLINE}


def test_a_broker_that_answers_between_two_crashes_is_one_that_crashes(tmp_path):
    came_up = "".join(
        f"[2026-11-29 10:{minute:02}:00,100] INFO starting (kafka.server.KafkaServer)\n"
        f"[2026-11-29 10:{minute:02}:01,100] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)\n"
        for minute in range(4)
    )
    logs = logs_of(tmp_path, {2: came_up})
    assert logs.read({2: True}, ()) == logs.read({2: False}, ()) == {2: "Broker 2 ends again after each start: 4 starts in 180 s"}


def test_after_a_start_that_went_well_nothing_is_left_of_those_that_failed(tmp_path):
    failed = "".join(REFUSED.format(second) for second in (1, 11, 21, 31))
    logs = logs_of(tmp_path, {2: failed})
    assert logs.read({2: True}, ()) == {2: HEADLINE}
    with (tmp_path / "server-2.log").open("a") as log:
        log.write("[2026-11-29 10:00:40,000] INFO starting (kafka.server.KafkaServer)\n")
        log.write("[2026-11-29 10:00:42,000] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)\n")
    assert logs.read({2: False}, ()) == {}


def test_logs_of_brokers_that_answer_are_not_read_and_of_many_few(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr("kafka_audit.watch.silent_logs.read_log_tail", lambda place, *_: read.append(place.broker) or ())
    logs = logs_of(tmp_path, {})
    assert logs.read({1: False, 2: False}, ()) == {}
    assert read == []
    logs.read(dict.fromkeys(range(100), True), ())
    assert len(read) == MOST_LOGS


def test_a_process_that_failed_is_suspected_without_the_grace_of_a_restart():
    left = zookeeper(brokers=frozenset({0, 1}))
    silent = [reading(at, down(2), zk=left) for at in (0, 5, 15)]
    assert sentences(*silent) == []
    failed = [reading(at, down(2, process=HEADLINE), zk=left) for at in (0, 5, 15)]
    assert sentences(*failed) == [f"{HEADLINE}, by its own log"]


def test_it_stays_the_same_symptom_as_a_broker_without_an_answer():
    before = [reading(at, down(2)) for at in (0, 20, 60)]
    state = after(*before)
    (suspicion,) = state.suspicions
    assert suspicion.what in {WatchFault.NO_ANSWER, WatchFault.GONE}
    later = next_state(state, reading(80, down(2, process=HEADLINE)))
    assert isinstance(later, WatchState)
    assert [(one.what, one.since_ms) for one in later.suspicions] == [(WatchFault.PROCESS_DOWN, suspicion.since_ms)]
