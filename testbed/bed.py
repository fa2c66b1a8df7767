"""The bed itself: a worker host, hosts around it, forwards, cuts, and the clusters that live there."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack

from testbed import class_archives
from testbed.brokers import BaseCluster, Options, Plan
from testbed.cluster import Cluster
from testbed.cuts import Cuts
from testbed.errors import BedError
from testbed.hosts import HERE, NETWORK, Host, Hosts, await_ready, release_process
from testbed.jars import kafka_jars, release
from testbed.kraft import KraftCluster

SomeCluster = TypeVar("SomeCluster", bound=BaseCluster)
BROKER_IDS = range(200)  # an id is part of the last byte of an address


def _silent(_step: str) -> None:
    """Say nothing."""


def _ids(brokers: int | Sequence[int]) -> tuple[int, ...]:
    ids = tuple(range(brokers)) if isinstance(brokers, int) else tuple(brokers)
    if not ids or len(set(ids)) < len(ids) or not set(ids) <= set(BROKER_IDS):
        message = f"broker ids must differ and lie in 0 to {BROKER_IDS[-1]}: {ids}"
        raise BedError(message)
    return ids


class Bed:
    """Clusters in network namespaces of their own; nothing reaches the machine's network or ports.

    Everything started here ends with the bed, and the bed ends with the process that made it, by whatever signal. Use it
    as a context manager; it may be made and used from any thread.
    """

    def __init__(self, folder: Path, keep_logs: Path | None = None, say: Callable[[str], None] = _silent) -> None:
        """Make the worker host.

        Args:
            folder: where servers keep configuration, data and logs; it is left behind.
            keep_logs: where `save_logs` copies the servers' logs, which also happens when a block ``with Bed(…)`` fails.
            say: receives one line for each step.

        Raises:
            BedError: tools are missing or namespaces are refused.
        """
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.say = say
        self.clusters: list[BaseCluster] = []
        self._keep_logs = keep_logs
        self._forwards: dict[tuple[str, int], tuple[str, int]] = {}
        self._processes: list[subprocess.Popen[str]] = []
        self.hosts = Hosts()
        self._cuts = Cuts(self.worker)

    def __enter__(self) -> Self:
        """Return the bed."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close; copy the logs first if the block failed."""
        try:
            if kind is not None:
                self.save_logs()
        finally:
            self.close()

    @property
    def worker(self) -> Host:
        """The host that an audit runs on; it reaches every host and every forward."""
        return self.hosts.worker

    def close(self) -> None:
        """End all processes and give the namespaces back; may be called again."""
        self.hosts.close()
        for cluster in self.clusters:
            class_archives.make(cluster.reap())
        for process in self._processes:
            release_process(process)

    def save_logs(self) -> Path | None:
        """Copy all servers' logs to the folder for kept logs; return it, or None without one."""
        if self._keep_logs is None:
            return None
        for logs in self.folder.glob("*/*/logs"):
            shutil.copytree(logs, self._keep_logs / logs.relative_to(self.folder), dirs_exist_ok=True)
        return self._keep_logs

    def cluster(
        self, version: str = "3.9.1", brokers: int | Sequence[int] = 3, chroot: str = "", **options: Unpack[Options]
    ) -> Cluster:
        """Start one ZooKeeper and brokers, and wait until every broker lists all of them.

        Args:
            version: Kafka version, a key of `jars.COMPARED`.
            brokers: how many (ids from 0), or their ids (0 to 199).
            chroot: path in ZooKeeper, such as ``/kafka``.
            options: properties, security and what to wait for.

        Raises:
            BedError: jars cannot be resolved or a server does not come up; carries log lines and where logs are.
        """
        plan = self._plan(version, brokers, options, chroot=chroot)
        if not plan.release.zookeeper:
            message = f"Kafka {version} has no ZooKeeper: use Bed.kraft"
            raise BedError(message)
        return self._started(Cluster(self, plan, kafka_jars(version)))

    def kraft(
        self, version: str = "4.3.0", brokers: int | Sequence[int] = 3, controllers: int = 3, **options: Unpack[Options]
    ) -> KraftCluster:
        """Start controllers and brokers, and wait until every broker lists all of them.

        Args:
            version: Kafka version, a key of `jars.COMPARED`.
            brokers: how many (ids from 0), or their ids (0 to 199).
            controllers: how many (ids from 200); 0: the brokers are controllers too.
            options: properties, security and what to wait for.

        Raises:
            BedError: jars cannot be resolved or a server does not come up; carries log lines and where logs are.
        """
        plan = self._plan(version, brokers, options, controllers=controllers)
        if not plan.release.kraft:
            message = f"the bed runs Kafka {version} with ZooKeeper alone: use Bed.cluster"
            raise BedError(message)
        return self._started(KraftCluster(self, plan, kafka_jars(version)))

    def _plan(
        self, version: str, brokers: int | Sequence[int], options: Options, *, chroot: str = "", controllers: int = 0
    ) -> Plan:
        wanted = release(version)
        self.say(f"Kafka {version}: looking for its jars")
        settle = options.get("settle")
        return Plan(
            version=version,
            release=wanted,
            number=len(self.clusters),
            ids=_ids(brokers),
            chroot=chroot,
            properties=options.get("properties") or {},
            per_broker=options.get("per_broker") or {},
            security=options.get("security"),
            settle=None if settle is None else tuple(settle),
            controller=options.get("controller"),
            controllers=controllers,
            dynamic=options.get("dynamic", False),
            named_controllers=options.get("named_controllers", False),
            metadata_release=options.get("metadata_release"),
        )

    def _started(self, cluster: SomeCluster) -> SomeCluster:
        self.clusters.append(cluster)
        try:
            cluster.start()
        except BedError as error:
            if (kept := self.save_logs()) is not None:
                error.add_note(f"logs kept in {kept}")
            raise
        return cluster

    def forward(self, listen_address: str, listen_port: int, target_host: str, target_port: int) -> None:
        """Make an address that only the worker host reaches and forward it, as nginx in front of a cluster would.

        Args:
            listen_address: within `hosts.BEHIND_FORWARDS`, for which every other host has an unreachable route.
            listen_port: TCP port there.
            target_host: address the worker host reaches, or several, by commas, which take turns.
            target_port: TCP port of the target.

        Raises:
            BedError: the address is taken by a forward to somewhere else, or cannot be listened on.
        """
        here, target = (listen_address, listen_port), (target_host, target_port)
        if here in self._forwards:
            if self._forwards[here] != target:
                message = f"{listen_address}:{listen_port} is already forwarded to {self._forwards[here]}"
                raise BedError(message)
            return
        self.worker.demand(["ip", "addr", "replace", f"{listen_address}/32", "dev", "lo"])
        forwarder = [sys.executable, "-I", str(HERE / "forwarder.py")]
        self.stay(self.worker, [*forwarder, listen_address, str(listen_port), target_host, str(target_port)])
        self._forwards[here] = target

    def stay(self, host: Host, command: Sequence[str], *, cwd: str | Path = "/", line: str = "") -> subprocess.Popen[str]:
        """Start a command that reads a line, says «ready», and lives as long as the bed.

        Raises:
            BedError: it ended instead; carries its complaint.
        """
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = host.popen(command, cwd=cwd, start_new_session=True, **pipes)
        self._processes.append(process)
        if process.stdin is not None:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
        await_ready(process)
        return process

    def delay(self, host: Host, milliseconds: int) -> Callable[[], None]:
        """Hold back each packet that a host sends to the others, as a distant host or a slow link does; return what ends that.

        Raises:
            BedError: the kernel has no TUN devices.
        """
        delayer = [sys.executable, "-I", str(HERE / "delayer.py")]
        process = self.stay(host, [*delayer, host.address, str(NETWORK), str(milliseconds)])

        def end() -> None:
            process.kill()
            release_process(process)

        return end

    def cut(self, source: Host, target: Host) -> None:
        """Stop `source` from reaching the services of `target`; see `cuts.Cuts`."""
        self._cuts.cut(source, target)

    def narrow(self, source: Host, target: Host) -> None:
        """Drop large packets from `source` to `target`; see `cuts.Cuts`."""
        self._cuts.narrow(source, target)

    def heal(self, source: Host, target: Host) -> None:
        """Undo `cut`, or `narrow`."""
        self._cuts.heal(source, target)
