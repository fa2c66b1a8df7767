"""ZooKeeper and broker processes: start, stop softly or hard, suspend, restart with other properties."""

import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from testbed import class_archives
from testbed.errors import BedError
from testbed.hosts import Host
from testbed.jars import java

# A small heap, the quick compiler only and no parallel collector: four of these share two cores and 1 GB.
JVM = ("-Xms64m", "-Xmx256m", "-XX:TieredStopAtLevel=1", class_archives.COLLECTOR, "-Djava.awt.headless=true")
LOG4J = Path(__file__).parent / "log4j.properties"
SOFT_STOP_SECONDS = 30.0
ZOOKEEPER_PORT = 2181
BROKER_PORT = 9092
TAIL_LINES = 25


@dataclass(kw_only=True, eq=False)
class Server:
    """One Java process on one host, with its folder.

    Attributes:
        name: also the name of its folder.
        host: where it runs.
        folder: configuration, data and logs.
        jars: classpath folder.
        main_class: what Java starts.
        properties: configuration, written to `config_file` at each launch.
        jvm: further JVM options.
        environment: further variables of the process.
    """

    name: str
    host: Host
    folder: Path
    jars: Path
    main_class: str
    properties: dict[str, str]
    jvm: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = field(default=None, init=False)

    @property
    def log_dir(self) -> Path:
        """Folder of server.log, controller.log, state-change.log and console.log."""
        return self.folder / "logs"

    @property
    def config_file(self) -> Path:
        """The properties file the process was started with."""
        return self.folder / "server.properties"

    @property
    def is_running(self) -> bool:
        """Whether the process exists (a suspended one does)."""
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int | None:
        """The number of the process, None before it was started."""
        return None if self.process is None else self.process.pid

    def launch(self) -> None:
        """Start the process and return at once; its data is kept from the last time."""
        if self.is_running:
            return
        self.write_config()
        shared = class_archives.options(self.jars, self.main_class, self.folder)
        program, *options = self.java()
        command = [*self.variables, program, *shared, *options, self.main_class, str(self.config_file)]
        with (self.log_dir / "console.log").open("a") as console:
            self.process = self.host.popen(
                command, cwd=self.folder, stdout=console, stderr=subprocess.STDOUT, start_new_session=True
            )

    @property
    def variables(self) -> list[str]:
        """The prefix of a command that gives it the environment of the process."""
        return ["env", *(f"{name}={value}" for name, value in self.environment.items())] if self.environment else []

    def write_config(self) -> None:
        """Write the properties file and make the folder for logs."""
        self.log_dir.mkdir(parents=True, exist_ok=True)
        self.config_file.touch()
        self.config_file.chmod(0o600)  # JAAS has passwords in it
        self.config_file.write_text("".join(f"{key}={value}\n" for key, value in self.properties.items()))

    def java(self) -> list[str]:
        """Return the command line up to the main class."""
        logs = [f"-Dbed.logs={self.log_dir}", f"-Dlog4j.configuration=file:{LOG4J}"]
        return [java(), *JVM, *self.jvm, *logs, "-cp", f"{self.jars}/*"]

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process, if it runs."""
        if self.process is not None and self.is_running:
            self.process.send_signal(number)

    def suspend(self) -> None:
        """Freeze the process (SIGSTOP): ports accept, nothing answers, the ZooKeeper session expires."""
        self.send(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen process go on (SIGCONT)."""
        self.send(signal.SIGCONT)

    def signal_stop(self, *, hard: bool = False) -> None:
        """Send SIGTERM, or SIGKILL, and return at once."""
        self.send(signal.SIGKILL if hard else signal.SIGTERM)

    def await_end(self, deadline_s: float = SOFT_STOP_SECONDS) -> None:
        """Wait for the end after `signal_stop`; SIGKILL follows after `deadline_s` seconds.

        A 2.8 broker that cannot reach its controller ignores SIGTERM for longer than anyone waits.
        """
        if self.process is None:
            return
        try:
            self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def tail(self) -> str:
        """The last lines of the console and of server.log."""
        parts = []
        for name in ("console.log", "server.log"):
            path = self.log_dir / name
            if path.is_file() and (lines := path.read_text(errors="replace").splitlines()[-TAIL_LINES:]):
                parts.append(f"--- {self.name} {name}\n" + "\n".join(lines))
        return "\n".join(parts) or f"--- {self.name} wrote no log"

    def failed(self, what: str) -> BedError:
        """Return the error for a failure of this server, with its last log lines and their folder."""
        return BedError(f"{self.name} {what}; logs in {self.log_dir}\n{self.tail()}")


def zookeeper(host: Host, folder: Path, jars: Path) -> Server:
    """Return a ZooKeeper server, not yet started."""
    properties = {
        "dataDir": str(folder / "data"),
        "clientPort": str(ZOOKEEPER_PORT),
        "clientPortAddress": host.address,
        "tickTime": "500",
        "maxSessionTimeout": "60000",  # 20 ticks otherwise, less than some sessions ask for
        "admin.enableServer": "false",
        "4lw.commands.whitelist": "*",
    }
    return Server(
        name=folder.name,
        host=host,
        folder=folder,
        jars=jars,
        properties=properties,
        jvm=("-Dzookeeper.jmx.log4j.disable=true",),  # 3.4, with Kafka 1.1, wants classes that reload4j does not have
        main_class="org.apache.zookeeper.server.quorum.QuorumPeerMain",
    )


def broker_properties(broker: int, host: Host, folder: Path, connect: str, *, brokers: int) -> dict[str, str]:
    """Return the properties a broker of the bed starts with; everything else is Kafka's default.

    Topics are created automatically as by default, so that a careless Metadata request leaves a trace a test can find.
    """
    return {
        "broker.id": str(broker),
        "zookeeper.connect": connect,
        "zookeeper.session.timeout.ms": "6000",
        "zookeeper.connection.timeout.ms": "60000",  # ZooKeeper starts beside the brokers, on a busy machine later
        **common_properties(host, folder, brokers=brokers),
        "controlled.shutdown.enable": "true",
        "controlled.shutdown.retry.backoff.ms": "500",
    }


def common_properties(host: Host, folder: Path, *, brokers: int) -> dict[str, str]:
    """Return what a broker has with or without ZooKeeper."""
    replicas = str(min(3, brokers))
    return {
        "listeners": f"PLAINTEXT://{host.address}:{BROKER_PORT}",
        "advertised.listeners": f"PLAINTEXT://{host.address}:{BROKER_PORT}",
        "log.dirs": str(folder / "data"),
        "num.network.threads": "2",
        "num.io.threads": "4",
        "background.threads": "4",
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": "3",
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": str(min(2, brokers)),
        "transaction.state.log.num.partitions": "3",
        "group.initial.rebalance.delay.ms": "0",
        "log.cleaner.dedupe.buffer.size": "4194304",  # taken from the heap at start; the default is half of it
    }


def merged(*layers: Mapping[str, str | None]) -> dict[str, str]:
    """Lay properties over each other; None takes a key away."""
    result: dict[str, str] = {}
    for layer in layers:
        for key, value in layer.items():
            if value is None:
                result.pop(key, None)
            else:
                result[key] = value
    return result
