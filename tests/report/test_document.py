"""findings.json is what its schema and the contract say."""

import json

import pytest
from jsonschema import Draft202012Validator, ValidationError

import small_cluster
from incidents.case_files import case_files
from kafka_audit.model.finding import Change
from kafka_audit.report.document import MOST_CHANGES
from kafka_audit.report.schema import findings_schema
from samples import sampled

SCHEMA = findings_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
CASES = list(case_files())
ONE = {"brokers": {0: "a:9092"}}


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(("family", "name"), sampled(CASES))
def test_a_document_is_valid_also_after_a_round_through_json(audited, family, name):
    document, _ = audited(family, name)
    VALIDATOR.validate(json.loads(json.dumps(document)))


@pytest.mark.parametrize(
    ("family", "name", "waits_for"),
    [
        ("cut_off", "a_host_does_not_reach_what_it_did_before", "a connection from broker 1 to broker 2 (KA302)"),
        ("in_progress", "kraft_still_catches_up", ""),  # nothing measured that a connection is missing
    ],
)
def test_a_copy_that_does_not_move_waits_for_the_connection_that_fails(audited, family, name, waits_for):
    document, _ = audited(family, name)
    assert {row["waits_for"] for row in document["progress"] if row["kind"] == "catch_up"} == {waits_for}


def test_brokers_that_are_not_there_are_counted(audited):
    document, _ = audited("refused", "a_file_that_kafka_refuses")
    assert document["matrix"]["absent"] == [2]
    assert audited("cut_off", "one_broker_measured")[0]["matrix"]["absent"] == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.pop("coverage"),
        lambda d: d.update(surprise=1),
        lambda d: d["findings"][0].update(severity=4),
        lambda d: d["findings"][0].update(status="OK"),
        lambda d: d["incidents"][0].update(findings=[]),
        lambda d: d["incidents"][0].update(cause="unreachable"),
        lambda d: d["coverage"].update(answered=-1),
    ],
)
def test_the_schema_refuses_what_the_contract_does_not_know(audited, spoil):
    document, _ = audited("cut_off", "one_broker_inferred")
    spoil(document)
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)


def test_evidence_is_numbers_lists_and_objects(told):
    evidence = {
        "count": 2,
        "share": 0.5,
        "empty": False,
        "host": "a",
        "from": [0, 1],
        "names": ["a", "b"],
        "at": {"host": "a", "port": 9092},
        "servers": [{"server": "zk1:2181", "error": "timeout"}],
    }
    report, _ = told([small_cluster.finding("KA302", "broker/0", evidence=evidence)], ONE)
    VALIDATOR.validate(report)
    assert report["findings"][0]["evidence"] == json.loads(json.dumps(report))["findings"][0]["evidence"] == evidence


@pytest.mark.parametrize("value", [None, ["a", 1], [["a"]], {"a": {"b": 1}}, {"a": None}])
def test_evidence_of_another_shape_is_not_of_the_schema(told, value):
    report, _ = told([small_cluster.finding("KA302", "broker/0")], ONE)
    report["findings"][0]["evidence"] = {"key": value}
    with pytest.raises(ValidationError):
        VALIDATOR.validate(report)


def test_the_head_names_cluster_snapshot_and_times(audited):
    document, snapshot = audited("cut_off", "one_broker_inferred")
    assert (document["cluster"], document["cluster_id"]) == ("prod", f"id of {snapshot.snapshot_id}")
    assert (document["snapshot_id"], document["previous_snapshot_id"]) == (snapshot.snapshot_id, None)
    assert (document["started_at"], document["finished_at"]) == ("2023-11-14T22:15:00Z", "2023-11-14T22:15:10Z")


def test_coverage_counts_each_read_as_it_ended_last(told):
    refused = {"observer": "zookeeper", "operation": "zookeeper /config", "target": "zk:2181", "error": "NoAuthError"}
    once = {"reads": [{"observer": "broker:0", "operation": "Metadata", "error": "timeout"}]}
    document, _ = told([], small_cluster.snapshot({**ONE, "reads": [refused | {"needs": "read"}]}, before=once))
    assert document["coverage"] == {
        "asked": 15,
        "answered": 14,
        "unknown": [
            {
                "observer": "zookeeper",
                "broker": None,
                "operation": "zookeeper /config",
                "reason": "NOT_AUTHORIZED",
                "target": "zk:2181",
                "error": "NoAuthError",
                "kind": "NoAuthError",
                "needs": "read",
                "untrusted_host": None,
            }
        ],
    }


def test_passes_are_counted_and_listed_only_when_asked_for(told):
    findings = [
        small_cluster.finding("KA105", "broker/0", status="PASS"),
        small_cluster.finding("KA107", "broker/0", status="PASS", lifecycle="resolved"),
        small_cluster.finding("KA208", "cluster", status="NOT_APPLICABLE"),
        small_cluster.finding("KA111", "cluster", status="UNKNOWN"),
    ]
    document, _ = told(findings, ONE)
    assert [f["code"] for f in document["findings"]] == ["KA111", "KA208", "KA107"]
    assert document["counts"] == {"FAIL": 0, "PASS": 2, "UNKNOWN": 1, "NOT_APPLICABLE": 1}
    assert len(told(findings, ONE, show_all=True)[0]["findings"]) == 4


