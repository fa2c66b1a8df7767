from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.listeners.inter_broker import InterBroker

_OTHERS = ("controller.listener.names", "control.plane.listener.name")


@check(code="KA308", severity=Severity.LOW, by_files=True)
def shared_listener(view: ClusterView) -> Judgements:
    """Clients and brokers use the same listener."""
    yield from one_finding(view, _of_brokers(view))
    yield from no_brokers(view)


def _of_brokers(view: ClusterView) -> Judgements:
    between = view.inter_broker
    for broker in between.brokers:
        own, offered, resource = between.listener(broker), between.offered(broker), f"broker/{broker}"
        if own is None or offered is None:
            error = "its inter-broker listener is unknown" if own is None else "its listeners are unknown"
            needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker} (`properties` in the cluster file)"
            yield view.unknown(resource, error, needs, who=f"broker {broker}")
            continue
        aside = {name.strip() for key in _OTHERS for name in (between.settings.get(broker, key).value or "").split(",")}
        clients = sorted(offered - aside - {own.name})
        evidence = {"broker": broker, "who": f"broker {broker}", "listener": own.name, "clients": tuple(clients)}
        evidence["key"] = _line(between, broker)
        yield view.judge(resource, Status.PASS if clients else Status.FAIL, evidence)


def _line(between: InterBroker, broker: int) -> str:
    return next((key for key in ("advertised.listeners", "listeners") if between.settings.get(broker, key).value), "listeners")
