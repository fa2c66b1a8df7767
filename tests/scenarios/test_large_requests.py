"""Probes of large requests at real brokers: each release answers and logs nothing; a path that loses them is named."""

import re
import time

import pytest

from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.targets import CONTROLLER_LISTENER, UNREGISTERED, Target
from kafka_audit.collect.probes import command_vantages
from kafka_audit.model.cluster import Cluster
from scenarios import beds
from scenarios.audits import Audits, everything_in, evidence_of, failing, finding_of
from testbed import presets
from testbed.security import Security

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test

RELEASES = ["1.1.1", "2.8.2", "3.9.1", "4.3.0"]
SENT = re.compile(r"([0-9]+) bytes sent, ([0-9]+) received")
AT_2 = "broker/2/listener/PLAINTEXT"


def started(bed, version, **options):
    return bed.kraft(version, **options) if version.startswith("4.") else bed.cluster(version, **options)


def probed(cluster, *, protocol="PLAINTEXT", identity=True):
    """Return the bytes that were sent from broker 0's host to broker 2, and those of the answer; None if none were."""
    end = Target(
        broker_id=2 if identity else UNREGISTERED,
        listener="L" if identity else CONTROLLER_LISTENER,
        protocol=protocol,
        host=cluster.brokers[2].host.address,
        port=9092,
        via=None,
    )
    script = command_vantages.python_text([end], 10.0, ClusterLogins(Cluster(name="none"), {}))
    output = cluster.brokers[0].host.run(["python3", "-"], input=script, cwd="/").stdout
    steps = {step.layer: step for step in command_vantages.parse_probe_output(output, [end])[0]}
    assert {step.outcome for step in steps.values()} == {"ok"}, steps
    return tuple(map(int, SENT.fullmatch(steps["packets"].detail).groups())) if "packets" in steps else None


def complaints(cluster):
    """Return the warnings and errors of a broker."""
    text = "".join(path.read_text(errors="replace") for path in cluster.brokers[2].log_dir.glob("*.log"))
    assert " INFO " in text
    return [line for line in text.splitlines() if re.search(r"\b(WARN|ERROR|FATAL)\b", line)]


@pytest.mark.parametrize("version", RELEASES)
def test_each_release_answers_and_logs_nothing(bed, version):
    cluster = started(bed, version)
    kraft = version.startswith("4.")
    before, lines = None if kraft else everything_in(cluster), complaints(cluster)
    sent, received = probed(cluster)
    assert (sent > 9001, received > 4096) == (True, True)
    alone = probed(cluster, identity=False)
    assert alone is None if version == "1.1.1" else alone[0] > 9001
    assert complaints(cluster) == lines
    assert kraft or everything_in(cluster) == before


@pytest.mark.parametrize("version", RELEASES)
def test_each_release_answers_before_a_login_and_logs_nothing(bed, version):
    authorizer = version != "1.1.1"  # the bed's is of a later release
    security = Security(listeners=(presets.SCRAM,), inter_broker=presets.SCRAM.label, authorizer=authorizer)
    cluster = started(bed, version, security=security)
    lines = complaints(cluster)
    sent, _ = probed(cluster, protocol="SASL_PLAINTEXT")
    assert sent > 9001
    assert complaints(cluster) == lines


def assert_clean(audit):
    assert audit.code == 0, audit.said
    assert failing(audit.report, at_least="HIGH") == set()
    assert {found["status"] for found in audit.report["findings"] if found["code"] == "KA302"} <= {"PASS"}


def test_a_path_that_loses_large_packets(bed, tmp_path):
    """The controller's updates about 120 partitions do not arrive at broker 2, which keeps the leaders that it knew."""
    cluster = bed.cluster("3.9.1")
    cluster.create_topic("wide", {number: [[1, 0, 2], [0, 1, 2]][number % 2] for number in range(120)})
    cluster.await_settled()
    audits = Audits(bed, cluster, tmp_path / "audits")
    assert_clean(audits.by_command("near"))

    cluster.make_controller(0)
    cluster.await_settled()
    controller, cut_off = cluster.brokers[0].host, cluster.brokers[2].host
    bed.narrow(controller, cut_off)
    bed.narrow(cut_off, controller)
    cluster.brokers[1].stop(hard=True)
    time.sleep(20)  # its session ends, and its partitions get other leaders
    cluster.brokers[1].start()
    cluster.await_settled([0, 1])
    audit = audits.by_command("near")
    assert audit.code == 3, audit.said
    finding = finding_of(audit.report, "KA302", AT_2)
    assert (finding["confidence"], finding["evidence"]["cause"]) == ("measured", "packets"), finding
    (incident,) = [incident for incident in audit.report["incidents"] if finding["fingerprint"] in incident["findings"]]
    assert incident["headline"] == "Broker 2 is cut off from controller 0: a path that drops large packets"
    assert any("packets fails, timeout" in line for line in evidence_of(incident))

    bed.heal(controller, cut_off)
    bed.heal(cut_off, controller)
    cluster.await_settled()
    assert_clean(audits.by_command("near"))


def test_a_limit_that_closes_the_controllers_connections(bed, tmp_path):
    cluster = bed.cluster("3.9.1")
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [2, 0, 1]})
    cluster.await_settled()
    audits = Audits(bed, cluster, tmp_path / "audits")
    assert_clean(audits.by_command("near"))
    others = [broker.host.address for broker in cluster.brokers.values() if broker.id != 2]
    cluster.restart_brokers({2: {"max.connections.per.ip.overrides": ",".join(f"{address}:0" for address in others)}})
    time.sleep(8)
    audit = audits.by_command("near")
    assert audit.code == 3, audit.said
    finding = finding_of(audit.report, "KA302", AT_2)
    assert (finding["confidence"], finding["evidence"]["cause"]) == ("measured", "limit"), finding
    (incident,) = [incident for incident in audit.report["incidents"] if finding["fingerprint"] in incident["findings"]]
    assert any("connection closed at once" in line for line in evidence_of(incident))

    cluster.restart_brokers({2: {"max.connections.per.ip.overrides": None}})
    cluster.await_settled()
    assert_clean(audits.by_command("near"))
