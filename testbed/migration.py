"""From ZooKeeper to KRaft, step by step as Kafka 3.9's documentation has it: for tests of an audit at each of them.

moving = Migration(bed, cluster)      # a cluster of 3.9.1 with ZooKeeper
moving.start_controllers()            # KRaft controllers wait for the brokers
moving.prepare_brokers()              # a rolling restart; then the controllers take over and write to both
moving.convert_brokers([0])           # some brokers run without ZooKeeper
moving.convert_brokers()              # all of them
moving.finish()                       # controllers no longer write to ZooKeeper
moving.roll_back()                    # instead of converting brokers: /controller is left behind
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping

from testbed.bed import Bed
from testbed.brokers import START_SECONDS, STEP_SECONDS
from testbed.cluster import Cluster
from testbed.errors import BedError
from testbed.jars import kafka_jars
from testbed.kraft import CONTROLLER_PORT, FIRST_CONTROLLER
from testbed.servers import Server, merged

LOOK_SECONDS = 0.5
ENABLE = "zookeeper.metadata.migration.enable"
_OF_ZOOKEEPER = (
    "zookeeper.connect", "zookeeper.connection.timeout.ms", "zookeeper.session.timeout.ms", ENABLE, "broker.id",
    "inter.broker.protocol.version",
)  # fmt: skip
_TAKEN_OVER = re.compile(r"Transitioning ZK migration state from \w+ to DUAL_WRITE|transitioning from \w+ to DUAL_WRITE")


class Migration:
    """A cluster with ZooKeeper on its way to KRaft; every step waits until it has taken effect.

    Attributes:
        controllers: the KRaft controllers by node id.
    """

    def __init__(self, bed: Bed, cluster: Cluster, controllers: int = 1) -> None:
        """Make the controllers' hosts and servers, not yet started; cluster files that are written from now on name them."""
        self._bed = bed
        self._cluster = cluster
        nodes = range(FIRST_CONTROLLER, FIRST_CONTROLLER + controllers)
        hosts = {node: bed.hosts.add(f"{cluster.plan.name}-controller-{node}", self._address(node)) for node in nodes}
        cluster.controller_addresses = tuple(f"{host.address}:{CONTROLLER_PORT}" for host in hosts.values())
        self._quorum = {
            "controller.quorum.voters": ",".join(f"{node}@{host.address}:{CONTROLLER_PORT}" for node, host in hosts.items()),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        }
        self.controllers = {node: self._controller(node) for node in nodes}
        cluster.beside += self.controllers.values()

    def _address(self, node: int) -> str:
        return f"10.99.{self._cluster.plan.number}.{10 + node}"

    def _controller(self, node: int) -> Server:
        name = f"controller-{node}"
        folder, host = self._cluster.folder / name, self._bed.hosts.add(f"{self._cluster.plan.name}-{name}", self._address(node))
        folder.mkdir(parents=True, exist_ok=True)
        properties = {
            **self._quorum,
            "process.roles": "controller",
            "node.id": str(node),
            "listeners": f"CONTROLLER://{host.address}:{CONTROLLER_PORT}",
            "log.dirs": str(folder / "data"),
            "zookeeper.connect": self._cluster.zookeeper_connect,
            ENABLE: "true",
        }
        jars = kafka_jars(self._cluster.plan.version)
        return Server(name=name, host=host, folder=folder, jars=jars, main_class="kafka.Kafka", properties=properties)

    def cluster_id(self) -> str:
        """Return the id with which brokers run, as their data folders have it."""
        server = next(iter(self._cluster.brokers.values())).server
        match = re.search(r"^cluster\.id=(.+)$", (server.folder / "data" / "meta.properties").read_text(), re.MULTILINE)
        if match is None:
            message = f"{server.name} has no cluster.id in its meta.properties"
            raise BedError(message)
        return match[1].strip()

    def start_controllers(self) -> None:
        """Format and start the controllers; they wait until every broker is prepared."""
        self._bed.say(f"starting {len(self.controllers)} KRaft controller(s) beside ZooKeeper")
        for server in self.controllers.values():
            server.write_config()
            # With ZooKeeper an id may begin with "-".
            command = [*server.java(), "kafka.tools.StorageTool", "format", f"--cluster-id={self.cluster_id()}"]
            server.host.demand([*command, "--config", str(server.config_file)], cwd=server.folder)
            server.launch()
        self._await("KRaft controllers wait for brokers", lambda: self._logged(re.compile(r"WAIT_FOR_BROKERS")), START_SECONDS)

    def prepare_brokers(self, ids: Iterable[int] | None = None) -> None:
        """Restart one broker after the other with migration enabled, and wait until the controllers have taken over.

        If only some `ids` are, the controllers wait for the others.
        """
        for broker in self._cluster.brokers if ids is None else ids:
            self._bed.say(f"broker {broker} is restarted, ready for the migration")
            self._restart(broker, {**self._quorum, ENABLE: "true"})
        if ids is not None:
            return
        self._await("KRaft controllers take over", lambda: self._logged(_TAKEN_OVER), START_SECONDS)
        self.await_views()

    def has_taken_over(self) -> bool:
        """Return whether the controllers wrote to both at some time."""
        return self._logged(_TAKEN_OVER)

    def restart_controllers(self) -> None:
        """Restart the controllers: the next leader of the quorum has a higher epoch."""
        for server in self.controllers.values():
            server.signal_stop()
            server.await_end()
            server.launch()
        self.await_views()

    def convert_brokers(self, ids: Iterable[int] | None = None) -> None:
        """Restart brokers (None: all that are not yet), one after the other, without ZooKeeper."""
        for broker in sorted(self._cluster.brokers if ids is None else ids):
            properties = self._cluster.brokers[broker].server.properties
            if "process.roles" in properties:
                continue
            self._bed.say(f"broker {broker} is restarted without ZooKeeper")
            own = {"process.roles": "broker", "node.id": str(broker)}
            self._restart(broker, {**dict.fromkeys(_OF_ZOOKEEPER), **own})

    def finish(self) -> None:
        """Restart the controllers without ZooKeeper: there is no way back from here."""
        self._bed.say("the migration is finished: controllers no longer write to ZooKeeper")
        for server in self.controllers.values():
            server.signal_stop()
            server.await_end()
            server.properties = merged(server.properties, dict.fromkeys((ENABLE, "zookeeper.connect")))
            server.launch()
        self.await_views()

    def stop_controllers(self) -> None:
        """Stop the controllers; the last one that led holds /controller in ZooKeeper, for that znode is persistent."""
        for server in self.controllers.values():
            server.signal_stop()
            server.await_end()

    def roll_back(self) -> None:
        """Restart brokers as before the migration, without the step that deletes /controller: they receive nothing."""
        self._bed.say("the migration is rolled back, and /controller is left behind")
        brokers = [broker.server for broker in self._cluster.brokers.values()]
        for server in brokers:
            server.signal_stop(hard=True)  # without a controller a stop takes minutes
            server.await_end()
            server.properties = merged(server.properties, dict.fromkeys((*self._quorum, ENABLE)))
        self._await_registered(0)  # a session that is left would keep its broker from registering
        for server in brokers:
            server.launch()
        self._await_registered(len(brokers))

    def _await_registered(self, number: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        while sum(path.startswith("/brokers/ids/") for path in self._cluster.znodes()) != number:
            if time.monotonic() > deadline:
                message = f"not within {START_SECONDS:.0f} s: {number} brokers are registered; logs in {self._cluster.folder}"
                raise BedError(message)
            time.sleep(LOOK_SECONDS)

    def await_views(self) -> None:
        """Wait until the views of all brokers that run list them all, and a leader for each partition."""
        running = [broker.id for broker in self._cluster.brokers.values() if broker.server.is_running]
        self._await("views are complete", lambda: self._complete(running), START_SECONDS)

    def _restart(self, broker: int, properties: Mapping[str, str | None]) -> None:
        server = self._cluster.brokers[broker].server
        server.signal_stop()
        server.await_end(STEP_SECONDS)
        server.properties = merged(server.properties, properties)
        server.launch()
        self.await_views()

    def _complete(self, running: list[int]) -> bool:
        views = self._cluster.views(running).values()
        leaders = [state["leader"] for view in views for topic in view.topics.values() for state in topic.values()]
        return all(sorted(view.brokers) == running for view in views) and -1 not in leaders

    def _logged(self, line: re.Pattern[str]) -> bool:
        logs = (log for server in self.controllers.values() for log in server.log_dir.glob("*.log"))
        return any(line.search(log.read_text(errors="replace")) for log in logs)

    def _await(self, what: str, is_so: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        servers = [*self.controllers.values(), *(broker.server for broker in self._cluster.brokers.values())]
        watched = [server for server in servers if server.is_running]
        while not is_so():
            dead = next((server for server in watched if not server.is_running), None)
            if dead is not None:
                ended = "ended in a migration"
                raise dead.failed(ended)
            if time.monotonic() > deadline:
                tails = "".join(f"\n{controller.tail()}" for controller in self.controllers.values())
                message = f"not within {seconds:.0f} s: {what}; logs in {self._cluster.folder}{tails}"
                raise BedError(message)
            time.sleep(LOOK_SECONDS)
