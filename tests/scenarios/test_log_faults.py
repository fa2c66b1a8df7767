"""Faults of running clusters that no audit is there for: they are provoked, and named from what real processes write."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafka_audit.cli import main
from scenarios import beds
from testbed.jars import java, tool_jars
from testbed.servers import LOG4J

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test

SECONDS = 70  # what lasts for a minute counts
NOISE = """
import socket, sys, threading, time
from kafka import KafkaProducer
broker, zookeeper = (address.rpartition(":") for address in sys.argv[1:])
held = []

def http(address):
    with socket.create_connection((address[0], int(address[2])), 3) as sent:
        sent.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
        sent.settimeout(3)
        sent.recv(1)

def hold(address, count):
    if len(held) < count:
        held.append(socket.create_connection((address[0], int(address[2])), 3))
    else:
        held.pop(0).close()

def produce():
    producer = KafkaProducer(bootstrap_servers="".join(broker), acks="all", retries=0, max_block_ms=4000)
    producer.send("orders", b"x").get(4)

def again(act, *given):
    while True:
        try:
            act(*given)
        except Exception:
            pass
        time.sleep(2)

acts = [(http, broker), (produce,), (http, zookeeper), (hold, zookeeper, 6)]
for act, *given in acts:
    threading.Thread(target=again, args=(act, *given), daemon=True).start()
print("ready", flush=True)
time.sleep(600)
"""

FILES = """
import socket, sys, time
held = []
for _ in range(40):
    try:
        held.append(socket.create_connection((sys.argv[1], int(sys.argv[2])), 1))
    except OSError:
        pass
print("ready", flush=True)
time.sleep(60)
"""


def diagnosed(capsys, *files):
    """Return the faults that logs name, each with what is listed beside it."""
    assert main(["logs", *map(str, files), "--format", "json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["unknown"] == []
    return {one["fault"]: " ".join(one["also"]) for one in found["incidents"]}


def java_client(bed, cluster, name, address):
    """Start a console consumer that reads at an address, and return the file of its log."""
    folder = cluster.folder / name
    folder.mkdir()
    logs = [f"-Dbed.logs={folder}", f"-Dlog4j.configuration=file:{LOG4J}"]
    command = [java(), "-Xmx64m", *logs, "-cp", f"{tool_jars(cluster.plan.version)}/*"]
    consumer = "org.apache.kafka.tools.consumer.ConsoleConsumer"
    bed.worker.popen([*command, consumer, "--bootstrap-server", address, "--topic", "orders"], stdout=subprocess.DEVNULL)
    return folder / "server.log"


def lack_files(broker):
    """Let the process open few files more than it has."""
    pid = broker.server.pid
    most = len(list(Path(f"/proc/{pid}/fd").iterdir())) + 5
    subprocess.run(["prlimit", "--pid", str(pid), f"--nofile={most}:{most}"], check=True)


def test_what_lasts_for_a_minute_is_named(bed, capsys):
    local = {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,LOCAL:PLAINTEXT", "inter.broker.listener.name": "PLAINTEXT"}
    cluster = bed.cluster("3.9.1", properties={"min.insync.replicas": "3", **local})
    first, second, third = cluster.brokers.values()
    cluster.create_topic("orders", {0: [0, 1, 2]})
    cluster.create_topic("only", {0: [2]})
    cluster.create_topic("other", {0: [1]})  # its leader goes when the minute is over, and the others are tried again
    both = f"{first.server.properties['listeners']},LOCAL://{first.host.address}:9999"
    first.restart({"listeners": both, "advertised.listeners": f"PLAINTEXT://{first.address},LOCAL://localhost:1"})
    cluster.await_settled()
    cluster.make_controller(0)
    cluster.zookeeper.signal_stop()
    cluster.zookeeper.await_end()
    cluster.zookeeper.properties["maxClientCnxns"] = "3"
    cluster.zookeeper.launch()
    cluster.await_settled()
    third.stop(hard=True)
    bed.stay(bed.worker, [sys.executable, "-c", NOISE, first.address, cluster.zookeeper_connect], line="ready")
    led = java_client(bed, cluster, "led", f"{first.host.address}:9999")
    lost = java_client(bed, cluster, "lost", f"{first.host.address}:1")
    time.sleep(SECONDS)
    lack_files(second)
    held = bed.stay(bed.worker, [sys.executable, "-c", FILES, second.host.address, str(second.port)], line="ready")
    time.sleep(5)
    held.kill()
    second.stop(hard=True)
    time.sleep(15)
    named = diagnosed(capsys, *first.log_dir.glob("*.log"))
    assert set(named) == {"broker_gone", "another_protocol_at_port"}
    assert "too few replicas in sync" in named["broker_gone"]
    assert "Partition only-0 has no leader" in named["broker_gone"]
    assert set(diagnosed(capsys, *second.log_dir.glob("*.log"))) == {"too_many_open_files"}
    assert set(diagnosed(capsys, *cluster.zookeeper.log_dir.glob("*.log"))) == {"zookeeper_packet", "zookeeper_connections"}
    assert set(diagnosed(capsys, led)) == {"client_led_to_its_own_host"}
    assert set(diagnosed(capsys, lost)) == {"client_not_connected"}
