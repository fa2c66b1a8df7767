"""A cluster with ZooKeeper: one ZooKeeper, brokers on hosts of their own, and the faults that one can put into it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testbed.brokers import START_SECONDS, STEP_SECONDS, BaseCluster, Broker, Plan
from testbed.clients import Clients
from testbed.secured import ZOOKEEPER_TLS_PORT
from testbed.security import scram_credential
from testbed.servers import ZOOKEEPER_PORT, Server, broker_properties, zookeeper

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from testbed.acls import Acl
    from testbed.bed import Bed
    from testbed.hosts import Host

ELECTION_SECONDS = 5.0  # below a session time-out, because the others are frozen meanwhile
AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"


class Cluster(BaseCluster):
    """One ZooKeeper and its brokers.

    Attributes:
        zookeeper: the ZooKeeper server.
        zookeeper_connect: connection string including the chroot.
        beside: servers that were started beside it later and end with it, as the controllers of a migration.
    """

    zookeeper_connect: str

    def __init__(self, bed: Bed, plan: Plan, jars: Path) -> None:
        """Make hosts and servers, not yet started; use `Bed.cluster`."""
        super().__init__(bed, plan)
        self.beside: list[Server] = []
        host = bed.hosts.add(f"{plan.name}-zookeeper", f"10.99.{plan.number}.2")
        self.zookeeper = zookeeper(host, self.folder / "zookeeper", jars)
        self.zookeeper.folder.mkdir(parents=True, exist_ok=True)
        tls = plan.security is not None and plan.security.zookeeper_tls
        self.zookeeper_connect = f"{host.address}:{ZOOKEEPER_TLS_PORT if tls else ZOOKEEPER_PORT}{plan.chroot}"
        if self.secured:
            self.secured.secure_zookeeper(self.zookeeper)
        self.brokers = {broker: self._broker(broker, jars) for broker in plan.ids}
        options = self.secured.zookeeper_options() if self.secured else {}
        self._owner = str(options.pop("owner", ""))
        self._clients = Clients(worker=bed.worker, folder=self.folder, connect=self.zookeeper_connect, options=options)
        self._write_vantage()

    def _broker(self, broker: int, jars: Path) -> Broker:
        plan, folder = self.plan, self.folder / f"broker-{broker}"
        host = self._bed.hosts.add(f"{plan.name}-broker-{broker}", f"10.99.{plan.number}.{10 + broker}")
        usual = broker_properties(broker, host, folder, self.zookeeper_connect, brokers=len(plan.ids))
        if plan.security and plan.security.authorizer:
            usual["authorizer.class.name"] = AUTHORIZER
        made = self._make_broker(broker, jars, host, usual)
        if self.secured:
            self.secured.secure_zookeeper_client(made.server, broker)
        return made

    def hosts(self) -> dict[str, Host]:
        """Return brokers' hosts by id, and ZooKeeper's as ``zk``."""
        return super().hosts() | {"zk": self.zookeeper.host}

    def _servers(self) -> list[Server]:
        return [self.zookeeper, *(broker.server for broker in self.brokers.values()), *self.beside]

    def start(self) -> None:
        """Start ZooKeeper and all brokers side by side and wait until every broker lists all, or as `Plan.settle` has it."""
        self._bed.say(f"Kafka {self.plan.version}: starting ZooKeeper and {len(self.brokers)} broker(s)")
        self.zookeeper.launch()
        if self.plan.security:
            self._seed()
        if self.plan.controller is not None:
            self.start_brokers([self.plan.controller])
        for server in self._servers():
            server.launch()
        self._await_up(self.brokers)
        self._settle()

    def _seed(self) -> None:
        """Write users and ACLs, which brokers read when they start."""
        security = self.plan.security
        if security and (configs := security.scram_configs()):
            self._clients.zookeeper("users", seconds=START_SECONDS, watched=[self.zookeeper], configs=configs, owner=self._owner)
        if security and security.acls:
            self.put_acls(security.acls)

    def put_acls(self, acls: Iterable[Acl]) -> None:
        """Add ACL entries, and notify running brokers."""
        entries = [acl.as_arguments() for acl in acls]
        self._clients.zookeeper("acls", seconds=START_SECONDS, watched=[self.zookeeper], put_in=entries, taken=[])

    def drop_acls(self, acls: Iterable[Acl]) -> None:
        """Remove ACL entries, and notify running brokers."""
        entries = [acl.as_arguments() for acl in acls]
        self._clients.zookeeper("acls", seconds=STEP_SECONDS, put_in=[], taken=entries)

    def put_scram_user(self, user: str, password: str, mechanism: str = "SCRAM-SHA-512") -> None:
        """Add a SCRAM user or change the password, and notify running brokers."""
        configs = {user: {mechanism: scram_credential(mechanism, password)}}
        self._clients.zookeeper("users", seconds=STEP_SECONDS, configs=configs, owner=self._owner)

    def drop_scram_user(self, user: str) -> None:
        """Remove a user's SCRAM credentials, and notify running brokers; open connections stay authenticated."""
        self._clients.zookeeper("users", seconds=STEP_SECONDS, configs={user: {}}, owner=self._owner)

    def create_topic(self, name: str, assignment: Mapping[int, Sequence[int]]) -> None:
        """Create a topic by its znodes, also with brokers cut off, and wait until the controller has made its partitions.

        Args:
            name: topic name.
            assignment: replicas by partition, the preferred leader first.
        """
        self.create_topics({name: assignment})

    def create_topics(self, topics: Mapping[str, Mapping[int, Sequence[int]]]) -> None:
        """Create topics, by name, all at once and otherwise as `create_topic` does."""
        for name, assignment in topics.items():
            self._bed.say(f"creating topic {name} with {len(assignment)} partition(s)")
        assignments = {
            name: {str(partition): list(brokers) for partition, brokers in assignment.items()}
            for name, assignment in topics.items()
        }
        with_ids = self.plan.release.topic_ids
        self._clients.zookeeper("create-topics", seconds=STEP_SECONDS, topics=assignments, with_ids=with_ids)

    def format_disk(self, broker: int, path: Path) -> None:
        """Do nothing: with ZooKeeper a broker takes any empty dir."""

    def znodes(self) -> dict[str, dict[str, Any]]:
        """Return all paths below the chroot with mzxid, pzxid and a hash: equal twice means that nothing was written between."""
        found: dict[str, dict[str, Any]] = self._clients.zookeeper("znodes", seconds=STEP_SECONDS)
        return found

    def write_znodes(self, znodes: Mapping[str, str | None]) -> dict[str, str | None]:
        """Write raw text into znodes without a notification of brokers (None removes one), and return what undoes it."""
        before: dict[str, str | None] = self._clients.zookeeper("write", seconds=STEP_SECONDS, znodes=dict(znodes))
        return before

    def load_zookeeper(self, writes: int) -> None:
        """Write a znode of the bed's own this many times, without waiting for one answer before the next request."""
        self._clients.zookeeper("load", seconds=STEP_SECONDS, writes=writes)

    def partition_states(self) -> dict[str, dict[str, Any]]:
        """Return ZooKeeper's leader, epoch and ISR of each partition, by ``topic/partition``."""
        found: dict[str, dict[str, Any]] = self._clients.zookeeper("states", seconds=STEP_SECONDS)
        return found

    def controller_id(self) -> int | None:
        """Return the id in /controller, None while there is no controller."""
        found: int | None = self._clients.zookeeper("controller", seconds=STEP_SECONDS)
        return found

    def controller_epoch(self) -> int:
        """Return the number in /controller_epoch."""
        found: int = self._clients.zookeeper("controller-epoch", seconds=STEP_SECONDS)
        return found

    def make_controller(self, broker: int) -> None:
        """Make a broker the controller.

        The other brokers are frozen while /controller is deleted, so only this broker takes part in the election.
        """
        if self.controller_id() == broker:
            return
        self._bed.say(f"making broker {broker} the controller")
        others = [other for other in self.brokers.values() if other.id != broker]
        for other in others:
            other.suspend()
        try:
            self._clients.zookeeper("elect", wanted=broker, seconds=ELECTION_SECONDS)
        finally:
            for other in others:
                other.resume()

    def elect_preferred(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Have the controller give (topic, partition) pairs to their preferred leaders, where those are in the ISR."""
        pairs = [list(partition) for partition in partitions]
        self._clients.zookeeper("prefer", seconds=STEP_SECONDS, partitions=pairs)

    def await_led_by_others(self, partitions: Sequence[str], than: Iterable[int]) -> None:
        """Wait until ZooKeeper has partitions, written ``topic/partition``, led by none of these brokers."""
        self._clients.zookeeper("await-leader", seconds=STEP_SECONDS, partitions=list(partitions), not_one_of=list(than))

    def await_in_sync(self, partition: str, broker: int) -> None:
        """Wait until ZooKeeper has a broker in the ISR of a partition, written ``topic/partition``."""
        self._clients.zookeeper("await-in-sync", seconds=STEP_SECONDS, partition=partition, broker=broker)

    def grow_ensemble(self) -> dict[int, Server]:
        """Make three ZooKeeper servers of one, which keeps its data; return them by `myid`."""
        first, prefix = self.zookeeper, self.zookeeper.host.address.rpartition(".")[0]
        servers = {1: first}
        for number in (2, 3):
            name = f"zookeeper-{number}"
            host = self._bed.hosts.add(f"{self.plan.name}-{name}", f"{prefix}.{1 + number}")
            servers[number] = zookeeper(host, self.folder / name, first.jars)
        members = {f"server.{number}": f"{server.host.address}:2888:3888" for number, server in servers.items()}
        first.signal_stop()
        first.await_end()
        for number, server in servers.items():  # the first one joins in each majority, because the others begin without data
            server.properties |= members | {"initLimit": "20", "syncLimit": "10"}
            data = Path(server.properties["dataDir"])
            data.mkdir(parents=True, exist_ok=True)
            (data / "myid").write_text(str(number))
            server.launch()
            time.sleep(1)
        self.beside += [server for number, server in servers.items() if number > 1]
        return servers

    def use_ensemble(self, servers: Iterable[Server]) -> None:
        """Let audits, the bed's own client and brokers know all of these servers; brokers are restarted for it."""
        self.zookeeper_connect = ",".join(f"{server.host.address}:{ZOOKEEPER_PORT}" for server in servers) + self.plan.chroot
        self._clients = replace(self._clients, connect=self.zookeeper_connect)
        self.restart_brokers({broker: {"zookeeper.connect": self.zookeeper_connect} for broker in self.brokers})

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
            for listener in self.listeners:
                self._bed.forward(self.forward_address(broker), listener.port, self.brokers[broker].host.address, listener.port)
        self._advertise(hidden, {listener.label for listener in self.listeners})
        seeing = [broker for broker in self.brokers if broker not in hidden and self.brokers[broker].server.is_running]
        if seeing:
            self.await_settled(seeing)

    def advertise_directly(self, ids: Iterable[int] | None = None) -> None:
        """Let brokers (None: all) advertise their own address again, restart them, and wait until all views are complete."""
        chosen = sorted(self.brokers if ids is None else ids)
        self._bed.say(f"broker(s) {', '.join(map(str, chosen))} advertise their own address again")
        self._advertise(chosen, set())
        self.await_settled()

    def advertised(self, broker: int, forwarded: Collection[str]) -> str:
        """Return a broker's ``advertised.listeners``: listeners with these labels at its forward, the others directly."""
        own, forward = self.brokers[broker].host.address, self.forward_address(broker)
        return ",".join(
            f"{listener.label}://{forward if listener.label in forwarded else own}:{listener.port}" for listener in self.listeners
        )

    def _advertise(self, brokers: Iterable[int], forwarded: Collection[str]) -> None:
        before = self.controller_id()
        self.restart_brokers({broker: {"advertised.listeners": self.advertised(broker, forwarded)} for broker in brokers})
        if before is not None:
            self.make_controller(before)

    def _await_gone(self, ids: Sequence[int]) -> None:
        self._clients.zookeeper("wait-unregistered", brokers=list(ids), seconds=STEP_SECONDS)

    def _await_up(self, ids: Iterable[int]) -> None:
        addresses = self._addresses(ids)
        watched = [self.zookeeper, *(self.brokers[broker].server for broker in addresses)]
        self._clients.zookeeper("wait-registered", seconds=START_SECONDS, watched=watched, brokers=addresses)
