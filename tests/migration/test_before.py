"""Go, no-go and not decided, and what each rests on."""

import json
from datetime import UTC, datetime

import pytest

import audit_history
import small_cluster
from audit_history import History, cut_off
from kafka_audit.migration import before, plain_text, plan
from kafka_audit.migration.proposed_listeners import ProposedListeners
from kafka_audit.model.errors import UsageError

NOW = datetime(2026, 9, 14, 7, tzinfo=UTC)
WHOLE = audit_history.CLUSTER | {
    "configs": {
        n: {"inter.broker.protocol.version": "3.9-IV0", "log.dirs": "/data", "authorizer.class.name": ""} for n in range(4)
    }
}


@pytest.fixture
def decide():
    """Decide on a cluster after an audit with some failures."""

    def run(*failures, cluster=WHOLE, audit=None, **planned):
        document = History().audit(*failures, **(audit or {}))
        kind = planned.pop("kind", "zookeeper-to-kraft")
        made = plan.plan(kind, **{"node_ids": [3000]} | planned)
        return before.report_before_change(document, small_cluster.view(cluster), made, ProposedListeners(), NOW)

    return run


def codes(items):
    return {(one["code"], one["resource"]) for one in items}


def test_an_incident_is_a_blocker_whatever_is_planned(decide):
    report = decide(*cut_off(1), kind="moving-hosts")
    assert report["verdict"] == "no-go"
    assert ("KA302", "broker/1/listener/PLAINTEXT") in codes(report["blockers"])
    assert report["headline"].startswith("NO-GO for prod, moving hosts: 2 blockers, first KA")


def test_nothing_in_the_way_and_nothing_open_is_a_go(decide):
    report = decide(kind="moving-hosts")
    assert (report["verdict"], report["blockers"]) == ("go", [])
    assert report["headline"] == "GO for prod, moving hosts: no failure of severity HIGH or above, 32 of 32 reads answered"


def test_how_strict_decides_what_blocks(decide):
    weak = ("KA105", "broker/1", "MEDIUM", {})
    assert decide(weak, kind="moving-hosts")["verdict"] == "go"
    assert decide(weak, kind="moving-hosts", strict="medium")["verdict"] == "no-go"
    assert decide(*cut_off(1), kind="moving-hosts", strict="critical")["verdict"] == "no-go"


@pytest.mark.parametrize("severity", ["MEDIUM", "INFO"])
@pytest.mark.parametrize("kind", ["rolling-upgrade", "moving-hosts", "listeners-or-security", "zookeeper-to-kraft"])
def test_no_broker_is_restarted_while_a_partition_is_at_min_isr(decide, kind, severity):
    """What-if says of a broker in its ISR that it may not be stopped; replicas that may be catching up make it INFO."""
    at_min = ("KA603", "topic/orders/partition/0", severity, {})
    assert ("KA603", "topic/orders/partition/0") in codes(decide(at_min, kind=kind, version="3.9.1")["blockers"])


def test_a_partition_at_min_isr_does_not_hinder_a_change_of_the_quorum(decide):
    at_min = ("KA603", "topic/orders/partition/0", "MEDIUM", {})
    assert ("KA603", "topic/orders/partition/0") in codes(decide(at_min, kind="controller-certificates")["warnings"])


def test_a_lost_replica_above_min_isr_is_a_warning(decide):
    """The nearest harmless one: any broker may be stopped, and acks=all is still accepted."""
    lost = ("KA604", "topic/orders/partition/0", "MEDIUM", {})
    assert decide(lost, kind="moving-hosts")["verdict"] == "go"


def test_what_is_muted_blocks_nothing(decide):
    mutes = [{"code": code, "resource": "*", "reason": "r", "owner": "o"} for code in ("KA302", "KA105")]
    assert decide(*cut_off(1), kind="moving-hosts", audit={"mutes": mutes})["verdict"] == "go"


def test_checks_of_the_migration_run_for_the_migration_only(decide):
    old = {n: {"inter.broker.protocol.version": "2.8-IV1"} for n in range(4)}
    cluster = WHOLE | {"configs": old}
    report = decide(cluster=cluster)
    assert {("KA901", f"broker/{n}") for n in range(4)} <= codes(report["blockers"])
    assert decide(cluster=cluster, kind="moving-hosts")["verdict"] == "go"


def test_an_open_question_of_the_migration_is_no_go_ahead(decide):
    report = decide(node_ids=[])
    assert report["verdict"] == "not decided"
    assert ("KA910", "cluster") in codes(report["not_known"])
    assert report["headline"].startswith("NOT DECIDED for prod, ZooKeeper to KRaft: ")


def test_a_node_id_of_a_broker_is_a_blocker(decide):
    assert ("KA910", "node/2") in codes(decide(node_ids=[2, 3000])["blockers"])


def test_offline_partitions_of_the_audit_are_told_by_the_migration_too(decide):
    report = decide(("KA101", "broker/1", "CRITICAL", {}))
    assert {("KA101", "broker/1"), ("KA905", "check/KA101")} <= codes(report["blockers"])


