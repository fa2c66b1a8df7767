from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.gaps import no_brokers


@check(code="KA411", severity=Severity.MEDIUM, by_files=True)
def open_between_brokers(view: ClusterView) -> Judgements:
    """Inter-broker traffic is not encrypted."""
    yield from one_finding(view, _of_brokers(view))
    yield from no_brokers(view)


def _of_brokers(view: ClusterView) -> Judgements:
    between = view.inter_broker
    for broker in between.brokers:
        listener = between.listener(broker)
        if listener is None or listener.protocol is None:
            needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker}"
            yield view.unknown(f"broker/{broker}", "its inter-broker listener is unknown", needs, who=f"broker {broker}")
            continue
        mechanism = between.mechanism(broker).value if listener.logs_in else None
        what = "every record and the brokers' password" if mechanism == "PLAIN" else "every record"
        evidence = {
            "broker": broker,
            "who": f"broker {broker}",
            "listener": listener.name,
            "protocol": listener.protocol,
            "what": what,
        }
        evidence["key"] = between.settings.first_set(broker, "inter.broker.listener.name", "security.inter.broker.protocol")
        status = Status.PASS if listener.encrypted else Status.FAIL
        yield view.judge(f"broker/{broker}/listener/{listener.name}", status, evidence)
