"""Actions that break an edge between brokers in ways that look alike from outside."""

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta

from testbed.audit_files import write_on_node
from testbed.certificates import Certificate
from testbed.corpus.actions import action, advertise
from testbed.corpus.scene import Scene
from testbed.errors import BedError
from testbed.hosts import HERE

LED = ("orders", 2)  # the partition that the broker at fault should lead, in all presets
EMPTY_SECONDS, SHOWN_SECONDS = 8, 90


@action
def trust_stranger(scene: Scene, broker: int) -> None:
    """Let the auditor trust the authority of a broker's certificate, which the other brokers do not trust."""
    if scene.cluster.secured is None:
        message = "this cluster is not secured"
        raise BedError(message)
    ca_file = scene.cluster.secured.authority.ca_file
    both = ca_file.with_name("both-ca.pem")
    shutil.copy(ca_file, both)
    stranger = ca_file.with_name(f"broker-{broker}-stranger-ca.pem")
    both.write_bytes(both.read_bytes() + stranger.read_bytes())
    scene.entry["security"] = {**scene.entry["security"], "ca_file": str(both)}


@action
def misplace_vantage(scene: Scene, broker: int) -> None:
    """Let the probes of all brokers' hosts start at a further host, which does not reach one of the brokers."""
    prefix = next(iter(scene.cluster.brokers.values())).host.address.rpartition(".")[0]
    host = scene.bed.hosts.add(f"{scene.cluster.folder.name}-elsewhere", f"{prefix}.6")
    scene.bed.cut(host, scene.cluster.brokers[broker].host)
    command = ["env", "BROKER={broker_id}", "nsenter", "-t", str(host.holder.pid), "-n", "-m", "--"]
    scene.entry["vantages"] = {"brokers": {"command": command, "role": "broker"}}


@action
def refuse_connections(scene: Scene, broker: int) -> None:
    """Let a broker accept no connection from the other brokers' addresses, by its limit of connections."""
    others = [other.host.address for other in scene.cluster.brokers.values() if other.id != broker]
    limit = {"max.connections.per.ip.overrides": ",".join(f"{address}:0" for address in others)}
    scene.cluster.restart_brokers({broker: limit})
    time.sleep(1)


@action
def advertise_web_server(scene: Scene, broker: int, port: int = 9555) -> None:
    """Start a web server on a broker's host, and let the broker advertise its port."""
    host = scene.cluster.brokers[broker].host
    scene.bed.stay(host, [sys.executable, "-I", str(HERE / "web_server.py"), host.address, str(port)])
    advertise(scene, broker, host.address, port=port, settle=False)


@action
def narrow_paths(scene: Scene, broker: int) -> None:
    """Drop large packets between a broker and the other brokers, in both directions."""
    narrowed = scene.cluster.brokers[broker].host
    for other in scene.cluster.brokers.values():
        if other.id != broker:
            scene.bed.narrow(other.host, narrowed)
            scene.bed.narrow(narrowed, other.host)


@action
def set_clocks(scene: Scene, brokers: list[int], seconds: int) -> None:
    """Restart brokers, one after the other, with a clock that is wrong by this many seconds."""
    library = scene.cluster.folder / "shifted_clock.so"
    source = HERE / "shifted_clock.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True, capture_output=True)
    for broker in brokers:
        scene.cluster.brokers[broker].server.environment = {"LD_PRELOAD": str(library), "BED_CLOCK_SECONDS": str(seconds)}
        scene.cluster.restart_brokers({broker: {}})
        scene.cluster.await_settled()
    variables = {str(broker.id): broker.server.variables for broker in scene.cluster.brokers.values()}
    write_on_node(scene.cluster.folder, scene.cluster.hosts(), variables)  # who looks from there has that clock as well


@action
def renew_certificate(scene: Scene, broker: int) -> None:
    """Give a broker a certificate that is valid since a minute, and restart it."""
    secured = scene.cluster.secured
    if secured is None:
        message = "this cluster is not secured"
        raise BedError(message)
    secured.security = replace(secured.security, certificates={broker: Certificate(valid_since=-timedelta(minutes=1))})
    secured.parties.pop(f"broker-{broker}")
    scene.cluster.restart_brokers({broker: secured.broker_properties(broker, scene.cluster.brokers[broker].host.address)})


@action
def stop_metadata_loader(scene: Scene, broker: int) -> None:
    """KRaft: stop the thread with which a broker applies what it read of the metadata log."""
    server = scene.cluster.brokers[broker].server
    stopper = [sys.executable, "-I", str(HERE / "thread_stopper.py")]
    scene.bed.stay(server.host, [*stopper, str(server.pid), f"kafka-{broker}-metadat"])


@action
def create_wide_topic(scene: Scene, partitions: int) -> None:
    """With ZooKeeper, create a topic of many partitions, so that the controller's request about all does not fit in one packet.

    In KRaft it would hide the fault: a follower stays in sync with what gets no records.
    """
    if scene.cluster.zookeeper_connect is None:
        return
    ids = list(scene.cluster.brokers)
    orders = [[*ids[turn:], *ids[:turn]] for turn in range(len(ids))]
    scene.cluster.create_topic("wide", {number: orders[number % len(ids)] for number in range(partitions)})
    scene.cluster.await_settled()


@action
def show(scene: Scene, broker: int, *, restart: bool = True) -> None:
    """Wait until it shows that other brokers do not reach, enter or follow a broker.

    With ZooKeeper it begins anew, if wanted, and gets nothing from the controller, another broker. In KRaft it leads what it
    should, and no follower fetches from it.
    """
    others = [other for other in scene.cluster.brokers if other != broker]
    if scene.cluster.zookeeper_connect is not None:
        if restart:
            scene.zookeeper.make_controller(others[0])
            scene.cluster.restart_brokers({broker: {}})
        time.sleep(EMPTY_SECONDS)
        return
    deadline = time.monotonic() + SHOWN_SECONDS
    while _leader_and_isr(scene, others[0]) != (broker, [broker]):
        if time.monotonic() > deadline:
            message = f"broker {broker} is not alone in the ISR of {LED}: {_leader_and_isr(scene, others[0])}"
            raise BedError(message)
        if _leader_and_isr(scene, others[0])[0] != broker:
            scene.cluster.ask_topics("elect", at=broker)  # refused as long as it is not in sync
        time.sleep(1)


def _leader_and_isr(scene: Scene, asked: int) -> tuple[int, list[int]]:
    topic, partition = LED
    held = scene.cluster.views([asked])[asked].topics.get(topic, {}).get(partition, {})
    return held.get("leader", -1), sorted(held.get("isr", ()))
