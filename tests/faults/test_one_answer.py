"""One question has one answer, whoever gives it: checks, headline and matrix of one document.

`test_properties` asks whether the matrix contradicts a finding, of all clusters.
"""

from dataclasses import replace

import pytest

from checks.cases import base, cases
from checks.world import World, snapshots
from faults import subjects
from faults.claims import ids_in, ids_in_evidence
from kafka_audit.model.report import Matrix
from kafka_audit.model.tables import LogLine
from kafka_audit.report.parties.matrix import in_words
from reported import part_of
from testbed.corpus.documents import Document, documents


def told(now: World, before: World | None = None) -> Document:
    return documents({"one": snapshots(base(), "one", {"now": now, "before": before or {}})})["one"]


def test_a_host_in_other_letters_is_the_same_to_checks_and_matrix():
    listeners = {broker: {"listeners": {"PLAINTEXT": f"PLAINTEXT://Kafka-{broker}.corp:9092"}} for broker in range(3)}
    listed = {"brokers": {broker: {"host": f"kafka-{broker}.corp"} for broker in range(3)}}
    document = told({"brokers": listeners, "views": dict.fromkeys(range(3), listed)})
    assert {one["status"] for one in document["findings"] if one["code"] in {"KA105", "KA106"}} == {"PASS"}
    assert "V" not in "".join(row["view"] for row in document["matrix"]["observers"])


def test_a_probe_that_failed_once_is_in_no_headline():
    brokers = {3: {"listeners": {"PLAINTEXT": "PLAINTEXT://10.0.0.13:9092"}, "czxid": 130, "mzxid": 130}}
    closed = {"vantage": "brokers", "from": 0, "to": 3, "layer": "tcp", "error": "timeout"}
    at_home = {"vantage": "brokers", "from": 0, "to": 0}
    now = {
        "brokers": brokers,
        "zookeeper": {"controller_id": 2},
        "probes": [closed, {**closed, "from": 1}, {"vantage": "brokers", "from": 2, "to": 3}, at_home],
    }
    before = {"probes": [closed, at_home, *({"vantage": "brokers", "from": source, "to": 3} for source in (1, 2))]}
    document = told(now, before)
    (incident,) = (one for one in document["incidents"] if one["cause"] == "KA302")
    assert ids_in(incident["headline"]) <= ids_in_evidence(document, incident)


def test_a_broker_that_applies_nothing_does_not_lag_because_it_is_cut_off():
    case = cases("KA210")["one_applies_nothing"]
    (incident,) = documents({"one": snapshots(base(), "one", case)})["one"]["incidents"]
    assert incident["headline"] == "Broker 2 most likely reads the metadata log and does not apply it"
    assert incident["confidence"] == "inferred"


def test_a_broker_that_refuses_its_controller_has_a_letter_though_its_port_is_open():
    """And what let its controller in has none, though a setting that no request met yet would refuse it."""
    found = documents({name: subjects.recording(name) for name in ("zookeeper_no_cluster_action", "zookeeper_healthy_login")})
    refused = found["zookeeper_no_cluster_action"]["matrix"]
    assert ("R", "brokers 0, 1: may not act at broker 2 (rights).") in in_words(part_of(Matrix, refused))
    healthy = found["zookeeper_healthy_login"]["matrix"]["observers"]
    assert set("".join(row["reach"] for row in healthy)) <= {".", "-"}


@pytest.mark.parametrize(("silent_ms", "cell"), [(9_200, "-"), (100, "T")])
def test_what_a_controller_wrote_while_a_broker_started_is_over_and_what_it_goes_on_to_write_is_not(silent_ms, cell):
    """Each restart leaves a few such lines of 200 ms: the newer observations decide."""
    now, before = subjects.recording("zookeeper_registration_deleted")
    shift = {"last_ms": silent_ms, "since_ms": silent_ms + 205}
    rows = [
        _moved(row, shift) if isinstance(row, LogLine) and row.about_broker == 2 and row.part != "ReplicaFetcher" else row
        for row in now.rows
    ]
    document = documents({"one": (replace(now, rows=tuple(rows)), before)})["one"]
    rows = {row["name"]: row for row in document["matrix"]["observers"]}
    assert rows["broker 1"]["reach"] == f"..{cell}"
    # What broker 2 lists was read at the address where it answers, which nobody has registered: KA106 judges it as well.
    assert (rows["broker 0"]["view"], rows["broker 2"]["view"]) == ("..-", "..V")


def _moved(line, before_ms):
    return replace(line, **{name: line.read_ms - earlier for name, earlier in before_ms.items()})


def test_a_vantage_that_is_in_another_place_is_a_question_for_check_and_matrix():
    """Its probes fail like those of a host that is cut off, which has a letter."""
    elsewhere, cut_off = "KA302-vantage_in_another_place", "KA302-controller_cannot_reach_broker_2"
    for_all, just_now = "KA302-one_other_host_stands_for_all", "KA302-all_others_are_cut_off_and_nothing_moved_since"
    found = documents({name: subjects.every()[name] for name in (elsewhere, cut_off, for_all, just_now)})
    reach = {name: {row["name"]: row["reach"] for row in document["matrix"]["observers"]} for name, document in found.items()}
    assert reach[elsewhere]["broker 0"] == "?.?"
    assert reach[cut_off]["broker 0"][2] == "T"
    assert {reach[for_all][f"broker {one}"][2] for one in range(3)} == {"?"}
    assert [reach[just_now][f"broker {one}"][2] for one in range(3)] == ["T", "T", "."]


def test_what_views_lack_is_shown_though_one_registration_could_not_be_read():
    """What agrees is a question then, as in KA105; that a view lists the broker of that registration is no difference."""
    unread = {"observer": "zookeeper", "operation": "zookeeper /brokers/ids/2", "error": "unreadable", "needs": "a valid znode"}
    document = told({"brokers": {2: "absent"}, "reads": [unread], "views": {0: {"brokers": {1: "absent"}}}})
    views = {row["name"]: row["view"] for row in document["matrix"]["observers"] if row["note"] not in {"registry", "vantage"}}
    assert (views["broker 0"], views["broker 1"]) == ("?V?", "???")
    assert {one["resource"]["name"]: one["status"] for one in document["findings"] if one["code"] == "KA105"} == {
        "broker/0": "FAIL",
        "broker/1": "UNKNOWN",
    }
