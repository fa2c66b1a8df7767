"""Kafka's command line tools, run as their scripts do, and the commands that findings print."""

import re
import shlex
import subprocess
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess

from testbed.bed import Bed
from testbed.brokers import BaseCluster
from testbed.errors import BedError
from testbed.jars import java, tool_jars
from testbed.servers import JVM, LOG4J

TOOL_SECONDS = 600
CLASSES = {
    "kafka-acls.sh": "AclCommand",
    "kafka-cluster.sh": "ClusterTool",
    "kafka-configs.sh": "ConfigCommand",
    "kafka-console-share-consumer.sh": "ConsoleShareConsumer",
    "kafka-features.sh": "FeatureCommand",
    "kafka-leader-election.sh": "LeaderElectionCommand",
    "kafka-log-dirs.sh": "LogDirsCommand",
    "kafka-metadata-quorum.sh": "MetadataQuorumCommand",
    "kafka-producer-perf-test.sh": "ProducerPerformance",
    "kafka-reassign-partitions.sh": "ReassignPartitionsCommand",
    "kafka-topics.sh": "TopicCommand",
    "kafka-transactions.sh": "TransactionsCommand",
    "zookeeper-security-migration.sh": "ZkSecurityMigrator",
    "zookeeper-shell.sh": "ZooKeeperMainWithTlsSupportForKafka",
}
_ZOOKEEPER = {"zookeeper-security-migration.sh", "zookeeper-shell.sh"}
"""The tools that connect to ZooKeeper: they log in by the JVM's options, and know no ``--command-config``."""
_PLACEHOLDER = re.compile(r"(?<![\w:-])[A-Z][A-Z_]+(?![\w-])")
_OURS = frozenset({"DEBUG"})
"""Words in capitals that are no placeholders."""

_CLIENT_FILE = "admin.properties"
_LOGIN = frozenset({"--command-config", "--admin.config", "--config"})
_COMMAND = re.compile(r"`([a-z-]+\.sh [^`]*)`|^ {4}([a-z-]+\.sh (?:.*\\\n)*.*)", re.MULTILINE)


def printed_commands(text: str) -> list[str]:
    """Return the commands that a text shows, in its order: in backticks, or on lines of their own."""
    found = (inline or block for inline, block in _COMMAND.findall(text))
    return [re.sub(r"\s*\\?\n\s*", " ", command).strip() for command in found]


def filled(command: str, values: Mapping[str, str]) -> str:
    """Return a command with its placeholders filled.

    Raises:
        BedError: some are left.
    """
    for placeholder, value in values.items():
        command = command.replace(placeholder, value)
    if left := [word for word in _PLACEHOLDER.findall(command) if word not in _OURS]:
        message = f"no value for {', '.join(left)} in {command}"
        raise BedError(message)
    return command


class Tools:
    """The command line tools of the cluster's own version, run on the worker host as an administrator."""

    def __init__(self, bed: Bed, cluster: BaseCluster) -> None:
        """Take where they run, and whose they are."""
        self._bed = bed
        self._cluster = cluster
        self.folder = cluster.folder / "tools"
        self.folder.mkdir(exist_ok=True)

    @property
    def bootstrap(self) -> str:
        """The addresses of the brokers that run, as an operator lists them."""
        return ",".join(broker.address for broker in self._cluster.brokers.values() if broker.server.is_running)

    def run(self, command: str, seconds: float = TOOL_SECONDS) -> CompletedProcess[str]:
        """Run a command as it is printed: with a login only where it names the file of one.

        Raises:
            BedError: the bed does not have this tool.
            subprocess.TimeoutExpired: it takes longer.
        """
        return self._bed.worker.run(self.line(command), cwd=self.folder, timeout=seconds)

    def line(self, command: str) -> list[str]:
        """Return the command line of Java for a command as it is printed.

        Raises:
            BedError: the bed does not have this tool.
        """
        script, *arguments = shlex.split(command)
        if script not in CLASSES:
            message = f"the bed does not run {script}"
            raise BedError(message)
        secured, login = self._cluster.secured, list[str]()
        if script == "zookeeper-shell.sh":  # as the script puts it in front
            arguments = ["-server", *arguments]
        if secured and script in _ZOOKEEPER:
            login = secured.zookeeper_login()
        elif _LOGIN & {*arguments}:
            self._write_client_file()
        jars = tool_jars(self._cluster.plan.version)
        logs = [f"-Dbed.logs={self.folder}", f"-Dlog4j.configuration=file:{LOG4J}"]
        return [java(), *JVM, *login, *logs, "-cp", f"{jars}/*", _main_class(jars, CLASSES[script]), *arguments]

    def demand(self, command: str, seconds: float = TOOL_SECONDS) -> str:
        """Run a command that must succeed, and return what it printed.

        Raises:
            BedError: it failed, or took too long.
        """
        try:
            completed = self.run(command, seconds)
        except subprocess.TimeoutExpired:
            message = f"{command}: no end after {seconds:.0f} s"
            raise BedError(message) from None
        output = completed.stdout + completed.stderr
        if completed.returncode or "Exception" in output or "Error while executing" in output:
            message = f"{command}: {output.strip()[-500:]}"
            raise BedError(message)
        return output

    def demand_as_admin(self, command: str) -> str:
        """Run a command of the bed's own with the administrator's login, where the cluster is secured.

        Raises:
            BedError: it failed, or took too long.
        """
        return self.demand(self.with_login(command))

    def with_login(self, command: str) -> str:
        """Return a command with the administrator's login where the cluster is secured, as an operator of the bed types it."""
        if not self._cluster.secured:
            return command
        return re.sub(r"--bootstrap-server \S+", rf"\g<0> --command-config {_CLIENT_FILE}", command)

    def _write_client_file(self) -> None:
        """Write the administrator's client settings, in the folder where commands run, under the name that remedies use."""
        path = self.folder / _CLIENT_FILE
        path.touch(0o600)
        settings = self._cluster.secured.java_client() if self._cluster.secured else {}
        path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))


@cache
def _main_class(jars: Path, name: str) -> str:
    """Return the full name of a tool's class, which moved between packages from release to release."""
    for jar in sorted([*jars.glob("kafka-tools-[0-9]*.jar"), *jars.glob("kafka_*.jar")]):
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                if entry.endswith(f"/{name}.class"):
                    return entry.removesuffix(".class").replace("/", ".")
    message = f"no class {name} among {jars}"
    raise BedError(message)
