"""The bed proved with real servers: what other tests take for granted when they break a cluster."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testbed import Bed, BedError

pytestmark = pytest.mark.bed

REACH = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)"
OWNER = """
import pathlib, sys, time
from testbed import Bed
bed = Bed(pathlib.Path(sys.argv[1]))
cluster = bed.cluster("3.9.1", brokers=1)
bed.forward("10.98.0.10", 9092, "10.99.0.10", 9092)
bed.worker.popen(["sh", "-c", "sleep 300 & setsid sleep 300 & wait"])
print(*(host.namespace for host in (bed.worker, cluster.zookeeper.host, cluster.brokers[0].host)), flush=True)
time.sleep(1e6)
"""


def reaches(host, address, port=9092):
    return host.run([sys.executable, "-c", REACH, address, str(port)]).returncode == 0


def wait_for(condition):
    while not condition():
        time.sleep(0.1)


def members(namespaces):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str((entry / "ns/net").readlink()) in namespaces:
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def test_every_broker_lists_all_and_the_machine_sees_no_bridge(healthy):
    views = healthy.views()
    assert {broker: sorted(view.brokers) for broker, view in views.items()} == {0: [0, 1, 2], 1: [0, 1, 2], 2: [0, 1, 2]}
    assert {view.controller_id for view in views.values()} == {healthy.controller_id()}
    assert sorted(views[1].topics["orders"]) == [0, 1, 2]
    assert "bed0" not in subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True, check=True).stdout


def test_asking_changes_no_znode_and_a_topic_does(healthy):
    before = healthy.znodes()
    healthy.views()
    assert healthy.znodes() == before
    healthy.create_topic("payments", {0: [2, 1]})
    after = healthy.znodes()
    assert "/brokers/topics/payments/partitions/0/state" in set(after) - set(before)
    assert after["/brokers/topics"]["pzxid"] > before["/brokers/topics"]["pzxid"]
    assert healthy.partition_states()["payments/0"]["leader"] == 2


@pytest.mark.smoke
def test_000_a_broker_behind_a_forward_knows_nothing_until_repaired(healthy, bed):
    healthy.make_controller(0)
    healthy.advertise_through_forward([2])
    healthy.create_topic("late", {0: [2, 0, 1]})
    views = healthy.views()
    assert (views[2].error, views[2].brokers, views[2].controller_id, views[2].topics) == (None, {}, -1, {})
    for broker in (0, 1):
        assert views[broker].brokers[2] == "10.98.0.12:9092"
        assert sorted(views[broker].brokers) == [0, 1, 2]
        assert views[broker].controller_id == healthy.controller_id() == 0
    state = healthy.partition_states()["late/0"]
    assert (state["leader"], sorted(state["isr"])) == (2, [0, 1, 2])  # ZooKeeper calls it healthy
    assert reaches(bed.worker, "10.98.0.12")
    assert not any(reaches(broker.host, "10.98.0.12") for broker in healthy.brokers.values())
    log = healthy.brokers[0].log_dir / "controller.log"
    wait_for(lambda: "connection to broker 10.98.0.12:9092 (id: 2 rack: null) was unsuccessful" in log.read_text())
    healthy.advertise_directly([2])
    assert healthy.views()[2].brokers[2] == "10.99.0.12:9092"


@pytest.mark.scenario
def test_000_at_the_controllers_own_endpoint_keeps_it_the_controller(healthy):
    healthy.make_controller(1)
    healthy.advertise_through_forward([1])
    views = healthy.views()
    assert healthy.controller_id() == 1
    assert (views[1].brokers, views[1].controller_id) == ({}, -1)
    assert {len(views[broker].brokers) for broker in (0, 2)} == {3}
    assert {views[broker].controller_id for broker in (0, 2)} == {1}
    healthy.advertise_directly([1])


def test_a_cut_has_one_direction_and_heals(healthy, bed):
    one, two = healthy.brokers[1].host, healthy.brokers[2].host
    bed.cut(one, two)
    bed.cut(bed.worker, two)
    assert not reaches(one, two.address)
    assert not reaches(bed.worker, two.address)
    assert reaches(two, one.address)
    assert reaches(healthy.brokers[0].host, two.address)
    bed.heal(bed.worker, two)
    assert reaches(bed.worker, two.address)
    assert not reaches(one, two.address)
    bed.heal(one, two)
    assert reaches(one, two.address)


def test_a_cut_closes_connections_that_the_cut_off_side_holds(healthy, bed):
    zero, two = healthy.brokers[0].host, healthy.brokers[2].host
    hold = REACH.replace("socket.create", "held = socket.create").replace(", 3)", ", None)")
    hold += "; print('held', flush=True); held.recv(1)"
    away, back = (
        source.popen([sys.executable, "-c", hold, target.address, "9092"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for source, target in ((zero, two), (two, zero))
    )
    assert [holder.stdout.readline() for holder in (away, back)] == ["held\n", "held\n"]
    bed.cut(zero, two)
    assert "ConnectionAbortedError" in away.communicate()[1]
    assert back.poll() is None
    back.kill()
    back.communicate()
    bed.heal(zero, two)


@pytest.mark.scenario
def test_what_a_delayed_host_sends_arrives_later_until_that_ends(healthy, bed):
    def seconds(source, target):
        began = time.monotonic()
        assert reaches(source, target.host.address)
        return time.monotonic() - began

    one, other = healthy.brokers[1], healthy.brokers[2]
    end = bed.delay(other.host, 700)
    assert seconds(one.host, other) > 0.7
    assert seconds(other.host, one) > 0.7
    assert "late0" not in one.host.demand(["ip", "route"])
    end()
    assert "late0" not in other.host.demand(["ip", "route"])
    assert reaches(one.host, other.host.address)


def test_a_killed_broker_stays_registered_until_its_session_ends_and_comes_back(healthy):
    healthy.brokers[1].stop(hard=True)
    assert "/brokers/ids/1" in healthy.znodes()
    assert "KafkaConnectionError" in healthy.views([1])[1].error
    wait_for(lambda: "/brokers/ids/1" not in healthy.znodes())
    healthy.brokers[1].start()
    healthy.await_settled()


def test_a_suspended_broker_accepts_and_does_not_answer(healthy, bed):
    healthy.brokers[2].suspend()
    assert reaches(bed.worker, healthy.brokers[2].host.address)
    assert healthy.views([2])[2].error is not None
    healthy.brokers[2].resume()
    healthy.await_settled()


def test_a_restart_changes_properties_and_keeps_data(healthy):
    broker = healthy.brokers[0]
    assert (broker.server.folder / "data" / "orders-0").is_dir()
    broker.restart({"num.io.threads": "3", "background.threads": None})
    lines = broker.server.config_file.read_text().splitlines()
    assert "num.io.threads=3" in lines
    assert not any(line.startswith("background.threads") for line in lines)
    healthy.await_settled()
    assert (broker.server.folder / "data" / "orders-0").is_dir()


def test_a_vantage_command_runs_a_script_on_that_brokers_host(healthy, bed):
    command = [part.format(broker_id=2) for part in healthy.vantage_command()]
    completed = bed.worker.run([*command, "bash", "-s"], input="ip -brief address show eth0")
    assert healthy.brokers[2].host.address in completed.stdout


def test_a_start_that_fails_says_kafkas_own_words_and_keeps_the_logs(tmp_path):
    kept = tmp_path / "kept"
    with Bed(tmp_path / "bed", keep_logs=kept) as bed:
        with pytest.raises(BedError, match=r"^broker-0 ended while it was starting; logs in ") as caught:
            bed.cluster(brokers=1, properties={"inter.broker.listener.name": "NOWHERE"})
        assert "Listener with name NOWHERE defined in inter.broker.listener.name not found" in str(caught.value)
        assert caught.value.__notes__ == [f"logs kept in {kept}"]
        assert "NOWHERE" in (kept / "kafka" / "broker-0" / "logs" / "server.log").read_text()


def test_nothing_outlives_an_owner_that_was_killed(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    ) as owner:
        namespaces = set(owner.stdout.readline().split())
        assert len(namespaces) == 3
        for expected in ("QuorumPeerMain", "kafka.Kafka", "forwarder.py", "reaper.py", "sleep 300"):
            wait_for(lambda name=expected: any(name in command for command in members(namespaces)))
        owner.send_signal(signal.SIGKILL)
    wait_for(lambda: members(namespaces) == [])


def test_closing_twice_is_fine_and_ends_everything(tmp_path):
    bed = Bed(tmp_path)
    host = bed.hosts.add("lonely", "10.99.0.50")
    namespaces = {bed.worker.namespace, host.namespace}
    sleeper = host.popen(["sh", "-c", "echo there; exec sleep 300"], stdout=subprocess.PIPE)
    assert sleeper.stdout.readline() == "there\n"
    bed.close()
    bed.close()
    assert sleeper.wait() == -signal.SIGKILL
    sleeper.stdout.close()
    assert members(namespaces) == []


@pytest.mark.scenario
def test_000_on_2_8_2_under_a_chroot_with_all_brokers_behind_the_forward(tmp_path):
    with Bed(tmp_path) as bed:
        cluster = bed.cluster("2.8.2", chroot="/streams/kafka", properties={"zookeeper.session.timeout.ms": "3000"})
        assert json.loads(cluster.clusters_yaml("x").splitlines()[2].split(": ", 1)[1]) == "10.99.0.2:2181/streams/kafka"
        cluster.advertise_through_forward()
        cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0]})
        views = {broker: (view.error, view.brokers, view.controller_id) for broker, view in cluster.views().items()}
        assert views == dict.fromkeys((0, 1, 2), (None, {}, -1))
        assert {state["leader"] for state in cluster.partition_states().values()} == {0, 1}
        assert {path.split("/")[3] for path in cluster.znodes() if path.startswith("/brokers/ids/")} == {"0", "1", "2"}
        cluster.advertise_directly()
        assert {len(view.brokers) for view in cluster.views().values()} == {3}
