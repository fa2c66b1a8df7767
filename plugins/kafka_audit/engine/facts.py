"""The newest look at a snapshot's rows, indexed the way causes and the matrix ask: by broker, endpoint and path."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from kafka_audit.checks import advertised
from kafka_audit.checks.inter_broker import InterBroker
from kafka_audit.checks.log_lines import LogLines
from kafka_audit.checks.ways import Way, ways
from kafka_audit.engine import partition_states
from kafka_audit.engine.partition_states import PartitionState
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerIdentity,
    BrokerView,
    Probe,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    Registry,
    Snapshot,
    SnapshotInfo,
    ViewBroker,
)

LAYERS = ("dns", "tcp", "tls", "sasl", "api", "identity")
"""Layers of a path in the order in which they are tried."""

_Sampled = TypeVar("_Sampled", Registry, RegisteredBroker, RegisteredEndpoint, RegisteredPartition, BrokerIdentity)


@dataclass(frozen=True, kw_only=True, order=True)
class Endpoint:
    """An address that a broker advertises for a listener. `protocol` is None where only views told of it (KRaft)."""

    broker_id: int
    listener: str
    host: str
    port: int
    protocol: str | None = None

    @property
    def address(self) -> str:
        """`host:port`, the way Kafka writes it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class Path:
    """One probe from a vantage to an endpoint, its layers put together."""

    vantage: str
    role: str
    from_broker: int | None
    endpoint: Endpoint
    via: str | None
    passed: tuple[str, ...]
    outcome: str  # ok, failed, unknown
    layer: str | None  # the first that failed or is not known
    error: str | None
    needs: str | None
    resolved: str | None = None  # what the name means there and who told it, as `Probe.detail` of the layer dns


def failed_at_network(path: Path) -> bool:
    """Tell whether a path ends before any byte of Kafka's is exchanged."""
    return path.outcome == "failed" and path.layer in {"dns", "tcp"}


def broker_of(resource: str) -> int | None:
    """Return the broker that a resource name starts with, e.g. 2 for `broker/2/listener/PLAINTEXT`."""
    match = re.match(r"broker/(\d+)(?:/|$)", resource)
    return int(match[1]) if match else None


