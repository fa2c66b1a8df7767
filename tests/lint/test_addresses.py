"""Addresses that files advertise."""

import pytest

from kafka_audit.cli import main

BROKER = """broker.id={broker}
zookeeper.connect=zk:2181
listeners=PLAINTEXT://:9092
advertised.listeners={advertised}
log.dirs=/data
offsets.topic.replication.factor=2
transaction.state.log.replication.factor=2
"""


@pytest.fixture
def lint(tmp_path, capsys):
    def run(*advertised):
        for broker, address in enumerate(advertised):
            (tmp_path / f"server-{broker}.properties").write_text(BROKER.format(broker=broker, advertised=address))
        code = main(["lint", str(tmp_path)])
        return code, capsys.readouterr().out

    return run


def test_an_address_that_is_each_hosts_own_is_told_at_its_line(lint):
    code, output = lint("PLAINTEXT://localhost:9092")
    assert code == 0
    assert "MEDIUM    KA303  Clients on other hosts may not reach broker 0" in output
    assert "4 | advertised.listeners=PLAINTEXT://localhost:9092" in output


def test_two_files_of_a_cluster_with_one_address(lint):
    code, output = lint("PLAINTEXT://k0.example:9092", "PLAINTEXT://k0.example:9092")
    assert code == 3
    assert "CRITICAL  KA304  Brokers 0 and 1 advertise the same address k0.example:9092" in output


@pytest.mark.parametrize("address", ["PLAINTEXT://kafka-{}:9092", "PLAINTEXT://k{}.example:9092", "PLAINTEXT://${{HOST}}:9092"])
def test_names_that_may_mean_the_same_to_all_are_no_fault(lint, address):
    code, output = lint(address.format(0), address.format(1))
    assert code == 0
    assert "KA303  " not in output
    assert "KA304  " not in output


def test_a_placeholder_is_not_the_address_that_a_broker_binds(lint, tmp_path, capsys):
    for broker in range(2):
        text = BROKER.format(broker=broker, advertised="PLAINTEXT://${HOST}:9092").replace("//:9092", "//0.0.0.0:9092")
        (tmp_path / f"server-{broker}.properties").write_text(text)
    assert main(["lint", str(tmp_path), "--all"]) == 0
    flat = " ".join(capsys.readouterr().out.split())
    assert "unknown KA304 Cannot determine whether any broker shares an address with another broker" in flat
    assert "(advertised.listeners contains a placeholder)" in flat
    assert "wildcard" not in flat
    code, output = lint("PLAINTEXT://0.0.0.0:9092", "PLAINTEXT://0.0.0.0:9092")
    assert code == 3
    assert "CRITICAL  KA304" in output


def test_names_of_a_chart_and_combined_roles_are_mentioned(lint, tmp_path, capsys):
    code, output = lint(*(f"PLAINTEXT://kafka-{broker}.kafka-headless.ns.svc.cluster.local:9092" for broker in range(2)))
    assert code == 0
    flat = " ".join(output.split())
    assert "LOW KA316 Clients outside Kubernetes cannot resolve any advertised name of broker 0 (PLAINTEXT)" in flat
    assert "4 | advertised.listeners=PLAINTEXT://kafka-0.kafka-headless.ns.svc.cluster.local:9092" in output
    file = tmp_path / "combined.properties"
    file.write_text(
        "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@k1.example:9093\ncontroller.listener.names=CONTROLLER\n"
        "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\nadvertised.listeners=PLAINTEXT://k1.example:9092\n"
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\nlog.dirs=/data\n"
    )
    assert main(["lint", str(file)]) == 0
    flat = " ".join(capsys.readouterr().out.split())
    assert "LOW KA215 Broker and controller run in one process (combined mode) on broker 1" in flat
