"""A cluster without ZooKeeper: controllers on hosts of their own, or brokers that are controllers too."""

from __future__ import annotations

import base64
import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.brokers import START_SECONDS, STEP_SECONDS, BaseCluster, Broker, Plan
from testbed.clients import Clients
from testbed.errors import BedError
from testbed.names import own_names
from testbed.security import Security, scram_argument
from testbed.servers import Server, common_properties, merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from testbed.bed import Bed
    from testbed.hosts import Host

FIRST_CONTROLLER = 200  # above the ids of brokers, so that addresses follow the same rule
CONTROLLER_PORT = 9093
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class KraftCluster(BaseCluster):
    """Brokers and their controllers, which speak PLAINTEXT to each other unless `Security` has a login or TLS for controllers.

    Attributes:
        cluster_id: as storage was formatted.
        controllers: the controllers' servers by node id, empty where brokers are controllers too.
    """

    def __init__(self, bed: Bed, plan: Plan, jars: Path) -> None:
        """Make hosts and servers, not yet started; use `Bed.kraft`.

        Raises:
            BedError: an authorizer where brokers are controllers too: it would have to let ANONYMOUS in.
        """
        super().__init__(bed, plan)
        if plan.security and plan.security.authorizer and not plan.controllers and not plan.security.controller_login:
            message = "an authorizer in KRaft needs controllers of their own, or a login between controllers"
            raise BedError(message)
        self.cluster_id = _random_id()
        self._jars = jars
        voters = range(FIRST_CONTROLLER, FIRST_CONTROLLER + plan.controllers) if plan.controllers else plan.ids
        self.directories = {node: _random_id() for node in voters}
        self.controller_addresses = tuple(f"{self._known_as(node)}:{CONTROLLER_PORT}" for node in voters)
        self._voters = ",".join(f"{node}@{self._known_as(node)}:{CONTROLLER_PORT}" for node in voters)
        self.controllers = {node: self._controller(node, jars) for node in voters if plan.controllers}
        self.brokers = {broker: self._broker(broker, jars) for broker in plan.ids}
        self._clients = Clients(worker=bed.worker, folder=self.folder, one_controller=False)
        self._write_vantage()

    def _address(self, node: int) -> str:
        return f"10.99.{self.plan.number}.{10 + node}"

    def _known_as(self, node: int) -> str:
        """Return the host under which other nodes know a controller."""
        return f"controller-{node}" if self.plan.named_controllers else self._address(node)

    @property
    def controller_names(self) -> dict[str, str]:
        """The addresses of controllers by name, for hosts files; empty where controllers have no names."""
        return {self._known_as(node): self._address(node) for node in self.directories if self.plan.named_controllers}

    def _host(self, name: str, node: int) -> Host:
        return self._bed.hosts.add(f"{self.plan.name}-{name}", self._address(node))

    def _quorum(self, node: int, roles: str) -> dict[str, str]:
        security = self.plan.security or Security()
        names = [f"{listener.label}:{listener.protocol}" for listener in security.listeners]
        return {
            "process.roles": roles,
            "node.id": str(node),
            **self._quorum_found_by(),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": ",".join([f"CONTROLLER:{security.controller_protocol}", *names]),
            **({"authorizer.class.name": AUTHORIZER} if security.authorizer else {}),
            **security.controller_properties(),
        }

    def _quorum_found_by(self) -> dict[str, str]:
        if self.plan.dynamic:
            return {"controller.quorum.bootstrap.servers": ",".join(self.controller_addresses)}
        return {"controller.quorum.voters": self._voters}

    def _controller(self, node: int, jars: Path) -> Server:
        name = f"controller-{node}"
        folder, host = self.folder / name, self._host(name, node)
        folder.mkdir(parents=True, exist_ok=True)
        properties = self._quorum(node, "controller")
        properties |= {"listeners": f"CONTROLLER://{host.address}:{CONTROLLER_PORT}", "log.dirs": str(folder / "data")}
        if self.plan.named_controllers:
            properties["advertised.listeners"] = f"CONTROLLER://{self._known_as(node)}:{CONTROLLER_PORT}"
        properties |= self.secured.controller_stores(node, host.address) if self.secured else {}
        if self.plan.security and self.plan.security.authorizer:
            properties["super.users"] = self.plan.security.controller_super_users()
        return Server(name=name, host=host, folder=folder, jars=jars, main_class="kafka.Kafka", properties=properties)

    def _broker(self, broker: int, jars: Path) -> Broker:
        host = self._host(f"broker-{broker}", broker)
        common = common_properties(host, self.folder / f"broker-{broker}", brokers=len(self.plan.ids))
        roles = "broker" if self.plan.controllers else "broker,controller"
        made = self._make_broker(broker, jars, host, merged(self._quorum(broker, roles), common))
        # Kafka wants the controllers' listener in the map, and of brokers that are controllers too among the listeners.
        mine = {"listener.security.protocol.map": self._quorum(broker, roles)["listener.security.protocol.map"]}
        if not self.plan.controllers:
            mine["listeners"] = f"{made.server.properties['listeners']},CONTROLLER://{host.address}:{CONTROLLER_PORT}"
        made.server.properties = merged(made.server.properties, mine)
        return made

    def hosts(self) -> dict[str, Host]:
        """Return brokers' and controllers' hosts by id."""
        return super().hosts() | {str(node): server.host for node, server in self.controllers.items()}

    def _servers(self) -> list[Server]:
        return [*self.controllers.values(), *(broker.server for broker in self.brokers.values())]

    def start(self) -> None:
        """Format storage, start all servers and wait until every broker lists all, or as `Plan.settle` has it."""
        self._bed.say(f"Kafka {self.plan.version}: starting {len(self.controllers)} controller(s), {len(self.brokers)} broker(s)")
        if self.plan.named_controllers:
            for host in (*self.hosts().values(), self._bed.worker):
                own_names(host, self.folder / "names", hosts=self.controller_names)
        self._format()
        for server in self.controllers.values():
            server.launch()
        if self.plan.dynamic:  # a broker that meets the first elections may wait for its registration for ever
            self.await_controllers(self.controllers)
        for server in self._servers():
            server.launch()
        self._await_up(self.brokers)
        self._settle()

    def _format(self) -> None:
        """Format one server's storage with Kafka's tool; the others' differs in the node alone, which saves a JVM each."""
        first, *others = self._servers()
        first.write_config()
        security = self.plan.security
        users = security.users if security else {}
        mechanisms = security.scram_mechanisms if security else []
        scram = [scram_argument(mechanism, user, users[user]) for mechanism in mechanisms for user in users]
        command = [*first.java(), "kafka.tools.StorageTool", "format", "--cluster-id", self.cluster_id]
        command += ["--config", str(first.config_file), *(part for credential in scram for part in ("--add-scram", credential))]
        if self.plan.dynamic:
            voters = (f"{voter}:{self.directories[int(voter.partition('@')[0])]}" for voter in self._voters.split(","))
            command += ["--initial-controllers", ",".join(voters)]
        command += ["--release-version", self.plan.metadata_release] if self.plan.metadata_release else []
        first.host.demand(command, cwd=first.folder)
        formatted = Path(first.properties["log.dirs"])
        for server in others:
            data = Path(server.properties["log.dirs"])
            data.mkdir(parents=True, exist_ok=True)
            _copy_records(formatted, data, votes="controller" in server.properties["process.roles"])
            node = server.properties["node.id"]
            _write_meta(data, {"cluster.id": self.cluster_id, "node.id": node}, self.directories.get(int(node)))

    def start_observer(self, node: int) -> Server:
        """Format and start a further controller, which follows a dynamic quorum and has no vote until it is added."""
        server = self._controller(node, self._jars)
        server.properties.pop("controller.quorum.voters", None)
        server.properties["controller.quorum.bootstrap.servers"] = ",".join(self.controller_addresses)
        self.format_without_vote(server)
        server.launch()
        self.controllers[node] = server
        self._write_vantage()
        return server

    def format_without_vote(self, server: Server) -> None:
        """Format the storage of a controller that follows a dynamic quorum."""
        server.write_config()
        command = [*server.java(), "kafka.tools.StorageTool", "format", "--cluster-id", self.cluster_id]
        server.host.demand([*command, "--config", str(server.config_file), "--no-initial-controllers"], cwd=server.folder)

    def create_topic(self, name: str, assignment: Mapping[int, Sequence[int]]) -> None:
        """Create a topic by a request to the first broker that runs; views follow within moments.

        Args:
            name: topic name.
            assignment: replicas by partition, the preferred leader first.
        """
        self._bed.say(f"creating topic {name} with {len(assignment)} partition(s)")
        asked = next(iter(self._addresses(None).values()))
        self._clients.create_topic(asked, name, assignment, self._options("admin"))

    def format_disk(self, broker: int, path: Path) -> None:
        """Write what `kafka-storage.sh format --ignore-formatted` writes: a KRaft broker refuses to start with an empty dir."""
        text = _meta({"cluster.id": self.cluster_id, "node.id": str(broker)})
        self.brokers[broker].host.demand(["tee", f"{path}/meta.properties"], input=text)

    def _await_gone(self, ids: Sequence[int]) -> None:
        """Do nothing: a KRaft broker repeats its registration until an earlier one has expired."""

    def await_controllers(self, ids: Iterable[int]) -> None:
        """Wait until controllers accept connections; one opens its listener later than it follows where its ACLs decide first."""
        servers = {node: self.controllers[node] for node in ids}
        ports = {node: f"{server.host.address}:{CONTROLLER_PORT}" for node, server in servers.items()}
        self._clients.await_ports(ports, seconds=START_SECONDS, watched=[*servers.values()])

    def _await_up(self, ids: Iterable[int]) -> None:
        watched = [*self.controllers.values(), *(self.brokers[broker].server for broker in ids)]
        self._clients.await_ports(self._addresses(ids), seconds=START_SECONDS + STEP_SECONDS, watched=watched)


def _copy_records(formatted: Path, data: Path, *, votes: bool) -> None:
    """Copy what `format` wrote beside meta.properties: a file for every node; since 4.4 the log's first snapshot, for voters."""
    checkpoint, log = formatted / "bootstrap.checkpoint", formatted / "__cluster_metadata-0"
    if checkpoint.is_file():
        shutil.copy(checkpoint, data)
    if votes and log.is_dir():
        shutil.copytree(log, data / log.name, dirs_exist_ok=True)


def _random_id() -> str:
    # Kafka never takes an id that begins with "-", which command lines would read as an option.
    return base64.urlsafe_b64encode(b"\x01" + uuid.uuid4().bytes[1:]).decode().rstrip("=")


def _write_meta(data: Path, properties: Mapping[str, str], directory: str | None = None) -> None:
    (data / "meta.properties").write_text(_meta(properties, directory))


def _meta(properties: Mapping[str, str], directory: str | None = None) -> str:
    every = {"version": "1", **properties, "directory.id": directory or _random_id()}
    lines = [f"{key}={value}" for key, value in every.items()]
    return "\n".join(lines) + "\n"
