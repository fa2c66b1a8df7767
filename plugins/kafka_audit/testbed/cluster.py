"""A cluster in the bed: one ZooKeeper, brokers on hosts of their own, and the faults that one can put into it."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka_audit.testbed.audit_files import clusters_yaml, write_on_broker
from kafka_audit.testbed.clients import Clients, View
from kafka_audit.testbed.errors import BedError
from kafka_audit.testbed.servers import (
    BROKER_PORT,
    SOFT_STOP_SECONDS,
    ZOOKEEPER_PORT,
    Server,
    broker_properties,
    merged,
    zookeeper,
)

if TYPE_CHECKING:
    from pathlib import Path

    from kafka_audit.testbed.bed import Bed
    from kafka_audit.testbed.hosts import Host
    from kafka_audit.testbed.jars import Release

START_SECONDS = 60.0
STEP_SECONDS = 30.0
ELECTION_SECONDS = 5.0  # below a session time-out, because the others are frozen meanwhile
Properties = Mapping[str, str | None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a cluster is made of: its release, the third byte of its addresses, and the arguments of `Bed.cluster`."""

    version: str
    release: Release
    number: int
    ids: tuple[int, ...]
    chroot: str
    properties: Properties
    per_broker: Mapping[int, Properties]

    @property
    def name(self) -> str:
        """The cluster's folder and the prefix of its hosts' names."""
        return f"kafka-{self.number}" if self.number else "kafka"


class Broker:
    """One broker: its host, its process and its properties."""

    def __init__(self, cluster: Cluster, broker: int, server: Server) -> None:
        """Take the parts; `Cluster` makes them."""
        self.id = broker
        self.server = server
        self._cluster = cluster

    @property
    def host(self) -> Host:
        """Where it runs."""
        return self.server.host

    @property
    def log_dir(self) -> Path:
        """Folder of server.log, controller.log and state-change.log."""
        return self.server.log_dir

    @property
    def address(self) -> str:
        """HOST:PORT that it listens on, whatever it advertises."""
        return f"{self.host.address}:{BROKER_PORT}"

    def start(self) -> None:
        """Start it and wait until it is registered and its port answers."""
        self._cluster.start_brokers([self.id])

    def stop(self, *, hard: bool = False, deadline_s: float = SOFT_STOP_SECONDS) -> None:
        """Stop it with SIGTERM and, after the deadline, SIGKILL; hard: SIGKILL at once (its registration then expires)."""
        self.server.signal_stop(hard=hard)
        self.server.await_end(deadline_s)

    def suspend(self) -> None:
        """Freeze it: the port accepts and does not answer."""
        self.server.suspend()

    def resume(self) -> None:
        """Let it go on."""
        self.server.resume()

    def restart(self, properties: Properties | None = None) -> None:
        """Restart it, keeping its data, with further properties; None takes a key away."""
        self._cluster.restart_brokers({self.id: properties or {}})


