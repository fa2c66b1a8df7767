"""The ensemble by its own word, on three real ZooKeeper servers of which one does not vote."""

import contextlib
import socket
import subprocess
import time
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from kafka_audit.collect.zookeeper import znode_health
from testbed.jars import java, kafka_jars
from testbed.servers import JVM, LOG4J

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

ROLES = {1: "participant", 2: "participant", 3: "observer"}


def free_ports(count):
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [sock.getsockname()[1] for sock in held]


@pytest.fixture
def address(tmp_path):
    ports = free_ports(9)
    peers = {role: ports[3 * (role - 1) : 3 * role] for role in ROLES}
    servers = [f"server.{peer}=127.0.0.1:{quorum}:{election}:{ROLES[peer]}" for peer, (quorum, election, _) in peers.items()]
    with contextlib.ExitStack() as stack:
        for peer, (_, _, client) in peers.items():
            started = stack.enter_context(started_server(tmp_path / str(peer), peer, client, servers))
            stack.callback(started.terminate)
        yield f"127.0.0.1:{peers[1][2]}"


def started_server(folder: Path, number, port, servers):
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "myid").write_text(str(number))
    lines = [f"dataDir={folder / 'data'}", f"clientPort={port}", "clientPortAddress=127.0.0.1", "tickTime=500", "initLimit=20"]
    lines += ["syncLimit=10", "admin.enableServer=false", *servers]
    (folder / "zoo.cfg").write_text("\n".join([*lines, *(["peerType=observer"] if ROLES[number] == "observer" else [])]))
    command = [java(), *JVM, f"-Dbed.logs={folder}", f"-Dlog4j.configuration=file:{LOG4J}", "-cp", f"{kafka_jars('3.9.1')}/*"]
    command += ["org.apache.zookeeper.server.quorum.QuorumPeerMain", str(folder / "zoo.cfg")]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_the_ensemble_lists_its_servers_and_who_votes(address):
    client = KazooClient(hosts=f"{address}/kafka")
    client.start(timeout=300)
    try:
        while not (found := [*znode_health.read_ensemble(client, 1, lambda: 60.0)]):
            time.sleep(0.5)
    finally:
        client.stop()
        client.close()
    assert [(server.server_id, server.host, server.votes) for server in found] == [
        (1, "127.0.0.1", True),
        (2, "127.0.0.1", True),
        (3, "127.0.0.1", False),
    ]
