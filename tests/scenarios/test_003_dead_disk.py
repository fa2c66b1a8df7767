"""Incident 003: one disk of one broker dies, its leaders move, and some clients do not."""

import contextlib
import subprocess
import sys
import time

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing, finding_of, znodes_in
from scenarios.clients.running import KAFKA_PYTHON, NEW_SARAMA, OLD_SARAMA, Producer
from testbed.disks import CHECKPOINT_SECONDS, add_disk
from testbed.jars import RELEASES

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test

TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}, "payments": {0: [0, 2, 1], 1: [0, 1, 2], 2: [1, 0, 2]}}
READER = """
from kafka import KafkaConsumer
import sys
reader = KafkaConsumer("orders", "payments", bootstrap_servers=sys.argv[1:], group_id="billing", client_id="billing-1")
while True:
    reader.poll(timeout_ms=500)
    if reader.assignment():
        print("assigned", flush=True)
"""

# Passes everything on but ListOffsets (api key 2), to which there is never an answer.
WITHOUT_LIST_OFFSETS = """
import socketserver, struct, sys, threading, socket

class Between(socketserver.StreamRequestHandler):
    def handle(self):
        host, _, port = self.server.address.rpartition(":")
        with socket.create_connection((host, int(port))) as broker:
            threading.Thread(target=self.answers, args=(broker,), daemon=True).start()
            while len(head := self.rfile.read(4)) == 4:
                frame = self.rfile.read(struct.unpack(">i", head)[0])
                if struct.unpack(">h", frame[:2])[0] != 2:
                    broker.sendall(head + frame)

    def answers(self, broker):
        try:
            while some := broker.recv(65536):
                self.wfile.write(some)
        except OSError:
            pass  # either end closed

for number, address in enumerate(sys.argv[1:]):
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 9700 + number), Between)
    server.address = address
    threading.Thread(target=server.serve_forever).start()
print("ready", flush=True)
"""


@pytest.fixture(params=["3.9.1"])
def version(request):
    return request.param


@pytest.fixture
def cluster(bed, version):
    return bed.cluster(version) if RELEASES[version].zookeeper else bed.kraft(version, controllers=1)


@pytest.fixture
def disk(cluster):
    """A second disk of broker 0, with replicas on both; the broker is no controller, and leads what it is preferred for."""
    disk = add_disk(cluster, 0)
    for name, assignment in TOPICS.items():
        cluster.create_topic(name, assignment)
    cluster.await_settled()
    return disk


@pytest.fixture
def reader(bed, disk):
    """A consumer group that reads everything."""
    addresses = [broker.address for broker in disk.cluster.brokers.values()]
    process = bed.worker.popen([sys.executable, "-c", READER, *addresses], stdout=subprocess.PIPE, cwd=bed.folder)
    assert process.stdout.readline() == "assigned\n"
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def audits(bed, disk, tmp_path):
    return Audits(bed, disk.cluster, tmp_path / "audits")


def led_on(disk):
    """Partitions on the disk that its broker leads, as `topic-partition`."""
    topics = disk.cluster.views([disk.broker.id])[disk.broker.id].topics
    return {
        f"{topic}-{partition}" for topic, partition in disk.partitions if topics[topic][partition]["leader"] == disk.broker.id
    }


def fill(disk):
    """Fill the disk by what is produced to a partition that its broker leads; return what lay on it, and what was led."""
    held, led = {f"{topic}-{partition}" for topic, partition in disk.partitions}, led_on(disk)
    topic, _, number = next(partition for partition in sorted(led) if not partition.startswith("__")).rpartition("-")
    disk.fill(topic, int(number))
    disk.cluster.await_settled()
    return held, led


def assert_dead(report, disk, held, led):
    """One incident, which names broker, dir, replicas and leaders, and holds every failure of weight."""
    (incident,) = report["incidents"]
    assert (incident["cause"], incident["confidence"], incident["severity"]) == ("KA501", "measured", "CRITICAL")
    assert incident["headline"].startswith("Broker 0 lost log dir ")
    assert incident["headline"].endswith(
        f"/disk-1: {len(held)} replicas offline, {len(led)} leader{'s' * (len(led) > 1)} moved; some clients may fail"
    )
    serious = failing(report, at_least="HIGH")
    assert {failure for failure in serious if failure[0] < "KA6"} == {
        ("KA501", f"broker/0/logdir/{disk.path}"),
        ("KA503", "broker/0"),
        ("KA506", "broker/0"),
    }
    ids = {f["fingerprint"] for f in report["findings"] if (f["code"], f["resource"]["name"]) in serious}
    assert set(incident["findings"]) == ids
    assert finding_of(report, "KA503", "broker/0")["evidence"]["count"] == len(held)
    pinned = finding_of(report, "KA506", "broker/0")
    assert (set(pinned["evidence"]["partitions"]), pinned["confidence"]) == (led, "measured")
    assert finding_of(report, "KA208", "broker/0")["evidence"]["moved"] == len(led)
    text = str(incident)
    assert "no read-only API lists them" in text
    assert "kafka.request.logger" in text
    assert "sarama to 1.43.3 or later" in text


