"""Addresses that are proposed are tried before any broker advertises them, and compared with what is advertised afterwards."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml

from scenarios import beds
from scenarios.audits import from_host
from testbed import presets

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test


@pytest.fixture
def cluster(bed):
    cluster = bed.cluster("3.9.1", **presets.split())
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


@pytest.fixture
def gate(bed, cluster, tmp_path):
    """Run a command of the gate, with a client's host as vantage; returns its exit code and report."""
    dmz = bed.hosts.add("dmz", "10.99.0.100")
    entry = yaml.safe_load(cluster.clusters_yaml("prod"))["clusters"]["prod"]
    entry["vantages"] = entry.get("vantages", {}) | {"dmz": from_host(dmz)}
    config = tmp_path / "clusters.yaml"
    config.write_text(json.dumps({"clusters": {"prod": entry}}))

    def run(command, *options):
        where = ["--config", str(config), "--out", str(tmp_path / "store"), "--format", "json"]
        command = [sys.executable, "-m", "kafka_audit.cli", command, "prod", *where, *options]
        completed = bed.worker.popen(command, stdout=subprocess.PIPE, cwd=tmp_path)
        output, _ = completed.communicate()
        return SimpleNamespace(code=completed.returncode, report=json.loads(output))

    return run


def told(items):
    return {(finding["code"], finding["source"], finding["resource"]): finding["message"] for finding in items}


def test_a_wrong_address_is_found_before_it_is_advertised_and_a_right_one_is_compared_with(bed, cluster, gate):
    port = cluster.listeners[0].port
    new = {broker: f"{cluster.forward_address(broker)}:{port}" for broker in cluster.brokers}
    right = [option for broker, address in new.items() for option in ("--advertised", f"{broker}: CLIENT://{address}")]
    for broker, started in cluster.brokers.items():
        bed.forward(cluster.forward_address(broker), port, started.host.address, port)

    wrong = gate(
        *("before-migration", "--kind", "new-network", "--vantage", "dmz"),
        *("--advertised", "0: CLIENT://kafka-0.invalid:9092"),
        *("--advertised", f"1: CLIENT://{new[2]}"),
        *("--advertised", f"2: INTERNAL://{cluster.forward_address(2)}:{port + 2}"),
    )
    assert (wrong.code, wrong.report["verdict"]) == (3, "no-go")
    blockers = told(wrong.report["blockers"])
    warnings = told(wrong.report["warnings"])  # that the worker does not reach it either; others must
    for who, found in (("worker", warnings), ("dmz", blockers)):
        unresolved = found["KA301", f"vantage {who}", "broker/0/listener/CLIENT"]
        assert unresolved.startswith(f"{who} does not reach kafka-0.invalid:9092, the proposed address of broker 0: dns, ")
    assert blockers["KA111", "vantage worker", "broker/1/listener/CLIENT"].endswith("leads worker to broker 2")
    assert "no route" in blockers["KA301", "vantage dmz", "broker/1/listener/CLIENT"]
    assert warnings["KA301", "vantage worker", "broker/2/listener/INTERNAL"].startswith("No process listens yet")
    open_questions = told(wrong.report["not_known"])
    assert "whether the other brokers reach" in open_questions["KA301", "proposed addresses", "broker/2/listener/INTERNAL"]

    go = gate("before-migration", "--kind", "new-network", *right)
    assert (go.code, go.report["verdict"]) == (0, "go"), go.report["headline"]
    reached = told(go.report["information"])
    for broker, address in new.items():
        message = f"worker reaches {address}, the proposed address of broker {broker}, and that broker answers"
        assert reached["KA301", "vantage worker", f"broker/{broker}/listener/CLIENT"] == message

    idle = gate("after-migration")
    assert (idle.code, idle.report["verdict"]) == (3, "not as expected")
    assert idle.report["not_done"] == [
        f"Broker {broker} does not advertise the proposed CLIENT://{address}." for broker, address in new.items()
    ]

    settings = {broker: {"advertised.listeners": cluster.advertised(broker, {"CLIENT"})} for broker in cluster.brokers}
    cluster.restart_brokers(settings)
    cluster.await_settled()
    result = gate("after-migration")
    assert result.report["not_done"] == []
    changed = {change["resource"]: change["after"] for change in result.report["meant"] if change["kind"] == "endpoint"}
    assert changed == {f"broker/{broker}/listener/CLIENT": f"PLAINTEXT://{address}" for broker, address in new.items()}
    assert result.report["not_meant"] == []
