"""What a snapshot shows of the metadata quorum that is to be changed: who votes, who follows, who is found where."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from kafka_audit.cluster.features import KRAFT_VERSION
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.cluster.quorum import NO_TIMES
from kafka_audit.cluster.releases import does
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import HostPort, address_text
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.migration.items import GateItem, HeadedItem
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, controller_entry
from kafka_audit.model.addresses.voters import quorum_addresses
from kafka_audit.model.tables import QuorumReplica
from kafka_audit.model.text import counted

_AUTO_JOIN = "controller.quorum.auto.join.enable"


class QuorumFacts:
    """The quorum in the newest sample, with the settings of the nodes that have to find it."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; everything is computed when it is first asked for."""
        self.view = view
        self._now = view.quorum.now

    @cached_property
    def leader(self) -> int | None:
        """The leader; None if the quorum was not read."""
        return None if self._now.newest is None else self._now.newest.leader_id

    @cached_property
    def voters(self) -> Mapping[int, QuorumReplica]:
        """Voters by node id."""
        return {node: row for node, row in sorted(self._now.replicas.items()) if row.voter}

    @cached_property
    def observers(self) -> frozenset[int]:
        """Nodes that follow without a vote: brokers, and controllers that were not added."""
        return frozenset(self._now.replicas) - frozenset(self.voters)

    @property
    def has_times(self) -> bool:
        """Whether the leader reports when each voter was caught up (Kafka 3.3)."""
        return bool(self._now.behind_ms)

    @property
    def late(self) -> frozenset[int]:
        """Nodes that are behind in the newest sample."""
        return self._now.late

    @cached_property
    def late_twice(self) -> frozenset[int]:
        """Nodes that are behind in both samples; none without a second one."""
        return self.view.quorum.lagging

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether the voters are in the metadata log."""
        feature = self.view.features.get(KRAFT_VERSION)
        return self._now.is_dynamic or bool(feature and feature.finalized)

    @cached_property
    def brokers(self) -> tuple[int, ...]:
        """Brokers that do not vote."""
        return tuple(node for node in self.view.inter_broker.brokers if node not in self.voters)

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """Every node that has to find the quorum: voters, other controllers with a file, and brokers."""
        return tuple(sorted({*self.voters, *self.view.settings.controllers, *self.view.inter_broker.brokers}))

    def value(self, node: int, key: str) -> str:
        """Return a setting of a node, "" where it is unset or unknown."""
        return self.view.settings.get(node, key).value or ""

    def is_read(self, node: int) -> bool:
        """Return whether the settings of a node are known: by its file, or for a broker by DescribeConfigs."""
        return self.has_file(node) or node in self.view.settings.answers

    def has_file(self, node: int) -> bool:
        """Return whether server.properties of a node was read."""
        return node in self.view.settings.files or node in self.view.settings.controllers

    def is_controller(self, node: int) -> bool:
        """Return whether a node has the controller role by its settings."""
        return node in self.view.settings.with_controller_role

    def joins_by_itself(self, node: int) -> bool | None:
        """Return whether a controller joins the voters by itself (Kafka 4.2); None if its settings are unknown."""
        found = self.view.settings.get(node, _AUTO_JOIN)
        return (found.value or "").strip().lower() == "true" if found.known else None

    def upgrades_kraft_version(self, node: int) -> bool | None:
        """Return whether a voter runs Kafka 4.1 or later; None if unknown.

        A finalized metadata.version of 4.1 shows it for every node, because the controller refuses a level that one of the
        registered brokers and controllers does not support. Otherwise only a node that is a broker, too, reports its levels.
        """
        return does(self.view, node, "kraft_version_raised")

    def listeners(self, node: int) -> tuple[str, ...]:
        """Return the listeners of controllers that a node names, the one that it uses itself first."""
        names = (canonical_listener(name) for name in self.value(node, CONTROLLERS).split(","))
        return tuple(filter(None, names))

    @cached_property
    def tls(self) -> bool | None:
        """Whether the controllers' listener has TLS; None if no node reports its protocol."""
        protocols = set(filter(None, map(self.view.inter_broker.controller_protocol, self.nodes)))
        return bool(protocols & TLS) if protocols else None

    @cached_property
    def endpoints(self) -> Mapping[int, HostPort]:
        """Where the leader has the other voters reach each of them; none before Kafka 3.9."""
        return quorum_addresses(self._now.addresses, self.view.settings.of_controllers)

    @cached_property
    def addresses(self) -> Mapping[int, HostPort]:
        """Where controllers are found: voters as the leader or most nodes have it, others as their own files advertise them."""
        advertised = {node: address for node in self.nodes for address in self.advertised(node)}
        return {**advertised, **self.view.voter_addresses}

    def advertised(self, node: int, *keys: str) -> tuple[HostPort, ...]:
        """Return the address that a controller's settings give its listener, none where they do not name a host.

        `keys`: where to look. What `advertised.listeners` leaves out is advertised as in `listeners` (Kafka 3.9).
        """
        for key in (keys or (KEY, INSTEAD)) if self.is_controller(node) else ():
            entry = controller_entry({CONTROLLERS: self.value(node, CONTROLLERS), key: self.value(node, key)})
            if entry is not None and entry.host and entry.port:
                return ((entry.host, entry.port),)
        return ()

    def address(self, node: int) -> str:
        """Return HOST:PORT of a controller, with a word in capitals where its host is unknown."""
        return address_text(*self.addresses.get(node, (f"HOST_OF_{node}", 9093)))


