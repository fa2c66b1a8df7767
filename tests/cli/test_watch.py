"""`kafka-audit watch` against fakes: a line for each change, JSON, exit codes."""

import json
from contextlib import aclosing

import pytest

from hostile_parties.broker import honest_brokers
from kafka_audit.cli import main, watching
from kafka_audit.watch.judgement import WatchState, next_state
from kafka_audit.watch.loop import steps
from kafka_audit.watch.picture import WatchPicture
from watch.readings import down, kraft, reading, zookeeper

QUICK = ["--every", "2", "--grace", "2"]
READINGS = 3  # the third is four seconds after the first, at least


@pytest.fixture
def brokers():
    with honest_brokers() as made:
        yield made


@pytest.fixture
def watch(brokers, tmp_path, capfd, monkeypatch):
    """Return a function that watches for a number of readings, however long they take."""
    path = tmp_path / "clusters.yaml"
    path.write_text(json.dumps({"clusters": {"prod": {"bootstrap": [brokers[0].address], "limits": {"read_s": 300}}}}))

    def run(count, *options):
        async def first(*arguments):
            async with aclosing(steps(*arguments)) as readings:
                for _ in range(count):
                    yield await anext(readings)

        monkeypatch.setattr(watching, "steps", first)
        code = main(["watch", "prod", "--config", str(path), *options])
        out, err = capfd.readouterr()
        assert err == ""
        return code, out.splitlines()

    return run


def test_a_healthy_cluster_is_a_line_for_each_party_and_0(watch):
    code, lines = watch(1_000_000, *QUICK, "--for", "10")
    assert code == 0
    assert [line.partition("  ")[2] for line in lines] == [
        "prod: 3 parties read every 2 s",
        *(f"broker {number}: ApiVersions ok, Metadata ok, lists brokers 0-2, controller 0" for number in range(3)),
    ]


def test_what_is_suspected_at_the_end_is_3_and_one_line(watch, brokers):
    brokers[2].brokers, brokers[2].controller_id = {}, -1
    code, lines = watch(READINGS, *QUICK)
    assert code == 3
    assert [line for line in lines if "SUSPECTED" in line] == [lines[-2]]
    assert lines[-2].endswith("  SUSPECTED Broker 2 answers, but its own view lists no broker")
    assert lines[-1].endswith("  next: kafka-audit run prod")


def test_json_is_an_object_for_each_change(watch, brokers):
    brokers[2].brokers, brokers[2].controller_id = {}, -1
    code, lines = watch(READINGS, *QUICK, "--format", "json")
    first, last = (json.loads(line) for line in lines)
    assert code == 3
    assert first["suspicions"] == []
    assert [(suspicion["what"], suspicion["broker"]) for suspicion in last["suspicions"]] == [("view_empty", 2)]
    assert [broker["lists"] for broker in last["brokers"]] == [[0, 1, 2], [0, 1, 2], []]
    assert last["zookeeper"] is None


def test_what_a_broker_says_moves_no_cursor(watch, brokers):
    brokers[2].cluster_id = "a\x1b[2J\rb"
    _, lines = watch(READINGS, *QUICK)
    assert all(line.isprintable() for line in lines)
    assert any("cluster id a\\u001b[2J" in line for line in lines)


def test_an_unreachable_cluster_is_no_silence(watch, brokers):
    for broker in brokers:
        broker.close()
    code, lines = watch(READINGS, *QUICK)
    assert code == 3
    assert lines[-2].endswith("SUSPECTED No bootstrap address answers: connection refused")


def screen(*readings, width=200):
    picture, state = WatchPicture("prod", 20), WatchState()
    for taken in readings:
        state = next_state(state, taken)
        picture.changes(taken, state)
    return picture.screen(readings[-1], state, width).splitlines()


def test_the_picture_shows_who_answers_since_when_and_what_is_suspected():
    assert screen(reading(0), reading(20, down(2)), reading(30, down(2))) == [
        "prod  ZooKeeper  1970-01-01T00:17:10Z  every 20 s",
        "",
        "           ApiVersions         Metadata  lists brokers  controller  last change",
        "zookeeper  -                   -         0-2            0, epoch 1  00:16:40Z",
        "broker 0   ok                  ok        0-2            0           00:16:40Z",
        "broker 1   ok                  ok        0-2            0           00:16:40Z",
        "broker 2   connection refused  -         -              -           00:17:00Z",
        "",
        "Suspected",
        "  00:17:00Z  Broker 2 does not answer at b2:9092: connection refused",
    ]


def test_the_picture_of_kraft_shows_the_quorum_and_no_controller():
    shown = screen(kraft(0))
    assert shown[3] == "broker 0  ok           ok        0-2            leader 0  00:16:40Z"
    assert shown[-1] == "Nothing is suspected."


def test_the_picture_fits_the_terminal_and_shows_what_is_not_yet_suspected():
    shown = screen(reading(0), reading(20, zk=zookeeper(controller=None)), width=60)
    assert max(map(len, shown)) <= 60
    assert shown[-3:] == [
        "Waiting for a second reading",
        "  00:17:00Z  The cluster has no controller: /controller does",
        "             not exist",
    ]
