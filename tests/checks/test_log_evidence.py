"""What brokers' own logs measure: cuts that are else inferred (KA302), and sessions that expired (KA805)."""

from typing import Any

import pytest

from checks.cases import base
from checks.world import snapshots
from kafka_audit.checks import catalogue, run
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES
from kafka_audit.model.finding import Confidence, Judgement, Status

READ_MS = base()["info"]["finished_ms"]
REGISTERED_MS = base()["info"]["started_ms"] - 3_600_000

EMPTY = {"brokers": "none", "topics": "none", "controller_id": -1}
CUT = {
    "probes": [],
    "views": {2: EMPTY},
    "configs": {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer", "super.users": "hidden"},
}
LINE = {"broker": 0, "about": 2, "signature": "connection_not_established", "part": "Controller"}


def judged(code: str, case: dict[str, Any]) -> Judgement:
    """Return what a check says of broker 2, whose super users are hidden."""
    view = ClusterView(*snapshots(base(), "case", case), Differences.from_rows(DIFFERENCES, ()))
    (found,) = [
        judgement for judgement in run.judge(view, {code: catalogue()[code]}) if judgement.resource.startswith("broker/2")
    ]
    return found


def cut(line: dict[str, Any], **case: Any) -> Judgement:
    return judged("KA302", {"now": {**CUT, "logs": [LINE | line]}, **case})


def test_without_a_log_a_cut_is_suspected():
    found = judged("KA302", {"now": CUT})
    assert (found.status, found.confidence) == (Status.FAIL, Confidence.SUSPECTED)


@pytest.mark.parametrize("line", [{}, {"address": "10.0.0.12:9092"}, {"signature": "connection_error"}])
def test_the_controllers_log_measures_it(line):
    found = cut(line)
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
        {"address": "10.0.0.12:9999"},
        {"since_start": 1},
        {"since_start": None, "last_ms": None},
        {"last_ms": READ_MS - 100_000, "since_ms": READ_MS - 110_000},
        {"last_ms": READ_MS - 9_200, "since_ms": READ_MS - 9_400},  # of a start
        {"last_ms": READ_MS + 1_000_000},
    ],
)
def test_other_lines_do_not(line):
    assert cut(line).confidence is Confidence.SUSPECTED


def test_lines_that_have_just_begun_do():
    assert cut({"last_ms": READ_MS - 100, "since_ms": READ_MS - 300}).confidence is Confidence.MEASURED


def test_lines_that_come_every_half_minute_are_not_over_after_ten_seconds():
    line = {"since_start": 3, "since_ms": READ_MS - 80_000, "last_ms": READ_MS - 20_000}
    assert cut(line).confidence is Confidence.MEASURED


@pytest.mark.parametrize(("protocol", "confidence"), [("PLAINTEXT", "measured"), ("SASL_SSL", "suspected")])
def test_unsuccessful_alone_tells_no_cut_from_a_login_that_is_broken_off(protocol, confidence):
    brokers = {b: {"listeners": {"PLAINTEXT": "absent", protocol: f"{protocol}://10.0.0.1{b}:9092"}} for b in range(3)}
    configs = CUT["configs"] | {"security.inter.broker.protocol": protocol}
    line = {
        **LINE,
        "signature": "controller_connection_unsuccessful",
        "part": None,
        "exception": "java.io.IOException: Connection failed.",
        "address": "10.0.0.12:9092",
    }
    found = judged("KA302", {"now": {**CUT, "brokers": brokers, "configs": configs, "logs": [line]}})
    assert found.resource == f"broker/2/listener/{protocol}"
    assert found.confidence.value == confidence


def test_what_is_not_failed_stays():
    assert cut({}, samples=1).status is Status.UNKNOWN


EXPIRED = {"broker": 2, "about": 2, "signature": "session_expired", "matches": 2}


def session(line: dict[str, Any] | None, *, read: bool = True) -> Judgement:
    reads = [{"observer": "logs:2", "operation": "logs server.log"}] if read else []
    now = {"brokers": {2: {"ephemeral_owner": 99}}, "reads": reads, "logs": [] if line is None else [EXPIRED | line]}
    return judged("KA805", {"now": now, "previous": {}})


@pytest.mark.parametrize(
    "line",
    [
        {"last_ms": REGISTERED_MS - 2000, "since_start": 0},
        {"last_ms": REGISTERED_MS + 5000, "since_start": 0},
        {"since_start": 1},
    ],
)
def test_a_session_that_the_log_says_expired_was_no_restart(line):
    found = session(line)
    assert (found.status, found.confidence) == (Status.FAIL, Confidence.MEASURED)
    assert found.evidence["why"].startswith("its log reports 2 expired sessions, last ")


@pytest.mark.parametrize(
    "line",
    [
        {"last_ms": REGISTERED_MS - 400_000, "since_start": 0},
        {"last_ms": None, "since_start": None},
        {"signature": "zookeeper_silent", "last_ms": REGISTERED_MS - 2000, "since_start": 0},
        None,
    ],
)
def test_other_lines_leave_it_open(line):
    found = session(line)
    assert found.status is Status.UNKNOWN
    assert "the part of its log that was read" in found.evidence["error"]


def test_a_log_that_was_not_read_is_what_is_needed():
    assert session(None, read=False).evidence["needs"] == "`logs` of the brokers in the cluster file"