FILE_NEEDS = "Needed: server.properties of node {node} (`properties` in the cluster file)"


def gate_item(heading: str, code: str, resource: str, message: str, remedy: str = "") -> HeadedItem:
    """Return a line of the gate under a heading."""
    return HeadedItem(heading, GateItem(source="gate", code=code, resource=resource, message=message, remedy=remedy))


def quorum_is_read(facts: QuorumFacts) -> Iterator[HeadedItem]:
    """Yield why there is no quorum to change: ZooKeeper, or no leader that answered."""
    if not facts.view.kraft:
        remedy = "Plan the migration first: `kafka-audit before-migration CLUSTER --kind zookeeper-to-kraft`."
        yield gate_item("blockers", "KA209", "cluster", "The cluster has no metadata quorum: it uses ZooKeeper", remedy)
    elif facts.leader is None:
        error, needs = facts.view.quorum.unread()
        message = f"Cannot determine who votes in the metadata quorum ({error})"
        yield gate_item("not_known", "KA209", "cluster", message, f"Needed: {needs}")


def voters_follow(facts: QuorumFacts, leaving: Iterable[int] = ()) -> Iterator[HeadedItem]:
    """Yield voters that do not follow: a change restarts others, or counts on all. Voters that leave may be down."""
    if not facts.has_times:
        error, needs = NO_TIMES
        message = f"Cannot determine whether all voters follow ({error})"
        yield gate_item("not_known", "KA209", "cluster", message, f"Needed: {needs}")
        return
    for node in sorted(facts.voters.keys() - frozenset(leaving)):
        if node in facts.late_twice:
            message = f"Controller {node} is a voter and does not follow leader {facts.leader}"
            remedy = "Start it, or repair its connection to the other controllers first: `kafka-audit explain KA209`."
            yield gate_item("blockers", "KA209", f"controller/{node}", message, remedy)
        elif node in facts.late:
            message = f"Cannot determine whether controller {node} follows (in motion: behind in one sample)"
            yield gate_item("not_known", "KA209", f"controller/{node}", message, "Needed: another audit")


def files_are_read(facts: QuorumFacts, nodes: Iterable[int], what: str, *, whole: bool = False) -> Iterator[HeadedItem]:
    """Yield nodes whose settings are unknown; `whole`: what a broker reports does not show what is asked, only its file does."""
    for node in nodes:
        if not (facts.has_file(node) if whole else facts.is_read(node)):
            kind = "broker" if node in facts.brokers else "controller"
            message = f"Cannot determine {what} of {kind} {node}: its file was not read"
            yield gate_item("not_known", "KA213", f"{kind}/{node}", message, FILE_NEEDS.format(node=node))


def size_is_safe(size: int) -> Iterator[HeadedItem]:
    """Yield a warning about a quorum that will have too few voters, or an even number."""
    if size <= 2 or size % 2 == 0:  # noqa: PLR2004 -- as KA217
        message = f"The quorum will have {counted(size, 'voter')}"
        remedy = "Three voters, or five, tolerate a failure and elect by majority: `kafka-audit explain KA217`."
        yield gate_item("warnings", "KA217", "cluster", message, remedy)