def test_a_vantage_that_must_reach_the_brokers_and_does_not_is_a_blocker(decide):
    probes = [{"to": 0, "vantage": "dmz"}, {"to": 1, "vantage": "dmz", "layer": "tcp", "error": "no route to host"}]
    report = decide(cluster=small_cluster.snapshot(WHOLE | {"probes": probes}, before={}), kind="new-network", vantages=["dmz"])
    assert [one["message"] for one in report["blockers"]] == ["dmz does not reach 10.99.0.11:9092: tcp, no route to host"]


def test_a_probe_that_failed_once_is_an_open_question_as_in_an_audit(decide):
    probes = [{"to": 0, "vantage": "dmz"}, {"to": 1, "vantage": "dmz", "layer": "tcp", "error": "no route to host"}]
    report = decide(cluster=WHOLE | {"probes": probes}, kind="new-network", vantages=["dmz"])
    assert (report["verdict"], report["blockers"]) == ("not decided", [])
    (one,) = report["not_known"]
    assert one["message"].endswith("10.99.0.11:9092 (tcp: in motion: tcp failed once with no route to host)")


def test_a_vantage_that_nobody_described_is_an_open_question(decide):
    report = decide(kind="new-network", vantages=["dmz"])
    assert report["verdict"] == "not decided"
    assert [one["source"] for one in report["not_known"]] == ["vantage dmz"]


def test_a_proposed_file_that_kafka_refuses_is_a_blocker(decide, tmp_path):
    file = tmp_path / "server.properties"
    file.write_text("broker.id=0\nzookeeper.connect=zk:2181\nlisteners=PLAINTEXT://:9092,PLAINTEXT://:9093\n")
    report = decide(kind="listeners-or-security", proposed=[str(file)], version="3.9.1")
    assert report["verdict"] == "no-go"
    assert ("KA310", "broker/0") in codes(report["blockers"])
    assert {one["source"] for one in report["blockers"]} == {f"proposed {file}"}


def test_proposed_files_that_change_nothing_of_weight_are_a_go(decide, tmp_path):
    for n in range(4):
        lines = ("zookeeper.connect=zk:2181", "listeners=PLAINTEXT://:9092", f"advertised.listeners=PLAINTEXT://b{n}:9092")
        (tmp_path / f"{n}.properties").write_text("\n".join((f"broker.id={n}", *lines)))
    report = decide(kind="moving-hosts", proposed=[str(tmp_path)], version="3.9.1")
    assert report["verdict"] == "go", report["not_known"]


def test_an_address_of_a_proposed_file_is_not_told_by_the_file_and_by_the_trials(decide, tmp_path):
    file = tmp_path / "0.properties"
    file.write_text("broker.id=0\nzookeeper.connect=zk:2181\nadvertised.listeners=PLAINTEXT://localhost:9092\n")
    report = decide(kind="rolling-upgrade", proposed=[str(file)], version="3.9.1")  # nothing was tried here
    assert not [one for one in (*report["blockers"], *report["warnings"]) if one["code"] in {"KA303", "KA304"}]


def test_a_proposed_file_that_is_not_there_is_wrong_usage(decide):
    with pytest.raises(UsageError, match="nowhere"):
        decide(kind="listeners-or-security", proposed=["/nowhere/server.properties"])


def test_the_text_has_blockers_first_and_obeys_nobody(decide):
    report = decide(("KA101", "broker/1", "CRITICAL", {"topic": "\x1b[2J<b>\u202e"}), node_ids=[])
    told = plain_text.before_change_text(report, width=80)
    lines = told.splitlines()
    assert lines[0].startswith("NO-GO for prod")
    assert lines.index("BLOCKERS (2)") < next(n for n, line in enumerate(lines) if line.startswith("NOT KNOWN"))
    assert not {"\x1b", "\u202e"} & set(told)


def test_a_report_is_json(decide):
    assert json.loads(json.dumps(decide()))["plan"]["kind"] == "zookeeper-to-kraft"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"kind": "zookeeper"}, "'zookeeper' is not a kind of change; choose zookeeper-to-kraft, .*"),
        ({"kind": "rolling-upgrade", "strict": "hihg"}, "'hihg' is not a severity"),
        ({"kind": "rolling-upgrade", "node_ids": ["three"]}, "node ids: .*three"),
        ({"kind": "rolling-upgrade", "version": "seven"}, "seven"),
        ({"kind": "rolling-upgrade", "version": "9"}, r"kafka-audit has no rules for Kafka 9; use 1\.0 to "),
    ],
)
def test_a_plan_that_makes_no_sense_is_one_line(wrong, says):
    with pytest.raises(UsageError, match=says):
        plan.plan(wrong.pop("kind"), **wrong)


def test_a_plan_survives_json():
    made = plan.plan("new-network", node_ids=["3000"], proposed=["a"], version="3.9.1", vantages=["dmz"], strict="MEDIUM")
    assert plan.Plan.from_dict(json.loads(json.dumps(made.as_dict()))) == made
