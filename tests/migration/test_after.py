"""What changed, what was meant to, what was not."""

from datetime import UTC, datetime

import pytest

import small_cluster
from audit_history import CLUSTER, History, cut_off
from kafka_audit.migration import after, plain_text, plan
from kafka_audit.model.cluster import Keep
from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.report import report_json
from kafka_audit.store import Store
from kafka_audit.store.baselines import Baselines
from reported import report_of

NOW = datetime(2026, 9, 15, 7, tzinfo=UTC)


def change(kind, resource, before="a", after="b"):
    return {"kind": kind, "resource": resource, "before": before, "after": after}


@pytest.fixture
def compare():
    """Compare a cluster with its baseline after some changes and failures."""

    def run(kind, *changes, failures=(), now=CLUSTER, advertised=()):
        history = History()
        history.audit()
        document = report_of(report_json(history.audit(*failures)) | {"changes": [*changes]})
        baseline = {
            "plan": plan.plan(kind).as_dict(),
            "advertised": [{"sample": 0, "protocol": ""} | address for address in advertised],
        }
        return after.report_after_change(document, small_cluster.snapshot(CLUSTER), small_cluster.snapshot(now), baseline, NOW)

    return run


def test_what_a_plan_means_is_as_meant(compare):
    report = compare(
        "listeners-or-security",
        change("endpoint", "broker/1/listener/PLAINTEXT"),
        change("config", "broker/1/config/advertised.listeners"),
        change("leader_moved", "topic/orders/partition/0"),
        change("controller", "cluster"),
    )
    assert report["verdict"] == "as expected"
    assert report["headline"].startswith("AS EXPECTED for prod, listener or security change: 4 expected changes")


def test_what_changed_besides_is_not(compare):
    report = compare(
        "rolling-upgrade", change("config", "broker/1/config/log.retention.hours", "168", "1"), change("acl", "cluster")
    )
    assert report["verdict"] == "not as expected"
    assert [change["resource"] for change in report["not_meant"]] == ["broker/1/config/log.retention.hours", "cluster"]
    text = plain_text.after_change_text(report, width=100)
    assert "NOT EXPECTED (2)\n    config broker/1/config/log.retention.hours: 168 -> 1" in text


def test_a_new_failure_is_not_as_meant(compare):
    report = compare("moving-hosts", change("broker_went", "broker/1"), failures=cut_off(2))
    assert report["verdict"] == "not as expected"
    assert {finding["code"] for finding in report["new"]} == {"KA302", "KA105"}


def test_a_migration_that_did_not_end_is_not_done(compare):
    report = compare("zookeeper-to-kraft")
    assert report["verdict"] == "not as expected"
    assert "The migration is not complete" in report["not_done"][0]


def test_a_migration_that_ended_changes_the_mode(compare):
    settings = [change("config", f"broker/0/config/{key}") for key in ("process.roles", "zookeeper.connect", "node.id")]
    report = compare("zookeeper-to-kraft", *settings, now=CLUSTER | small_cluster.KRAFT)
    assert report["verdict"] == "as expected"
    assert report["meant"][0] == {"kind": "mode", "resource": "cluster", "before": "zookeeper", "after": "kraft"}


def test_a_store_keeps_baselines_and_finds_the_newest(tmp_path):
    baselines = Baselines(tmp_path)
    for hour in ("06", "07"):
        baselines.keep({"snapshot_id": f"20260914T{hour}0000Z-prod-00aa", "plan": {"kind": "rolling-upgrade"}})
    baselines.keep({"snapshot_id": "20260914T080000Z-stage-00aa", "plan": {"kind": "rolling-upgrade"}})
    assert baselines.find("prod")["snapshot_id"] == "20260914T070000Z-prod-00aa"
    assert baselines.find("prod", "20260914T060000Z-prod-00aa")["snapshot_id"] == "20260914T060000Z-prod-00aa"
    with pytest.raises(SnapshotError, match="no baseline of cluster 'test'; create one with kafka-audit before-migration test"):
        baselines.find("test")
    (tmp_path / "baselines" / "20260914T070000Z-prod-00aa.json").write_text("{")
    with pytest.raises(SnapshotError, match="is not a valid baseline"):
        baselines.find("prod")


def test_a_baseline_outlives_the_snapshots_around_it(tmp_path):
    store = Store(tmp_path)
    for hour in range(10):
        snapshot_id = f"20260914T{hour:02}0000Z-prod-00aa"
        store.write(small_cluster.snapshot(CLUSTER, snapshot_id))
    Baselines(tmp_path).keep({"snapshot_id": "20260914T010000Z-prod-00aa", "plan": {"kind": "rolling-upgrade"}})
    store.prune("prod", Keep(snapshots=3), NOW)
    left = [manifest.snapshot_id[9:11] for manifest in store.manifests()][::-1]
    assert left == ["01", "07", "08", "09"]


def test_a_proposed_address_that_nobody_advertises_was_not_done(compare):
    proposed = [{"broker_id": 1, "listener": "PLAINTEXT", "host": "Kafka-1", "port": 9092}]
    elsewhere = change("endpoint", "broker/1/listener/PLAINTEXT", "PLAINTEXT://10.99.0.11:9092", "PLAINTEXT://kafka-2:9092")
    elsewhere["addresses_after"] = [{"host": "kafka-2", "port": 9092}]
    report = compare("new-network", elsewhere, advertised=proposed)
    assert report["not_meant"] == [elsewhere]
    assert report["not_done"] == ["Broker 1 does not advertise the proposed PLAINTEXT://Kafka-1:9092."]

    now = CLUSTER | {"brokers": CLUSTER["brokers"] | {1: "kafka-1:9092"}}
    change_made = change("endpoint", "broker/1/listener/PLAINTEXT", "PLAINTEXT://10.99.0.11:9092", "PLAINTEXT://kafka-1:9092")
    change_made["addresses_after"] = [{"host": "kafka-1", "port": 9092}]
    report = compare("new-network", change_made, advertised=proposed, now=now)
    assert (report["verdict"], report["meant"]) == ("as expected", [change_made])
