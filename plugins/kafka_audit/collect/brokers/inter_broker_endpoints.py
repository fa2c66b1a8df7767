"""Where brokers reach each other without ZooKeeper: no list that a client gets has an inter-broker listener of its own. Pure.

Each broker's settings name that listener and advertise its address. It is probed from brokers' hosts, as brokers use it: no
client needs to reach it, and it is not asked for anything.
"""

from collections.abc import Iterable, Mapping

from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.model.addresses.advertised_listeners import entries, protocols_by_listener
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, RegisteredEndpoint, Row

_NAME, _PROTOCOL, _MAP = "inter.broker.listener.name", "security.inter.broker.protocol", "listener.security.protocol.map"


def settings_of(rows: Iterable[Row], table: type[BrokerConfig] | type[BrokerProperty]) -> dict[int, dict[str, str | None]]:
    """Return values by key of each broker, by DescribeConfigs or by its file."""
    found: dict[int, dict[str, str | None]] = {}
    for row in rows:
        if isinstance(row, table):
            found.setdefault(row.broker_id, {})[row.key] = row.value
    return found


def inter_broker_endpoints(settings: Mapping[int, Mapping[str, str | None]], sample: int) -> tuple[RegisteredEndpoint, ...]:
    """Return the address of each broker's inter-broker listener; none where its settings do not say it.

    Args:
        settings: values by key of each broker.
        sample: number of the sample.
    """
    found = []
    for broker, values in sorted(settings.items()):
        name = canonical_listener(values.get(_NAME) or values.get(_PROTOCOL) or "PLAINTEXT")
        protocol = protocols_by_listener(values.get(_MAP) or "").get(name, name)
        found += [
            RegisteredEndpoint(
                sample=sample, broker_id=broker, listener=name, protocol=protocol, host=entry.host, port=entry.port
            )
            for entry in entries(values)
            if entry.listener == name and entry.host and entry.port is not None
        ]
    return tuple(found)
