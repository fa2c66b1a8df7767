"""KA308."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.inter_broker import InterBroker
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty

_OTHERS = ("controller.listener.names", "control.plane.listener.name")


@check(
    code="KA308",
    severity=Severity.LOW,
    needs=(BrokerConfig, BrokerProperty),
    by_files=True,
    says={
        Status.FAIL: "Clients and brokers share {listener}, the only listener of broker {broker} for them",
        Status.PASS: "Broker {broker} talks to others on {listener} and has {clients} for clients",
        Status.UNKNOWN: "Cannot determine whether clients and brokers share a listener at {who} ({error})",
    },
)
def shared_listener(view: ClusterView) -> Iterator[Judgement]:
    """Clients and brokers use the same listener.

    ## Why it matters
    What clients need then binds the brokers: an address that clients reach must be one that every broker reaches, a change of
    security concerns both at once, and a burst of connections of clients keeps replication waiting. Most clusters live with it.

    ## Fails when
    The listener that the broker uses between brokers is the only one that it advertises, those of controllers left aside.

    ## Not known when
    Its inter-broker listener or its listeners are not known.

    ## Passes only when
    There is another listener. Whether clients use it is not seen.

    ## What to do
    Give brokers a listener of their own: first add it on all brokers (`listeners`, `advertised.listeners`,
    `listener.security.protocol.map`), then switch `inter.broker.listener.name` from {listener} on all, broker {broker} included.

    ## References
    KIP-103 (listeners for different traffic); KIP-402 (connection limits of a listener).
    """
    between = view.inter_broker
    for broker in between.brokers:
        if between.settings.get(broker, "process.roles").value == "controller":
            continue
        own, offered, resource = between.listener(broker), between.offered(broker), f"broker/{broker}"
        if own is None or offered is None:
            error = "its inter-broker listener is unknown" if own is None else "its listeners are not known"
            needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker} (`properties` in the cluster file)"
            yield view.judge("KA308", resource, Status.UNKNOWN, who=f"broker {broker}", error=error, needs=needs)
            continue
        aside = {name.strip() for key in _OTHERS for name in (between.settings.get(broker, key).value or "").split(",")}
        clients = sorted(offered - aside - {own.name})
        words = {"broker": broker, "listener": own.name, "clients": tuple(clients), "key": _line(between, broker)}
        yield view.judge("KA308", resource, Status.PASS if clients else Status.FAIL, words)
    yield from no_brokers(view, "KA308")


def _line(between: InterBroker, broker: int) -> str:
    return next((key for key in ("advertised.listeners", "listeners") if between.settings.get(broker, key).value), "listeners")
