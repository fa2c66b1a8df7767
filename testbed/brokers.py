"""The brokers of a cluster in the bed, however they find each other: start, stop, ask."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from testbed.audit_files import clusters_yaml, write_on_node
from testbed.errors import BedError
from testbed.secured import Secured
from testbed.security import ADMIN, Listener, Security
from testbed.servers import SOFT_STOP_SECONDS, Server, merged

if TYPE_CHECKING:
    from pathlib import Path

    from testbed.bed import Bed
    from testbed.clients import Clients, View
    from testbed.hosts import Host
    from testbed.jars import Release

START_SECONDS = 600.0  # waits end when what they wait for is there: a busy machine needs ten times what a quiet one does
STEP_SECONDS = 300.0
Properties = Mapping[str, str | None]


class Options(TypedDict, total=False):
    """What `Bed.cluster` and `Bed.kraft` take beside the size of a cluster; all may be left out or None.

    Attributes:
        properties: for all brokers, over those of `servers.broker_properties`; None takes a key away.
        per_broker: for single brokers, over `properties` and `security`.
        security: listeners, users, certificates, authorizer; None: one PLAINTEXT listener, everything allowed.
        settle: whose views must list all brokers before a start counts; None for everyone's. A faulty cluster's never
            do: with () registration and open ports suffice.
        metadata_release: the metadata.version with which storage is formatted (KRaft); None for that of the release.
        controller: the broker that starts before the others and so becomes the first controller; None: the fastest one.
        dynamic: KRaft: whether the voters are in the metadata log from the format on (3.9), and in no file.
        named_controllers: KRaft: whether controllers are known by names, which the hosts files of all hosts have.
    """

    properties: Properties | None
    per_broker: Mapping[int, Properties] | None
    security: Security | None
    settle: Iterable[int] | None
    controller: int | None
    dynamic: bool
    named_controllers: bool
    metadata_release: str | None


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
    security: Security | None = None
    settle: tuple[int, ...] | None = None
    controller: int | None = None
    controllers: int = 0
    dynamic: bool = False
    named_controllers: bool = False
    metadata_release: str | None = None

    @property
    def name(self) -> str:
        """The cluster's folder and the prefix of its hosts' names."""
        return f"kafka-{self.number}" if self.number else "kafka"


class Broker:
    """One broker: its host, its process and its properties."""

    def __init__(self, cluster: BaseCluster, broker: int, server: Server, port: int) -> None:
        """Take the parts; the cluster makes them."""
        self.id = broker
        self.server = server
        self.port = port
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
        """HOST:PORT that it listens on, whatever it advertises; of several listeners, the one that the bed asks."""
        return f"{self.host.address}:{self.port}"

    @property
    def open_address(self) -> str:
        """`address`, or that of its first listener where a fault took the usual one away."""
        ports = re.findall(r":(\d+)", self.server.properties.get("listeners", ""))
        return self.address if not ports or str(self.port) in ports else f"{self.host.address}:{ports[0]}"

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


class BaseCluster(ABC):
    """Brokers on hosts of their own.

    Attributes:
        plan: what the cluster is made of.
        folder: configuration, data and logs of all its servers.
        zookeeper_connect: ZooKeeper's connection string including the chroot; None in KRaft.
        controller_addresses: HOST:PORT that KRaft controllers listen on.
        secured: its security, None where all is PLAINTEXT and open.
        brokers: by id.
    """

    zookeeper_connect: str | None = None
    controller_addresses: tuple[str, ...] = ()
    _clients: Clients

    def __init__(self, bed: Bed, plan: Plan) -> None:
        """Take what every cluster has; subclasses make the servers."""
        self._bed = bed
        self.plan = plan
        self.folder = bed.folder / plan.name
        self.secured = Secured(security=plan.security, folder=self.folder) if plan.security else None
        self.brokers: dict[int, Broker] = {}

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """What every broker listens on."""
        return self.plan.security.listeners if self.plan.security else (Listener(),)

    @abstractmethod
    def start(self) -> None:
        """Start all servers and wait until every broker lists all of them, or as `Plan.settle` has it."""

    @abstractmethod
    def create_topic(self, name: str, assignment: Mapping[int, Sequence[int]]) -> None:
        """Create a topic with these replicas by partition, the preferred leader first."""

    @abstractmethod
    def format_disk(self, broker: int, path: Path) -> None:
        """Make an empty disk, mounted on a broker's host, fit to be one of its log dirs."""

    def hosts(self) -> dict[str, Host]:
        """Return hosts by the names that the command line has for them."""
        return {str(broker.id): broker.host for broker in self.brokers.values()}

    @abstractmethod
    def _servers(self) -> list[Server]:
        """Return all servers."""

    @abstractmethod
    def _await_gone(self, ids: Sequence[int]) -> None:
        """Wait until brokers may start again."""

    @abstractmethod
    def _await_up(self, ids: Iterable[int]) -> None:
        """Wait until brokers are registered and their ports answer."""

    def _make_broker(self, broker: int, jars: Path, host: Host, usual: Mapping[str, str]) -> Broker:
        plan, folder = self.plan, self.folder / f"broker-{broker}"
        folder.mkdir(parents=True, exist_ok=True)
        secure = self.secured.broker_properties(broker, host.address) if self.secured else {}
        properties = merged(usual, secure, plan.properties, plan.per_broker.get(broker, {}))
        server = Server(name=folder.name, host=host, folder=folder, jars=jars, main_class="kafka.Kafka", properties=properties)
        for logins in (plan.security.tokens, plan.security.tickets) if plan.security else ():
            server.jvm = [*server.jvm, *(logins.jvm if logins else ())]
        port = plan.security.listener().port if plan.security else Listener().port
        return Broker(self, broker, server, port)

    def _settle(self) -> None:
        """After a start: wait for the views that the plan names; a faulty cluster's are never all complete."""
        if self.plan.settle is None or self.plan.settle:
            self.await_settled(self.plan.settle)

    def _write_vantage(self) -> None:
        self._on_node = write_on_node(self.folder, self.hosts())

    def start_brokers(self, ids: Iterable[int]) -> None:
        """Start brokers side by side; first let registrations of an earlier life expire, with which Kafka refuses to start."""
        down = [broker for broker in ids if not self.brokers[broker].server.is_running]
        if down:
            self._await_gone(down)
            for broker in down:
                self.brokers[broker].server.launch()
            self._await_up(down)

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

    def heal_security(self, broker: int) -> None:
        """Restart a broker with everything right of what the cluster's `Security` has, and wait until all views are complete.

        Raises:
            BedError: the cluster is not secured, or does not get well by that.
        """
        if self.secured is None:
            message = "this cluster is not secured"
            raise BedError(message)
        self.brokers[broker].restart(self.secured.right_properties(broker, self.brokers[broker].host.address))
        self.await_settled()

    def views(self, ids: Iterable[int] | None = None, user: str = ADMIN) -> dict[int, View]:
        """Ask brokers (default: all that run) for their own view, each at the address that it listens on.

        Args:
            ids: which brokers.
            user: of a secured cluster, who asks; on an SSL listener the common name of a client certificate.
        """
        return self._clients.views(self._addresses(ids), options=self._options(user))[1]

    def await_settled(self, ids: Iterable[int] | None = None, seconds: float = STEP_SECONDS) -> None:
        """Wait until these brokers' views list all running brokers, one controller and a leader for each partition.

        Raises:
            BedError: they still do not; carries the views.
        """
        running = sum(broker.server.is_running for broker in self.brokers.values())
        addresses, options = self._addresses(ids), self._options(ADMIN)
        settled, views = self._clients.views(addresses, settled=running, seconds=seconds, options=options)
        if not settled:
            message = f"the brokers' views are not complete after {seconds:.0f} s: {views}; logs in {self.folder}"
            raise BedError(message)

    def produce(self, topic: str, partition: int, megabytes: int) -> str | None:
        """Produce to the leader of a partition until it refuses a record; return its refusal, None where it took everything."""
        addresses = list(self._addresses(None).values())
        return self._clients.produce(addresses, topic, partition, megabytes, self._options(ADMIN))

    def ask_topics(self, command: str, *, at: int | None = None, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """Run a command of `topics_client` at a broker (None: the first that runs), return its answer; see `testbed.topics`."""
        addresses = self._addresses(None)
        address = next(iter(addresses.values()), None) if at is None else addresses[at]
        if address is None:
            message = f"{command}: no broker runs"
            raise BedError(message)
        return self._clients.topics(command, self._options(ADMIN), address=address, **arguments)

    def vantage_command(self, role: str = "broker") -> list[str]:
        """Return a command for a vantage in clusters.yaml: runs what follows on the host of ``{broker_id}``, or of that role.

        To be used from the worker host.
        """
        return [str(self._on_node), f"{{{role}_id}}"]

    def clusters_yaml(self, name: str) -> str:
        """Return the text of a clusters.yaml for an audit from the worker host, with broker vantages, properties and logs."""
        return clusters_yaml(self, name)

    def reap(self) -> list[Server]:
        """Collect the exit codes of processes that the bed has ended, and return the servers."""
        servers = self._servers()
        for server in servers:
            if server.process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    server.process.wait(STEP_SECONDS)
        return servers

    def _options(self, user: str) -> dict[str, object] | None:
        return self.secured.client_options(user) if self.secured else None

    def _addresses(self, ids: Iterable[int] | None) -> dict[int, str]:
        chosen = [broker.id for broker in self.brokers.values() if broker.server.is_running] if ids is None else ids
        return {broker: self.brokers[broker].open_address for broker in chosen}