def assert_repaired(report):
    assert report["incidents"] == []
    assert failing(report, at_least="HIGH") == set()
    assert {incident["cause"] for incident in report["resolved_incidents"]} == {"KA501"}


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("version", ["3.9.1", "2.8.2", "4.3.0", "1.1.1"], indirect=True)
def test_a_full_disk_is_named_with_all_that_it_takes_along(audits, cluster, disk):
    """What lay there, who led it, who reads it, and nothing any more once the disk is replaced."""
    whole = audits.by_command("far", "--all")
    assert whole.code == 0, whole.said
    assert finding_of(whole.report, "KA501", f"broker/0/logdir/{disk.path}")["status"] == "PASS"
    assert finding_of(whole.report, "KA104", "broker/0")["status"] == "PASS"
    assert finding_of(whole.report, "KA506", "broker/0")["status"] == "PASS"

    held, led = fill(disk)
    before = znodes_in(cluster) if cluster.zookeeper_connect else None
    dead = audits.by_command("far")
    assert dead.code == 3, dead.said
    assert_dead(dead.report, disk, held, led)
    assert "consumer group billing" in str(dead.report["incidents"])
    assert "billing-1 at 10.99.0.1" in str(dead.report["incidents"])
    assert dead.report["coverage"]["unknown"] == []
    assert before is None or znodes_in(cluster) == before

    disk.replace()
    healed = audits.by_command("far")
    assert healed.code == 0, healed.said
    assert_repaired(healed.report)


def test_a_disk_that_became_read_only_is_as_dead(audits, disk):
    assert audits.by_command("far").code == 0
    held, led = {f"{topic}-{partition}" for topic, partition in disk.partitions}, led_on(disk)
    disk.make_read_only()
    disk.await_offline(CHECKPOINT_SECONDS)
    disk.cluster.await_settled()
    dead = audits.by_command("far")
    assert dead.code == 3, dead.said
    assert_dead(dead.report, disk, held, led)

    again = audits.by_command("far")  # the leaders had moved before: now only the preference tells who led
    assert again.code == 3, again.said
    assert [incident["cause"] for incident in again.report["incidents"]] == ["KA501"]
    pinned = finding_of(again.report, "KA506", "broker/0")
    assert (pinned["lifecycle"], pinned["confidence"]) == ("ongoing", "inferred")

    disk.replace()
    healed = audits.by_command("far")
    assert healed.code == 0, healed.said
    assert_repaired(healed.report)


def test_a_dead_disk_and_an_unreachable_broker_are_two_incidents(audits, cluster, disk):
    cluster.make_controller(1)
    assert audits.by_command("near").code == 0
    fill(disk)
    cluster.advertise_through_forward([2])
    both = audits.by_command("near")
    assert both.code == 3, both.said
    causes = {incident["cause"]: incident for incident in both.report["incidents"]}
    assert set(causes) == {"KA501", "KA302"}
    assert causes["KA501"]["headline"].startswith("Broker 0 lost log dir ")
    assert causes["KA302"]["headline"].startswith("Broker 2 is cut off: ")
    explained = {cause: set(incident["findings"]) for cause, incident in causes.items()}
    assert not explained["KA501"] & explained["KA302"]
    of = {f["fingerprint"]: (f["code"], f["resource"]["name"]) for f in both.report["findings"]}
    assert {of[fingerprint] for fingerprint in explained["KA501"] if of[fingerprint][0] < "KA6"} >= {
        ("KA501", f"broker/0/logdir/{disk.path}"),
        ("KA503", "broker/0"),
        ("KA506", "broker/0"),
    }
    assert {resource.split("/")[1] for code, resource in map(of.get, explained["KA302"]) if code < "KA6"} == {"2"}

    cluster.advertise_directly([2])  # first: a new disk is in place once all views are complete, and that of broker 2 is not
    disk.replace()
    healed = audits.by_command("near")
    assert healed.code == 0, healed.said
    assert failing(healed.report, at_least="HIGH") == set()
    assert {incident["cause"] for incident in healed.report["resolved_incidents"]} == {"KA501", "KA302"}


