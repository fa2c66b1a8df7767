"""What was asked and how it ended: whose each read was, and why it failed."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from kafka_audit.cluster.samples import Samples
from kafka_audit.model.tables import BrokerIdentity, BrokerView, RegisteredBroker, Registry, SourceRead
from kafka_audit.model.text import clean

_ADDRESSES = re.compile(r"(?<![^\s,/\[\]])\[?([^\s,/\[\]]{1,255}?)\]?:(\d{1,10})(?=[,/]|$)")

LOGS = "logs:"
"""How observers begin that are a broker's logs."""


class Reads:
    """The reads of one snapshot."""

    def __init__(
        self,
        samples: Samples,
        last: tuple[SourceRead, ...],
        controllers: Collection[int] = (),
        gone: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Keep the snapshot, and those of its reads that count, each as it ended when it was asked last.

        `controllers` are no brokers; `gone` has the brokers that are not registered any more, by the address that was theirs, or
        that their files name.
        """
        self._samples = samples
        self.last = last
        self._gone = gone
        self._controllers = {str(node) for node in controllers}

    @cached_property
    def by_resource(self) -> Mapping[str, Sequence[SourceRead]]:
        """The last reads by the resource that they are about, in its order; what is no broker's is the cluster's."""
        reads: dict[str, list[SourceRead]] = defaultdict(list)
        for read in self.last:
            reads[self.resources.get(read.observer, "cluster")].append(read)
        return dict(sorted(reads.items()))

    @cached_property
    def resources(self) -> Mapping[str, str]:
        """The resource that each asked broker's or controller's reads are about, by observer.

        An address of the cluster file that no broker registered is the broker that the socket says it is; without an answer,
        the one that had it in the previous snapshot, or has it in its file, and is gone. A node speaks by its logs, too.
        """
        answered = {
            row.address: row.answered_by
            for row in self._samples.of(BrokerIdentity)
            if row.broker_id < 0 and row.answered_by is not None
        }
        found = {}
        for read in self._samples.of(SourceRead):
            if read.observer.startswith(("broker:", "broker@")):
                name = read.observer[len("broker:") :]
                found[read.observer] = f"broker/{answered.get(read.target, self._gone.get(name, name))}"
            elif read.observer.startswith(LOGS) and read.observer[len(LOGS) :].isdecimal():
                node = read.observer[len(LOGS) :]
                found[read.observer] = f"{'controller' if node in self._controllers else 'broker'}/{node}"
            elif read.observer.startswith("controller@"):
                found[read.observer] = read.observer.replace("@", "/", 1)
        return found

    @cached_property
    def of_logs(self) -> Mapping[int, Sequence[SourceRead]]:
        """The last reads of the logs of each node."""
        found: dict[int, list[SourceRead]] = defaultdict(list)
        for read in self.last:
            name = read.observer.removeprefix(LOGS)
            if name != read.observer and name.isdecimal():
                found[int(name)].append(read)
        return found

    def answered(self, broker: int) -> bool:
        """Return whether a broker that was asked under its own name answered anything."""
        return any(read.observer == f"broker:{broker}" and read.outcome == "answered" for read in self.last)

    @cached_property
    def silent_brokers(self) -> frozenset[str]:
        """Registered brokers without a view in the newest sample; where no registry was read, those that were asked."""
        now, _ = self._samples.numbers
        of = self.resources
        answered = {of.get(view.observer) for view in self._samples.at(BrokerView, now)}
        known = {f"broker/{row.broker_id}" for row in self._samples.at(RegisteredBroker, now)}
        if all(registry.brokers_pzxid is None for registry in self._samples.at(Registry, now)):
            known = {of[read.observer] for read in self._samples.at(SourceRead, now) if read.observer.startswith("broker:")}
        return frozenset(known - answered)

    def failed_before(self, failed: Iterable[SourceRead]) -> bool:
        """Return whether one of these reads failed in an earlier sample too."""
        return any(self._first_failed.get(_question(read), read.sample) < read.sample for read in failed)

    @cached_property
    def _first_failed(self) -> Mapping[tuple[str, str, str], int]:
        """The first sample in which each read failed."""
        found: dict[tuple[str, str, str], int] = {}
        for read in self._samples.of(SourceRead):
            if read.outcome == "failed":
                found[_question(read)] = min(read.sample, found.get(_question(read), read.sample))
        return found


def _question(read: SourceRead) -> tuple[str, str, str]:
    return read.observer, read.operation, read.target


def observer_name(observer: str) -> str:
    """Return an observer of the tables as people call it: `broker:2` is broker 2, `broker@b9:9092` the broker at b9:9092."""
    return re.sub(r"^(\w+)([:@])", lambda m: f"{m[1]} {'at ' if m[2] == '@' else ''}", clean(observer))


def source_name(resource: str, asked: Sequence[SourceRead]) -> str:
    """Return who was asked, for a sentence: `broker 2`, else every other source by its name."""
    if resource != "cluster":
        return resource.replace("/", " ", 1)
    names = {observer_name(read.observer) for read in asked}
    return ", ".join(sorted(name for name in names if "zookeeper" not in names or not name.startswith("zookeeper at ")))


def failed_texts(failed: Sequence[SourceRead]) -> Mapping[str, str]:
    """Return evidence on reads that failed: which, how the first of them ended, and what it needs."""
    first = failed[0]
    return {
        "reads": ", ".join(sorted({read.operation for read in failed})),
        "error": f"{first.error}: {first.message}" if first.message else str(first.error),
        "kind": str(first.error),
        "needs": next((read.needs for read in failed if read.needs), f"an answer from {first.target} to {first.operation}"),
    }


def addresses_of(target: str) -> tuple[tuple[str, int], ...]:
    """Return the hosts and ports that a read was sent to, e.g. those of a connection string of ZooKeeper."""
    return tuple((host, int(port)) for host, port in _ADDRESSES.findall(target))
