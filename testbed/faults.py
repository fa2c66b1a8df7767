"""Faults of several steps that are put into a running cluster."""

import shutil
import time
from collections.abc import Iterator
from typing import NamedTuple

from testbed.bed import Bed
from testbed.brokers import STEP_SECONDS, BaseCluster
from testbed.cluster import Cluster
from testbed.errors import BedError
from testbed.hosts import Host
from testbed.kraft import KraftCluster
from testbed.servers import Server


class Step(NamedTuple):
    """A moment of a rolling restart.

    Attributes:
        broker: who is being restarted.
        what: ``stopped`` (still registered, if killed), ``started`` (registered, views may lag) or ``settled``.
    """

    broker: int
    what: str


def rolling_restart(cluster: BaseCluster, *, hard: bool = False) -> Iterator[Step]:
    """Restart one broker after the other, by SIGTERM or SIGKILL, and pause after each step for the caller to look."""
    for broker in cluster.brokers.values():
        broker.stop(hard=hard)
        yield Step(broker.id, "stopped")
        broker.start()
        yield Step(broker.id, "started")
        cluster.await_settled()
        yield Step(broker.id, "settled")


def stale_leader(bed: Bed, cluster: Cluster, stale: int, topic: str = "moved") -> int:
    """Make a broker continue as leader of a partition that the controller has given to another: it gets no update.

    A topic of one partition is created, its preferred leader restarted so that `stale` leads it, the way from the
    controller to `stale` is cut, and the preferred leader elected. Everything else keeps working, `stale`'s own requests
    too. Undo with ``bed.heal(controller, stale)`` and a restart of `stale`.

    Args:
        bed: for the cut.
        cluster: of at least three brokers, whole.
        stale: the broker with the stale view.
        topic: a new topic's name.

    Returns:
        The broker that leads ``<topic>/0`` for all other brokers; the remaining one is the controller.
    """
    leader, controller = [other for other in cluster.brokers if other != stale][:2]
    cluster.make_controller(controller)
    cluster.create_topic(topic, {0: [leader, stale, controller]})
    cluster.brokers[leader].stop()
    cluster.await_led_by_others([f"{topic}/0"], [leader, controller])
    cluster.brokers[leader].start()
    cluster.await_settled()
    cluster.await_in_sync(f"{topic}/0", leader)
    bed.cut(cluster.brokers[controller].host, cluster.brokers[stale].host)
    cluster.elect_preferred([(topic, 0)])
    cluster.await_led_by_others([f"{topic}/0"], [stale])
    cluster.await_settled([leader, controller])
    return leader


def cut_from_quorum(bed: Bed, cluster: KraftCluster, broker: int) -> None:
    """Cut every way between a broker and the rest, controllers included, and wait until the others no longer list it.

    The worker reaches it as before; its view stands still. Undo with `heal_quorum`, it then catches up by itself.

    Raises:
        BedError: the others go on listing it.
    """
    for source, target in _ways(cluster, broker):
        bed.cut(source, target)
    others = [other for other in cluster.brokers if other != broker]
    deadline = time.monotonic() + STEP_SECONDS
    while any(broker in view.brokers for view in cluster.views(others).values()):
        if time.monotonic() > deadline:
            message = f"broker {broker} is still listed {STEP_SECONDS:.0f} s after the cut; logs in {cluster.folder}"
            raise BedError(message)
        time.sleep(LOOK_SECONDS)


def heal_quorum(bed: Bed, cluster: KraftCluster, broker: int) -> None:
    """Undo `cut_from_quorum` and wait until all views are complete."""
    for source, target in _ways(cluster, broker):
        bed.heal(source, target)
    cluster.await_settled()


def _ways(cluster: KraftCluster, broker: int) -> list[tuple[Host, Host]]:
    hosts = cluster.hosts()
    mine = hosts.pop(str(broker))
    return [pair for other in hosts.values() for pair in ((mine, other), (other, mine))]


def cross_forwards(bed: Bed, cluster: Cluster, one: int, other: int, label: str = "CLIENT") -> None:
    """Let two brokers advertise a forward on a client listener, each forward wired to the other broker.

    Brokers keep reaching each other by their inter-broker listener, which must be another one. Both are restarted.
    """
    port = {listener.label: listener.port for listener in cluster.listeners}.get(label)
    if port is None:
        message = f"the cluster has no listener {label} (presets.split has)"
        raise BedError(message)
    for broker, wrong in ((one, other), (other, one)):
        bed.forward(cluster.forward_address(broker), port, cluster.brokers[wrong].host.address, port)
    cluster.restart_brokers({broker: {"advertised.listeners": cluster.advertised(broker, {label})} for broker in (one, other)})
    cluster.await_settled(seconds=STEP_SECONDS)


LOOK_SECONDS = 0.5


def start_second_process(cluster: BaseCluster, broker: int, host: int) -> Server:
    """Start a second process with the id of a broker on another broker's host, at port 9192; the caller ends it."""
    first, place = cluster.brokers[broker].server, cluster.brokers[host].host
    folder = cluster.folder / f"second-{broker}"
    data = folder / "data"
    data.mkdir(parents=True)
    shutil.copy(f"{first.properties['log.dirs']}/meta.properties", data)
    port = str(cluster.brokers[broker].port)
    moved = {
        key: first.properties[key].replace(first.host.address, place.address).replace(f":{port}", ":9192")
        for key in ("listeners", "advertised.listeners")
        if key in first.properties
    }
    properties = first.properties | moved | {"log.dirs": str(data)}
    second = Server(name="second", host=place, folder=folder, jars=first.jars, main_class="kafka.Kafka", properties=properties)
    second.launch()
    return second