@pytest.mark.airflow
@pytest.mark.parametrize("version", ["3.9.1", "2.8.2", "4.3.0", "1.1.1"], indirect=True)
def test_the_gate_of_the_dag_fails_for_a_dead_disk_and_passes_after_the_repair(audits, disk):
    assert audits.by_command("near").code == 0
    held, led = fill(disk)
    broken = audits.by_dag("near", "broken.log")
    assert broken.code == 1, broken.tail
    assert_dead(broken.report, disk, held, led)
    assert f"near: {broken.report['incidents'][0]['headline']}" in broken.said

    disk.replace()
    repaired = audits.by_dag("near", "repaired.log")
    assert repaired.code == 0, repaired.tail
    assert_repaired(repaired.report)


def test_what_the_audit_says_of_clients_is_what_they_do(bed, audits, disk):
    """Only sarama before 1.43.3 stays with the old leader, for the partitions that the audit names, until it is restarted."""
    topic = next(partition for partition in sorted(led_on(disk)) if not partition.startswith("__")).rpartition("-")[0]
    count = len(TOPICS[topic])
    where = [broker.address for broker in disk.cluster.brokers.values()], topic, count
    everything = {partition: {"ok"} for partition in range(count)}
    assert audits.by_command("far").code == 0
    with contextlib.ExitStack() as stack:
        producers = {name: stack.enter_context(Producer(bed, name, *where)) for name in (OLD_SARAMA, NEW_SARAMA, KAFKA_PYTHON)}
        for producer in producers.values():
            producer.await_all(count)
        held, led = fill(disk)
        dead = audits.by_command("far")
        moved = {int(partition.rpartition("-")[2]) for partition in led if partition.rpartition("-")[0] == topic}
        assert_dead(dead.report, disk, held, led)
        now = {name: producer.within(5) for name, producer in producers.items()}
        assert now[NEW_SARAMA] == now[KAFKA_PYTHON] == everything, now
        assert {partition for partition, results in now[OLD_SARAMA].items() if "ok" not in results} == moved, now
        assert all("Disk error" in str(now[OLD_SARAMA][partition]) for partition in moved), now

        # The quick repair of the incident.
        assert "Restart the producers that still fail" in str(dead.report["incidents"])
        with Producer(bed, OLD_SARAMA, *where) as again:
            again.await_all(count)


@pytest.fixture
def slow(bed, audits, disk):
    """Audits as «slow», which never get an answer to ListOffsets."""
    addresses = [broker.address for broker in disk.cluster.brokers.values()]
    process = bed.worker.popen([sys.executable, "-c", WITHOUT_LIST_OFFSETS, *addresses], stdout=subprocess.PIPE, cwd=bed.folder)
    assert process.stdout.readline() == "ready\n"
    reach = {address: f"127.0.0.1:{port}" for port, address in enumerate(addresses, 9700)}
    audits.describe("slow", reach=reach, limits={"read_s": 5})
    yield audits
    process.kill()
    process.communicate()


def test_the_only_records_on_a_dead_disk_are_saved_before_it_is_replaced(cluster, disk, slow):
    """Its broker is the whole ISR, so the followers would truncate to the empty log that it leads after the replacement."""
    led = led_on(disk)
    for broker in (1, 2):
        cluster.brokers[broker].stop(hard=True)
    while any(state["isr"] != [0] for partitions in cluster.views([0])[0].topics.values() for state in partitions.values()):
        time.sleep(1)
    topic, _, number = min(led - {name for name in led if name.startswith("__")}).rpartition("-")
    disk.fill(topic, int(number))
    cluster.start_brokers([1, 2])
    dead = slow.by_command("slow")
    assert dead.code == 3, dead.said
    assert finding_of(dead.report, "KA503", "broker/0")["status"] == "UNKNOWN"  # it rests on ListOffsets
    incident = next(found for found in dead.report["incidents"] if found["cause"] == "KA501")
    steps = [(step["kind"], step["text"]) for step in incident["remediation"]]
    kept = next(place for place, (kind, text) in enumerate(steps) if kind == "do_not" and "with an empty disk" in text)
    assert "are lost" in steps[kept][1]
    assert all(place > kept for place, (_, text) in enumerate(steps) if "eplace the disk" in text), steps
    assert all(place > kept for place, (_, text) in enumerate(steps) if "from their leaders" in text), steps

    disk.broker.host.demand(["mount", "-o", "remount,size=400m", str(disk.path)])
    disk.broker.restart()
    cluster.await_settled()
    healed = slow.by_command("slow")
    assert "KA501" not in {incident["cause"] for incident in healed.report["incidents"]}, healed.said
    assert finding_of(healed.report, "KA501", f"broker/0/logdir/{disk.path}")["status"] == "PASS"
