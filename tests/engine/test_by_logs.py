"""KA302, inferred by Spark, is measured where the log of one that is cut off says so."""

import pytest

import small_cluster
from kafka_audit.engine import by_logs
from kafka_audit.model.finding import Confidence, Judgement, Status

LISTENER = "broker/2/listener/PLAINTEXT"
CLUSTER = {"brokers": {0: "b0:9092", 1: "b1:9092", 2: "b2:9092"}, "controller": 0}
LINE = {"broker": 0, "about": 2, "signature": "connection_not_established", "supports": "KA302", "part": "Controller"}


def judged(line, cluster=CLUSTER, **told):
    evidence = {"from": "0", "cannot": "most likely cannot", "why": "an empty view", "rivals": "KA401"}
    one = Judgement(
        snapshot_id="s",
        code="KA302",
        resource=LISTENER,
        status=told.get("status", Status.FAIL),
        confidence=Confidence.SUSPECTED,
        evidence=evidence,
    )
    (found,) = by_logs.measured(small_cluster.snapshot({**cluster, "logs": [{**LINE, **line}]}), [one])
    return found


@pytest.mark.parametrize("line", [{}, {"address": "b2:9092"}, {"signature": "connection_error"}])
def test_the_controllers_log_measures_it(line):
    found = judged(line)
    assert found.confidence is Confidence.MEASURED
    assert found.evidence["cannot"] == "cannot"
    assert found.evidence["why"].startswith("server.log of broker 0 says")
    assert "rivals" not in found.evidence


@pytest.mark.parametrize(
    "line",
    [
        {"about": 1},
        {"broker": 1},
        {"broker": 1, "part": "ReplicaFetcher"},
        {"address": "b2:9999"},
        {"since_start": 1},
        {"since_start": None, "last_ms": None},
        {"last_ms": 1789408700000, "since_ms": 1789408690000},
        {"last_ms": 1789409800000},
        {"supports": "KA412"},
    ],
)
def test_other_lines_do_not(line):
    assert judged(line).confidence is Confidence.SUSPECTED


def test_lines_that_come_every_half_minute_are_not_over_after_ten_seconds():
    assert judged({"since_start": 3, "since_ms": 1789408720000, "last_ms": 1789408780000}).confidence is Confidence.MEASURED


@pytest.mark.parametrize(("protocol", "confidence"), [("PLAINTEXT", "measured"), ("SASL_SSL", "suspected")])
def test_unsuccessful_alone_tells_no_cut_from_a_login_that_is_broken_off(protocol, confidence):
    row = {**LINE, "signature": "controller_connection_unsuccessful", "part": None, "address": "b2:9092"}
    cluster = {"brokers": {0: {protocol: "b0:9092"}, 2: {protocol: "b2:9092"}}, "controller": 0, "logs": [row]}
    one = Judgement(
        snapshot_id="s",
        code="KA302",
        resource=f"broker/2/listener/{protocol}",
        status=Status.FAIL,
        confidence=Confidence.SUSPECTED,
        evidence={"from": "0"},
    )
    (found,) = by_logs.measured(small_cluster.snapshot(cluster), [one])
    assert found.confidence.value == confidence


# Every broker of small_cluster registered at 0.
EXPIRED = {"broker": 2, "about": 2, "signature": "session_expired", "supports": "KA805", "matches": 2}


def of_session(line, **told):
    evidence = {"broker": "2", "error": "a new one", "needs": "logs"}
    reads = [{"observer": "logs:2", "operation": "logs server.log"}] if told.get("read", True) else []
    snapshot = small_cluster.snapshot({**CLUSTER, "reads": reads, "logs": [{**EXPIRED, **line}] if line is not None else []})
    one = Judgement(snapshot_id="s", code="KA805", resource="broker/2", status=Status.UNKNOWN, evidence=evidence)
    (found,) = by_logs.measured(snapshot, [one])
    return found


@pytest.mark.parametrize("line", [{"last_ms": -2000, "since_start": 0}, {"last_ms": 5000, "since_start": 0}, {"since_start": 1}])
def test_a_session_that_the_log_says_expired_was_no_restart(line):
    found = of_session(line)
    assert (found.status, found.confidence) == (Status.FAIL, Confidence.MEASURED)
    assert found.evidence["why"].startswith("its log says that it expired 2 times, last ")


@pytest.mark.parametrize(
    "line",
    [
        {"last_ms": -400_000, "since_start": 0},
        {"last_ms": None, "since_start": None},
        {"signature": "zookeeper_silent", "last_ms": -2000, "since_start": 0},
        None,
    ],
)
def test_other_lines_leave_it_open(line):
    found = of_session(line)
    assert found.status is Status.UNKNOWN
    assert "its log, as far as it was read" in found.evidence["error"]


def test_a_log_that_was_not_read_is_what_is_needed():
    assert of_session(None, read=False).evidence["needs"] == "logs"


def test_what_is_not_failed_stays():
    assert judged({}, status=Status.UNKNOWN).status is Status.UNKNOWN