class Cluster:
    """One ZooKeeper and its brokers.

    Attributes:
        plan: what it is made of.
        folder: configuration, data and logs of all its servers.
        zookeeper: the ZooKeeper server.
        zookeeper_connect: connection string including the chroot.
        brokers: by id.
    """

    def __init__(self, bed: Bed, plan: Plan, jars: Path) -> None:
        """Make hosts and servers, not yet started; use `Bed.cluster`."""
        self._bed = bed
        self.plan = plan
        self.folder = bed.folder / plan.name
        host = bed.hosts.add(f"{plan.name}-zookeeper", f"10.99.{plan.number}.2")
        self.zookeeper = zookeeper(host, self.folder / "zookeeper", jars)
        self.zookeeper_connect = f"{host.address}:{ZOOKEEPER_PORT}{plan.chroot}"
        self.brokers = {broker: self._make_broker(broker, jars) for broker in plan.ids}
        self._clients = Clients(worker=bed.worker, folder=self.folder, connect=self.zookeeper_connect)
        for server in self._servers():
            server.folder.mkdir(parents=True, exist_ok=True)
        self._on_broker = write_on_broker(self.folder, self.brokers.values())

    def _make_broker(self, broker: int, jars: Path) -> Broker:
        plan, name = self.plan, f"broker-{broker}"
        folder = self.folder / name
        host = self._bed.hosts.add(f"{plan.name}-{name}", f"10.99.{plan.number}.{10 + broker}")
        usual = broker_properties(broker, host, folder, self.zookeeper_connect, brokers=len(plan.ids))
        properties = merged(usual, plan.properties, plan.per_broker.get(broker, {}))
        server = Server(name=name, host=host, folder=folder, jars=jars, main_class="kafka.Kafka", properties=properties)
        return Broker(self, broker, server)

    def _servers(self) -> list[Server]:
        return [self.zookeeper, *(broker.server for broker in self.brokers.values())]

    def start(self) -> None:
        """Start ZooKeeper and all brokers side by side and wait until every broker lists all of them."""
        self._bed.say(f"Kafka {self.plan.version}: starting ZooKeeper and {len(self.brokers)} broker(s)")
        for server in self._servers():
            server.launch()
        self._await_registered(self.brokers)
        self.await_settled()

    def start_brokers(self, ids: Iterable[int]) -> None:
        """Start brokers side by side; first let registrations of an earlier life expire, with which Kafka refuses to start."""
        down = [broker for broker in ids if not self.brokers[broker].server.is_running]
        if down:
            self._clients.zookeeper("wait-unregistered", brokers=down, seconds=STEP_SECONDS)
            for broker in down:
                self.brokers[broker].server.launch()
            self._await_registered(down)

    def restart_brokers(self, properties: Mapping[int, Properties], *, hard: bool = False) -> None:
        """Stop brokers side by side (soft, SIGKILL after a deadline) and start them with further properties, data kept."""
        for broker in properties:
            self.brokers[broker].server.signal_stop(hard=hard)
        deadline = time.monotonic() + SOFT_STOP_SECONDS
        for broker, more in properties.items():
            server = self.brokers[broker].server
            server.await_end(max(0.0, deadline - time.monotonic()))
            server.properties = merged(server.properties, more)
        self.start_brokers(properties)

    def create_topic(self, name: str, assignment: Mapping[int, Sequence[int]]) -> None:
        """Create a topic by its znodes, which works whoever is cut off, and wait until the controller has made its partitions.

        Args:
            name: topic name.
            assignment: replicas by partition, the preferred leader first.
        """
        self._bed.say(f"creating topic {name} with {len(assignment)} partition(s)")
        replicas = {str(partition): list(brokers) for partition, brokers in assignment.items()}
        with_id = self.plan.release.topic_ids
        self._clients.zookeeper("create-topic", seconds=STEP_SECONDS, name=name, assignment=replicas, with_id=with_id)

    def znodes(self) -> dict[str, dict[str, Any]]:
        """Return all paths below the chroot with mzxid, pzxid and a hash: equal twice means that nothing was written between."""
        found: dict[str, dict[str, Any]] = self._clients.zookeeper("znodes", seconds=STEP_SECONDS)
        return found

    def partition_states(self) -> dict[str, dict[str, Any]]:
        """Return ZooKeeper's leader, epoch and ISR of each partition, by ``topic/partition``."""
        found: dict[str, dict[str, Any]] = self._clients.zookeeper("states", seconds=STEP_SECONDS)
        return found

    def controller_id(self) -> int | None:
        """Return the id in /controller, None while there is no controller."""
        found: int | None = self._clients.zookeeper("controller", seconds=STEP_SECONDS)
        return found

    def make_controller(self, broker: int) -> None:
        """Hand the controller's office to a broker.

        The others are frozen while /controller is deleted, so the wanted one alone sees the vacancy: one election, no luck.
        """
        if self.controller_id() == broker:
            return
        self._bed.say(f"making broker {broker} the controller")
        others = [one for one in self.brokers.values() if one.id != broker]
        for other in others:
            other.suspend()
        try:
            self._clients.zookeeper("elect", wanted=broker, seconds=ELECTION_SECONDS)
        finally:
            for other in others:
                other.resume()

    def views(self, ids: Iterable[int] | None = None) -> dict[int, View]:
        """Ask brokers (all that run, unless told which) for their own view, each at the address that it listens on."""
        return self._clients.views(self._addresses(ids))[1]

    def await_settled(self, ids: Iterable[int] | None = None, seconds: float = STEP_SECONDS) -> None:
        """Wait until these brokers' views list all running brokers, one controller and a leader for each partition.

        Raises:
            BedError: they still do not; carries the views.
        """
        running = sum(broker.server.is_running for broker in self.brokers.values())
        settled, views = self._clients.views(self._addresses(ids), settled=running, seconds=seconds)
        if not settled:
            message = f"the brokers' views are not complete after {seconds:.0f} s: {views}; logs in {self.folder}"
            raise BedError(message)

    def forward_address(self, broker: int) -> str:
        """The address, reached by the worker host only, that stands for a broker behind its forward."""
        return f"10.98.{self.plan.number}.{10 + broker}"

    def advertise_through_forward(self, ids: Iterable[int] | None = None) -> None:
        """Let brokers advertise a forward that clients reach and brokers, the controller included, do not.

        They are restarted; the controller is afterwards the broker that it was before. Their own Metadata then lists no
        brokers and controller -1, because the controller cannot tell them.

        Args:
            ids: which brokers; None for all.
        """
        hidden = sorted(self.brokers if ids is None else ids)
        self._bed.say(f"broker(s) {', '.join(map(str, hidden))} now advertise an address that only clients reach")
        for broker in hidden:
            self._bed.forward(self.forward_address(broker), BROKER_PORT, self.brokers[broker].host.address, BROKER_PORT)
        self._advertise({broker: self.forward_address(broker) for broker in hidden})
        seeing = [broker for broker in self.brokers if broker not in hidden and self.brokers[broker].server.is_running]
        if seeing:
            self.await_settled(seeing)

    def advertise_directly(self, ids: Iterable[int] | None = None) -> None:
        """Let brokers (None: all) advertise their own address again, restart them, and wait until all views are complete."""
        chosen = sorted(self.brokers if ids is None else ids)
        self._bed.say(f"broker(s) {', '.join(map(str, chosen))} advertise their own address again")
        self._advertise({broker: self.brokers[broker].host.address for broker in chosen})
        self.await_settled()

    def _advertise(self, addresses: Mapping[int, str]) -> None:
        before = self.controller_id()
        changes = {broker: f"PLAINTEXT://{address}:{BROKER_PORT}" for broker, address in addresses.items()}
        self.restart_brokers({broker: {"advertised.listeners": listeners} for broker, listeners in changes.items()})
        if before is not None:
            self.make_controller(before)

    def vantage_command(self) -> list[str]:
        """Return a command for a vantage in clusters.yaml: runs what follows on the host of ``{broker_id}``.

        To be used from the worker host.
        """
        return [str(self._on_broker), "{broker_id}"]

    def clusters_yaml(self, name: str) -> str:
        """Return the text of a clusters.yaml for an audit from the worker host, with broker vantages, properties and logs."""
        return clusters_yaml(self, name)

    def reap(self) -> None:
        """Collect the exit codes of processes that the bed has ended."""
        for server in self._servers():
            if server.process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    server.process.wait(STEP_SECONDS)

    def _await_registered(self, ids: Iterable[int]) -> None:
        addresses = self._addresses(ids)
        watched = [self.zookeeper, *(self.brokers[broker].server for broker in addresses)]
        self._clients.zookeeper("wait-registered", seconds=START_SECONDS, watched=watched, brokers=addresses)

    def _addresses(self, ids: Iterable[int] | None) -> dict[int, str]:
        chosen = [broker.id for broker in self.brokers.values() if broker.server.is_running] if ids is None else ids
        return {broker: self.brokers[broker].address for broker in chosen}
