"""What the registry of a cluster holds in one sample, under the same names with ZooKeeper and with KRaft.

ZooKeeper says it itself; in KRaft mode it is the newest that brokers hold, see `broker_lists`. What a broker's registration rests
on (`version`) is there its address, and what the list of brokers rests on is its ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

from kafka_audit.cluster.broker_lists import BrokerList, broker_lists, newest_lists
from kafka_audit.cluster.samples import Samples
from kafka_audit.compare.addresses import canonical_address
from kafka_audit.model.tables import Migration, RegisteredBroker, RegisteredEndpoint, Registry, ViewBroker


@dataclass(frozen=True, kw_only=True)
class ClusterState:
    """What the registry holds of the cluster as a whole: ZooKeeper, or the newest that KRaft brokers hold."""

    kafka_cluster_id: str | None
    controller_id: int | None  # None in KRaft: there the controller of Metadata is any broker
    controller_epoch: int | None
    controller_version: int | None
    brokers_version: int | None  # changes when a broker comes or goes
    holders: tuple[str, ...] | None  # KRaft: names of the brokers that hold the newest; None with ZooKeeper
    first_zxid: int | None


@dataclass(frozen=True, kw_only=True)
class BrokerRegistration:
    """A registered broker; in KRaft one that the newest lists hold."""

    broker_id: int
    rack: str | None
    version: int | None  # of the registration
    created: int | None  # czxid; None in KRaft
    session: int | None  # ephemeral owner; None in KRaft
    registered_ms: int | None
    disputed: bool  # KRaft: only some of the newest lists have it


@dataclass(frozen=True, kw_only=True)
class RegisteredAddress:
    """An address of a registered broker, with what its registration rests on. In KRaft the listener is nameless: ''."""

    broker_id: int
    listener: str
    protocol: str | None
    host: str
    port: int
    version: int | None
    disputed: bool


class RegistrySample:
    """The registry in one sample of one snapshot."""

    def __init__(self, samples: Samples, sample: int | None, ages: Mapping[str, int]) -> None:
        """Keep the snapshot; nothing is read yet. `ages` as in `broker_lists`."""
        self.samples = samples
        self.sample = sample
        self._ages = ages

    @cached_property
    def lists(self) -> tuple[BrokerList, ...]:
        """KRaft: the distinct lists that brokers hold."""
        return broker_lists(self.samples, self.sample, self._ages)

    @cached_property
    def _newest(self) -> tuple[BrokerList, ...]:
        return newest_lists(self.lists)

    @cached_property
    def state(self) -> ClusterState | None:
        """What is held of the cluster as a whole; None where it was not read."""
        if self.samples.kraft:
            return _among_brokers(self._newest) if self._newest else None
        row = next(iter(self.samples.at(Registry, self.sample)), None)
        if row is None:
            return None
        return ClusterState(
            kafka_cluster_id=row.kafka_cluster_id,
            controller_id=row.controller_id,
            controller_epoch=row.controller_epoch,
            controller_version=row.controller_mzxid,
            brokers_version=row.brokers_pzxid,
            holders=None,
            first_zxid=row.zxid_before,
        )

    @cached_property
    def migrating(self) -> Migration | None:
        """The claim of a KRaft controller that migrates the cluster: it sends updates to the brokers that use ZooKeeper."""
        rows = self.samples.at(Migration, self.sample)
        return None if self.samples.kraft else next((row for row in rows if row.kraft_controller_id is not None), None)

    @cached_property
    def controller(self) -> int | None:
        """The controller by ZooKeeper: a broker, or in a migration a KRaft controller. None without ZooKeeper."""
        if self.state is None or self.samples.kraft:
            return None
        return self.migrating.kraft_controller_id if self.migrating else self.state.controller_id

    @cached_property
    def brokers(self) -> Mapping[int, BrokerRegistration]:
        """Registered brokers by id."""
        if self.samples.kraft:
            return {broker: self._listed(broker, row) for broker, row in self._first.items()}
        return {
            row.broker_id: BrokerRegistration(
                broker_id=row.broker_id,
                rack=row.rack,
                version=row.mzxid,
                created=row.czxid,
                session=row.ephemeral_owner,
                registered_ms=row.registered_ms,
                disputed=False,
            )
            for row in self.samples.at(RegisteredBroker, self.sample)
        }

    @cached_property
    def addresses(self) -> tuple[RegisteredAddress, ...]:
        """Addresses of registered brokers."""
        if self.samples.kraft:
            rows: list[tuple[int, str, str | None, str, int]] = [
                (broker, "", None, row.host, row.port) for broker, row in self._first.items()
            ]
        else:
            held = self.samples.at(RegisteredEndpoint, self.sample)
            rows = [(row.broker_id, row.listener, row.protocol, row.host, row.port) for row in held]
        return tuple(
            RegisteredAddress(
                broker_id=broker,
                listener=listener,
                protocol=protocol,
                host=host,
                port=port,
                version=self.brokers[broker].version,
                disputed=self.brokers[broker].disputed,
            )
            for broker, listener, protocol, host, port in rows
            if broker in self.brokers
        )

    @cached_property
    def listeners(self) -> frozenset[str]:
        """Names of all registered listeners."""
        return frozenset(row.listener for row in self.addresses)

    @cached_property
    def _first(self) -> Mapping[int, ViewBroker]:
        """Brokers of the newest lists, each as the first of them has it."""
        found: dict[int, ViewBroker] = {}
        for broker_list in self._newest:  # in the order of addresses
            for broker, row in broker_list.brokers.items():
                found.setdefault(broker, row)
        return dict(sorted(found.items()))

    def _listed(self, broker: int, row: ViewBroker) -> BrokerRegistration:
        return BrokerRegistration(
            broker_id=broker,
            rack=row.rack,
            version=crc32(repr(canonical_address(row.host, row.port)).encode()),
            created=None,
            session=None,
            registered_ms=None,
            disputed=any(broker not in broker_list.brokers for broker_list in self._newest),
        )


def _among_brokers(lists: tuple[BrokerList, ...]) -> ClusterState:
    ids = sorted({broker for broker_list in lists for broker in broker_list.brokers})
    names = {name for broker_list in lists for name in broker_list.names}
    return ClusterState(
        kafka_cluster_id=lists[0].kafka_cluster_id,
        controller_id=None,
        controller_epoch=None,
        controller_version=None,
        brokers_version=crc32(repr(ids).encode()),
        holders=tuple(sorted(names, key=lambda name: (len(name), name))),
        first_zxid=None,
    )
