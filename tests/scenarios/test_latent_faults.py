"""Faults of a KRaft cluster that few clients notice yet: found, and gone after what the report advises."""

import pytest

from scenarios.audits import Audits, failing, finding_of
from testbed import Bed
from testbed.topics import (
    abort_transaction,
    await_reassigned,
    configure_topic,
    finalize_feature,
    hang_transaction,
    reassign,
)

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

TOPIC = {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}
CONTROLLER = "200@10.99.0.210:9093"
SETTINGS = {"transaction.partition.verification.enable": "false", "transaction.state.log.num.partitions": "1"}
OTHERS = {"controller.quorum.voters": f"{CONTROLLER},201@10.99.0.211:9093"}
UNCLEAN = "unclean.leader.election.enable"


@pytest.fixture
def parts(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.kraft("3.9.1", brokers=4, controllers=1, properties=SETTINGS, per_broker={0: OTHERS})
        cluster.create_topic("orders", TOPIC)
        cluster.create_topic("__transaction_state", {0: [0, 1, 2]})
        cluster.await_settled()
        yield bed, cluster, Audits(bed, cluster, tmp_path / "audits")


def run(bed, cluster, main_class, *arguments):
    """Run one of Kafka's tools as its script does; those of the kafka-tools jar the bed does not have."""
    server = cluster.brokers[1].server
    bed.worker.demand([*server.java(), main_class, "--bootstrap-server", cluster.brokers[1].address, *arguments])


def test_latent_faults_are_found_and_their_remedies_heal(parts):
    bed, cluster, audits = parts
    configure_topic(cluster, "orders", {UNCLEAN: "true"})
    hang_transaction(cluster, "orders", 1)
    finalize_feature(cluster, "metadata.version", 20, upgrade=False)

    once = audits.by_command("far", "--all")
    where = "topic/orders/partition/1"
    assert finding_of(once.report, "KA614", where)["status"] == "UNKNOWN", "one look: a replay looks the same"
    cluster.produce("orders", 1, 1)
    faulty = audits.by_command("far", "--all")
    codes = {
        ("KA213", "broker/0"),
        ("KA613", "cluster"),
        ("KA614", "topic/orders/partition/1"),
        ("KA711", "cluster"),
        ("KA712", "cluster"),
    }
    assert codes <= failing(faulty.report), faulty.said
    assert failing(faulty.report, at_least="HIGH") == {("KA213", "broker/0"), ("KA614", "topic/orders/partition/1")}
    assert finding_of(faulty.report, "KA613", "cluster")["evidence"]["empty"] == [3]
    features = finding_of(faulty.report, "KA712", "cluster")
    assert (features["evidence"]["finalized"], features["evidence"]["supported"]) == ("3.8", "3.9")
    assert "upgrade --metadata 3.9" in features["remediation"]
    hanging = finding_of(faulty.report, "KA614", where)
    assert (hanging["severity"], hanging["confidence"]) == ("HIGH", "measured")
    assert "abort --topic orders --partition 1 --start-offset 0`" in hanging["remediation"]

    # The bed has no kafka-tools jar: the requests that its commands send.
    abort_transaction(cluster, "orders", 1)
    finalize_feature(cluster, "metadata.version", 21, upgrade=True)
    topic = ("--alter", "--entity-type", "topics", "--entity-name", "orders", "--delete-config", UNCLEAN)
    run(bed, cluster, "kafka.admin.ConfigCommand", *topic)
    reassign(cluster, "orders", 0, [0, 1, 3])
    await_reassigned(cluster)
    cluster.brokers[0].restart({"controller.quorum.voters": CONTROLLER})
    cluster.await_settled()

    healed = audits.by_command("far", "--all")
    assert healed.code == 0, healed.said
    assert {code for code, _ in codes}.isdisjoint(code for code, _ in failing(healed.report)), healed.said
