"""What is left behind, from the first minute to the repair by printed commands: on a real cluster in KRaft mode."""

import pytest

from scenarios import beds
from scenarios.audits import Audits, finding_of
from scenarios.may_table import Table
from testbed.corpus.tools import printed_commands
from testbed.topics import await_reassigned, configure_topic

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test


def statuses(audits, **resources):
    """Return what an audit says of some checks."""
    report = audits.by_command("far", "--all").report
    return {code: finding_of(report, code, resource) for code, resource in resources.items()}


def test_log_dirs_topics_and_an_id(bed, tmp_path):
    cluster = bed.kraft("4.3.0", brokers=3, controllers=1, properties={"initial.broker.registration.timeout.ms": "600000"})
    table, audits = Table(bed, cluster, tmp_path, "4.3.0"), Audits(bed, cluster, tmp_path / "audits")
    for topic in ("orders", "connect-offsets"):
        cluster.create_topic(topic, {0: [0, 1, 2], 1: [1, 2, 0]})
    configure_topic(cluster, "connect-offsets", {"cleanup.policy": "compact"})
    cluster.await_settled()
    alive = {"KA509": "broker/2", "KA621": "topic/connect-offsets"}
    assert {code: found["status"] for code, found in statuses(audits, **alive).items()} == dict.fromkeys(alive, "PASS")

    server = cluster.brokers[2].server
    folder = server.properties["log.dirs"]
    table.tools.demand(
        table.alter("brokers --entity-name 2", f"cordoned.log.dirs={folder}").replace("BOOTSTRAP", table.tools.bootstrap)
    )
    configure_topic(cluster, "connect-offsets", {"cleanup.policy": "delete"})
    left = statuses(audits, KA509="broker/2", KA621="topic/connect-offsets")
    assert {found["status"] for found in left.values()} == {"FAIL"}
    for found in left.values():
        for command in printed_commands(found["remediation"]):
            table.tools.demand(command.replace("BROKER:9092", table.tools.bootstrap))
    healed = statuses(audits, KA509="broker/2", KA621="topic/connect-offsets")
    assert {found["status"] for found in healed.values()} == {"PASS"}, (left, healed)

    cluster.brokers[2].stop()
    server.properties |= {"node.id": "7", "log.dirs": f"{folder}-7"}
    form = f"kafka-storage.sh format --cluster-id {cluster.cluster_id} --config server.properties"
    table.formatted(server, form)
    server.launch()
    table.awaits("broker 7 is listed", lambda: 7 in cluster.views([0])[0].brokers, 300)
    came_back = finding_of(audits.by_command("far").report, "KA115", "broker/2")
    assert (came_back["status"], came_back["evidence"]["new"]) == ("FAIL", 7), came_back
    moved = {f"{topic}_{number}": [0, 1, 7] for topic in ("orders", "connect-offsets") for number in (0, 1)}
    found = table.may(f"reassign {table.plan(**moved)}")
    assert found.answer == "GO", found
    table.done(found)
    await_reassigned(cluster)
    assert [
        row for row in audits.by_command("far").report["findings"] if row["code"] == "KA115" and row["status"] == "FAIL"
    ] == []
