"""Disks of their own for brokers, small enough to be filled, and the ways in which one dies."""

import time
from dataclasses import dataclass
from pathlib import Path

from testbed.brokers import STEP_SECONDS, BaseCluster, Broker
from testbed.errors import BedError

MEGABYTES = 40
LOOK_SECONDS = 0.2
CHECKPOINT_SECONDS = 900.0


@dataclass(frozen=True, kw_only=True)
class Disk:
    """A tmpfs that only one broker's host sees, and that is one of its log dirs.

    Attributes:
        cluster: of the broker.
        broker: whose it is.
        path: the log dir, as the broker's `log.dirs` names it.
        megabytes: its size.
    """

    cluster: BaseCluster
    broker: Broker
    path: Path
    megabytes: int

    @property
    def partitions(self) -> list[tuple[str, int]]:
        """Topics and partitions whose replica lies on it, sorted; empty on a disk that cannot be read."""
        names = self.broker.host.run(["ls", str(self.path)]).stdout.split()
        found = (name.rpartition("-") for name in names)
        return sorted((topic, int(number)) for topic, _, number in found if topic and number.isdigit())

    def mount(self) -> None:
        """Put an empty disk in its place."""
        self.path.mkdir(exist_ok=True)
        size = f"size={self.megabytes}m"
        self.broker.host.demand(["mount", "-t", "tmpfs", "-o", size, "disk", str(self.path)])
        self.cluster.format_disk(self.broker.id, self.path)

    def unmount(self) -> None:
        """Pull it out, the data is gone; a broker that still has files open keeps them until it ends."""
        host, path = self.broker.host, str(self.path)
        host.demand(["umount", "--lazy", path])
        while host.run(["mountpoint", "--quiet", path]).returncode == 0:  # read-only, it lies over itself
            host.demand(["umount", "--lazy", path])

    def fill(self, topic: str, partition: int) -> None:
        """Produce to a partition that the broker leads from this disk until the append fails and the log dir goes offline.

        Raises:
            BedError: more went in than the disk holds, or the log dir stays online.
        """
        if self.cluster.produce(topic, partition, 2 * self.megabytes) is None:
            message = f"{topic}-{partition} does not lie on {self.path}: more than it holds was taken"
            raise BedError(message)
        self.await_offline()

    def make_read_only(self) -> None:
        """Let nothing more be opened for writing there, as a file system does by itself after an I/O error.

        It is mounted over itself: the kernel refuses to make a file system read-only while files are open for writing.
        Writes to files that Kafka has open continue; it notices at its next checkpoint, some seconds later.
        """
        host, path = self.broker.host, str(self.path)
        host.demand(["mount", "--bind", path, path])
        host.demand(["mount", "-o", "remount,ro,bind", path])

    def await_offline(self, seconds: float = STEP_SECONDS) -> None:
        """Wait until the broker says in its log that it stopped serving this log dir.

        Raises:
            BedError: it does not.
        """
        deadline = time.monotonic() + seconds
        log = self.broker.log_dir / "server.log"
        while f"Stopping serving logs in dir {self.path}" not in log.read_text(errors="replace"):
            if time.monotonic() > deadline:
                message = f"log dir {self.path} is still online after {seconds:.0f} s; logs in {self.broker.log_dir}"
                raise BedError(message)
            time.sleep(LOOK_SECONDS)

    def replace(self) -> None:
        """Stop the broker, put an empty disk in the place of this one, start it, and wait until all views are complete."""
        self.broker.stop()
        self.unmount()
        self.mount()
        self.broker.start()
        self.cluster.await_settled()


def add_disk(cluster: BaseCluster, broker: int, *, name: str = "disk-1", megabytes: int = MEGABYTES) -> Disk:
    """Give a broker a second log dir on a disk of its own and restart it; Kafka puts new replicas where it has fewest.

    Args:
        cluster: whole.
        broker: whose disk it will be.
        name: of the log dir, in the broker's folder.
        megabytes: its size.
    """
    owner = cluster.brokers[broker]
    disk = Disk(cluster=cluster, broker=owner, path=owner.server.folder / name, megabytes=megabytes)
    owner.stop()
    disk.mount()
    owner.restart({"log.dirs": f"{owner.server.properties['log.dirs']},{disk.path}"})
    cluster.await_settled()
    return disk