class Facts:
    """Indexes over one snapshot; each is built when it is first asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Keep the snapshot; nothing is read yet."""
        self.snapshot = snapshot

    def _newest(self, rows: Iterable[_Sampled]) -> tuple[_Sampled, ...]:
        found = tuple(rows)
        last = max((row.sample for row in found), default=0)
        return tuple(row for row in found if row.sample == last)

    @cached_property
    def info(self) -> SnapshotInfo | None:
        """What was audited."""
        return next(iter(self.snapshot.of(SnapshotInfo)), None)

    @cached_property
    def kraft(self) -> bool:
        """Whether brokers fetch their metadata themselves, instead of being told by the controller."""
        return self.info is not None and self.info.mode == "kraft"

    @cached_property
    def registry(self) -> Registry | None:
        """ZooKeeper's newest row about the cluster."""
        return next(iter(self._newest(self.snapshot.of(Registry))), None)

    @cached_property
    def controller(self) -> int | None:
        """The controller by ZooKeeper; in KRaft the controller of Metadata is a random broker, so it is not told here."""
        return self.registry.controller_id if self.registry else None

    @cached_property
    def registered(self) -> Mapping[int, RegisteredBroker]:
        """ZooKeeper's registrations by broker id."""
        return {row.broker_id: row for row in self._newest(self.snapshot.of(RegisteredBroker))}

    @cached_property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Advertised endpoints as registered, in KRaft as settings and lists tell them; where ZooKeeper is silent, all listed."""
        rows = advertised.endpoints(self.snapshot) if self.kraft else self._newest(self.snapshot.of(RegisteredEndpoint))
        if rows:
            return tuple(
                sorted(
                    Endpoint(broker_id=r.broker_id, listener=r.listener, host=r.host, port=r.port, protocol=r.protocol or None)
                    for r in rows
                )
            )
        seen = {
            Endpoint(broker_id=broker.broker_id, listener=view.listener, host=broker.host, port=broker.port)
            for view in self.views.values()
            for broker in self.listed.get(view.brokers_digest, ())
        }
        return tuple(sorted(seen, key=lambda e: (e.broker_id, e.listener, e.host, e.port)))

    def endpoint(self, resource: str) -> Endpoint | None:
        """Return the endpoint that `broker/<id>/listener/<NAME>` names."""
        broker = broker_of(resource)
        own = () if broker is None else self.endpoints_of(broker)
        return next((e for e in own if resource == f"broker/{broker}/listener/{e.listener}"), None)

    def endpoints_of(self, broker: int) -> tuple[Endpoint, ...]:
        """Return what a broker advertises."""
        return self._endpoints_by_broker.get(broker, ())

    @cached_property
    def _endpoints_by_broker(self) -> Mapping[int, tuple[Endpoint, ...]]:
        found: dict[int, list[Endpoint]] = defaultdict(list)
        for endpoint in self.endpoints:
            found[endpoint.broker_id].append(endpoint)
        return {broker: tuple(endpoints) for broker, endpoints in found.items()}

    @cached_property
    def views(self) -> Mapping[tuple[str, str], BrokerView]:
        """The newest view by observer and listener."""
        found: dict[tuple[str, str], BrokerView] = {}
        for view in self.snapshot.of(BrokerView):
            key = (view.observer, view.listener)
            if key not in found or view.sample >= found[key].sample:
                found[key] = view
        return found

    def views_of(self, broker: int) -> tuple[BrokerView, ...]:
        """Return what a broker said when it was asked itself, one view a listener."""
        return tuple(view for view in self.views.values() if view.broker_id == broker)

    def is_empty(self, broker: int) -> bool:
        """Tell whether a broker answered, and listed no broker."""
        return any(view.brokers_listed == 0 for view in self.views_of(broker))

    @cached_property
    def listed(self) -> Mapping[str, tuple[ViewBroker, ...]]:
        """Brokers as listed in a view, by its `brokers_digest`."""
        found: dict[str, list[ViewBroker]] = defaultdict(list)
        for row in self.snapshot.of(ViewBroker):
            found[row.brokers_digest].append(row)
        return {digest: tuple(rows) for digest, rows in found.items()}

    @cached_property
    def known_brokers(self) -> tuple[int, ...]:
        """Every broker id that anybody names: registrations, views, assignments."""
        ids = set(self.registered) | {e.broker_id for e in self.endpoints}
        ids |= {row.broker_id for rows in self.listed.values() for row in rows}
        ids |= {view.broker_id for view in self.views.values()}
        ids |= {replica for row in self.partitions.values() for replica in row.replicas}
        return tuple(sorted(i for i in ids if i >= 0))

    @cached_property
    def partitions(self) -> Mapping[tuple[str, int], RegisteredPartition]:
        """ZooKeeper's newest partition states."""
        return {(row.topic, row.partition): row for row in self._newest(self.snapshot.of(RegisteredPartition))}

    @cached_property
    def states(self) -> Mapping[tuple[str, int], PartitionState]:
        """Who leads and follows each partition: by ZooKeeper, without it by the newest among the brokers' views."""
        if self.kraft:
            return partition_states.among_views(self.snapshot, self.views.values())
        return partition_states.registered(self.partitions.values())

    @cached_property
    def identities(self) -> Mapping[tuple[int, str], BrokerIdentity]:
        """Who really answered, by the broker and listener that the address is advertised for."""
        return {(row.broker_id, row.listener): row for row in self._newest(self.snapshot.of(BrokerIdentity))}

    @cached_property
    def configs(self) -> Mapping[tuple[int, str], BrokerConfig]:
        """DescribeConfigs by broker and key."""
        return {(row.broker_id, row.key): row for row in self.snapshot.of(BrokerConfig)}

    def config(self, broker: int, key: str) -> str | None:
        """Return a broker's setting; None where it is unset, hidden or was not read."""
        row = self.configs.get((broker, key))
        return row.value if row else None

    @cached_property
    def configured(self) -> frozenset[int]:
        """Brokers whose DescribeConfigs was answered."""
        return frozenset(broker for broker, _ in self.configs)

    def inter_broker_endpoint(self, broker: int) -> Endpoint | None:
        """Return the endpoint on which a broker hears the others, as far as its settings tell."""
        own = self.endpoints_of(broker)
        listener = self.between.listener(broker)
        if len(own) == 1 or listener is None:
            return own[0] if len(own) == 1 else None
        return next((e for e in own if e.listener == listener.name), None)

    @cached_property
    def between(self) -> InterBroker:
        """How brokers talk to each other, by files, settings and registrations."""
        return InterBroker(self.snapshot)

    @cached_property
    def logs(self) -> LogLines:
        """What brokers wrote themselves."""
        return LogLines(self.between)

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Every probed path as it ended in the last sample in which it was tried."""
        groups: dict[tuple[object, ...], list[Probe]] = defaultdict(list)
        for row in self.snapshot.of(Probe):
            groups[row.vantage, row.role, row.from_broker, row.broker_id, row.listener].append(row)
        return tuple(_path(rows) for rows in groups.values())

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """How this worker came to each endpoint, directly or as `reach` has it."""
        return ways(self.snapshot)

    def paths_to(self, endpoint: Endpoint, role: str) -> tuple[Path, ...]:
        """Return the paths from vantages of a role to an endpoint."""
        wanted = (endpoint.broker_id, endpoint.listener)
        return tuple(p for p in self.paths if p.role == role and (p.endpoint.broker_id, p.endpoint.listener) == wanted)


def _path(rows: list[Probe]) -> Path:
    last = max(row.sample for row in rows)
    newest = sorted((row for row in rows if row.sample == last), key=lambda row: LAYERS.index(row.layer))
    stop = next((row for row in newest if row.outcome == "failed"), None) or next(
        (row for row in newest if row.outcome == "unknown"), None
    )
    first = newest[0]
    return Path(
        vantage=first.vantage,
        role=first.role,
        from_broker=first.from_broker,
        endpoint=Endpoint(
            broker_id=first.broker_id, listener=first.listener, host=first.host, port=first.port, protocol=first.protocol
        ),
        via=first.via,
        passed=tuple(row.layer for row in newest if row.outcome == "ok"),
        outcome=stop.outcome if stop else "ok",
        layer=stop.layer if stop else None,
        error=stop.error if stop else None,
        needs=stop.needs if stop else None,
        resolved=next((row.detail for row in newest if row.layer == "dns"), None),
    )
