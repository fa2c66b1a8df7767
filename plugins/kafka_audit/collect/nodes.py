"""The nodes of a cluster whose files and logs are read, and the placeholders that stand for their ids. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_audit.model.addresses.voters import VOTERS, named_voters
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, ControllerProbe, QuorumReplica, Row

BROKER, CONTROLLER, NODE = "{broker_id}", "{controller_id}", "{node_id}"
PLACEHOLDERS = (BROKER, CONTROLLER, NODE)

_ROLES = "process.roles"
_MOST_ID = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """Ids by role; a node that is a broker and a controller counts as a broker."""

    brokers: tuple[int, ...] = ()
    controllers: tuple[int, ...] = ()

    def of(self, placeholder: str) -> tuple[int, ...]:
        """Return the ids that a placeholder stands for."""
        return {BROKER: self.brokers, CONTROLLER: self.controllers}.get(placeholder, (*self.brokers, *self.controllers))


def placeholder_in(words: Iterable[str]) -> str | None:
    """Return the placeholder of a path, or of a command, None where it has none."""
    some = tuple(words)
    return next((name for name in PLACEHOLDERS if any(name in word for word in some)), None)


def filled(words: Sequence[str], node: int) -> tuple[str, ...]:
    """Return a path or a command for one node."""
    for name in PLACEHOLDERS:
        words = [word.replace(name, str(node)) for word in words]
    return tuple(words)


def nodes(brokers: Iterable[int], rows: Iterable[Row], most: int) -> Nodes:
    """Return the brokers, and the controllers that are none, at most so many: as the quorum, settings or files name them.

    Settings count because a quorum without a leader lists no voters, and that is when the logs of controllers are needed.
    """
    known = sorted(set(brokers))
    found = {node for row in rows for node in _controllers(row) if 0 <= node <= _MOST_ID}
    return Nodes(brokers=tuple(known), controllers=tuple(sorted(found - set(known))[:most]))


def _controllers(row: Row) -> Iterator[int]:
    if isinstance(row, QuorumReplica) and row.voter:
        yield row.replica_id
    elif isinstance(row, ControllerProbe) and row.node_id is not None:
        yield row.node_id
    elif isinstance(row, BrokerConfig | BrokerProperty) and row.key == VOTERS:
        yield from named_voters(row.value)
    elif isinstance(row, BrokerProperty) and row.key == _ROLES and (row.value or "").strip() == "controller":
        yield row.broker_id
