"""Which listeners are the brokers' own, and not for the clients of a vantage."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.compare.listener_names import same_listener

_CONTROL_PLANE = "control.plane.listener.name"


def replication_listeners(inter_broker: InterBroker, probes: Iterable[ProbeResult]) -> Mapping[str, frozenset[str]]:
    """Return for each client vantage the listeners that only brokers use, as far as the probes show.

    Such a listener is the inter-broker or control-plane listener of every broker that has it, beside another listener. The
    vantage reaches it at no broker and reaches another listener, and `reach` has no mapping: a network, or certificates, of the
    brokers' own. Where one broker's is reached, clients may use it, and each of its endpoints counts.
    """
    by_vantage: dict[str, dict[str, list[ProbeResult]]] = defaultdict(lambda: defaultdict(list))
    for probe in probes:
        if probe.role == "client":
            by_vantage[probe.vantage][probe.listener].append(probe)
    names_by_vantage = {}
    for vantage, by_listener in by_vantage.items():
        closed = {
            listener: own_results
            for listener, own_results in by_listener.items()
            if not any(probe.state == "open" or probe.via is not None for probe in own_results)
        }
        reached = any(probe.state == "open" for own_results in by_listener.values() for probe in own_results)
        names = [
            name
            for name, own_results in closed.items()
            if all(_brokers_use(inter_broker, probe.broker_id, name) for probe in own_results)
            # What is a broker's only listener is for its clients, too.
            and {probe.broker_id for probe in own_results}
            <= {probe.broker_id for other, theirs in by_listener.items() if other != name for probe in theirs}
        ]
        if reached and names:
            names_by_vantage[vantage] = frozenset(names)
    return names_by_vantage


def _brokers_use(inter_broker: InterBroker, broker: int, name: str) -> bool:
    listener = inter_broker.listener(broker)
    control = inter_broker.settings.get(broker, _CONTROL_PLANE).value or ""
    return same_listener(control, name) or (listener is not None and same_listener(listener.name, name))