def test_findings_come_worst_first_and_brokers_in_order_of_their_number(told):
    findings = [
        small_cluster.finding("KA105", "broker/10"),
        small_cluster.finding("KA105", "broker/9"),
        small_cluster.finding("KA607", "cluster", severity="LOW"),
        small_cluster.finding("KA101", "broker/1", severity="CRITICAL"),
    ]
    document, _ = told(findings, ONE)
    assert [f["resource"]["name"] for f in document["findings"]] == ["broker/1", "broker/9", "broker/10", "cluster"]


def test_lifecycles_are_counted_for_failures_past_and_present(told):
    findings = [
        small_cluster.finding("KA105", "broker/0"),
        small_cluster.finding("KA105", "broker/1", lifecycle="ongoing"),
        small_cluster.finding("KA105", "broker/2", status="PASS", lifecycle="resolved"),
        small_cluster.finding("KA105", "broker/3", status="UNKNOWN", lifecycle="incomparable"),
        small_cluster.finding("KA105", "broker/4", status="UNKNOWN"),
        small_cluster.finding("KA105", "broker/5", status="PASS"),
    ]
    document, _ = told(findings, ONE)
    assert document["lifecycle_counts"] == {"new": 1, "ongoing": 1, "resolved": 1, "incomparable": 1}


def cut_off(lifecycle="new", *, second="FAIL", first="FAIL"):
    return [
        small_cluster.finding("KA105", "broker/0", status=first, lifecycle=lifecycle),
        small_cluster.finding("KA107", "broker/0", status=second, lifecycle=lifecycle),
    ]


def test_an_incident_is_resolved_when_all_its_findings_are(told):
    before, _ = told(cut_off(), ONE)
    now, _ = told(cut_off("resolved", first="PASS", second="PASS"), ONE, previous=before)
    assert [i["headline"] for i in now["resolved_incidents"]] == [before["incidents"][0]["headline"]]
    assert (now["incidents"], now["incomparable_incidents"]) == ([], [])
    VALIDATOR.validate(now)


def test_an_incident_of_which_something_still_fails_is_not_resolved(told):
    before, _ = told(cut_off(), ONE)
    still = [cut_off("ongoing")[0], cut_off("resolved", second="PASS")[1]]
    now, _ = told(still, ONE, previous=before)
    assert len(now["incidents"]) == 1
    assert (now["resolved_incidents"], now["incomparable_incidents"]) == ([], [])


def test_an_incident_that_could_not_be_judged_is_carried_on_until_it_can(told):
    before, _ = told(cut_off(), ONE)
    blind, _ = told(cut_off("incomparable", first="UNKNOWN", second="UNKNOWN"), ONE, previous=before)
    assert blind["resolved_incidents"] == []
    assert [i["cause"] for i in blind["incomparable_incidents"]] == ["KA105"]
    VALIDATOR.validate(blind)
    healed, _ = told(cut_off("resolved", first="PASS", second="PASS"), ONE, previous=blind)
    assert [i["cause"] for i in healed["resolved_incidents"]] == ["KA105"]


def test_a_storm_of_changes_is_cut_and_says_so(told):
    changes = [
        Change(kind="leader_moved", resource=f"topic/t/partition/{n}", before="0", after="1") for n in range(MOST_CHANGES + 7)
    ]
    document, _ = told([], ONE, changes)
    assert (len(document["changes"]), document["changes_omitted"]) == (MOST_CHANGES, 7)


def test_what_was_never_asked_is_said(told):
    document, _ = told([], ONE)
    assert [text.split(":")[0] for text in document["never_asked"]] == [
        "Whether the brokers reach each other",
        "Whether clients on other hosts reach the brokers",
        "The content of the brokers' server.properties",
        "The content of the brokers' logs",
        "Whether records can be produced and consumed",
        "Anything after 14 Sep 2026 18",
    ]
    reads = [{"observer": "properties:0", "operation": "properties"}, {"observer": "logs:0", "operation": "logs controller.log"}]
    asked, _ = told([], {**ONE, "info": {"broker_vantages": 1, "client_vantages": 2}, "reads": reads})
    assert len(asked["never_asked"]) == 2


def test_controllers_that_were_not_asked_are_told_in_kraft_alone(told):
    kraft = {**ONE, **small_cluster.KRAFT}
    asked = {**kraft, "reads": [{"observer": "controller@c:9093", "operation": "DescribeQuorum"}]}
    said = [[line for line in told([], one)[0]["never_asked"] if "controllers" in line] for one in (ONE, kraft, asked)]
    assert [len(lines) for lines in said] == [0, 1, 0]
