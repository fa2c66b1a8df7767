from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.checks.configuration.effective import Effective, commonest, each_broker
from kafka_audit.checks.configuration.versions import KEY, offered_apis, unlike
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.configuration.starts.protocol_versions import version


@gate_check(code="KA901", severity=Severity.HIGH, mode="zookeeper")
def protocol_too_old(view: ClusterView) -> Judgements:
    """Brokers run a version or use a protocol that cannot migrate to KRaft, or they run different versions."""
    documented, least = behaviour("migration_documented"), behaviour("migration_begins").first
    effective = Effective(view)
    offers = offered_apis(view)
    usual = commonest(offers) if offers else ()

    def judged(broker: int) -> Judgements:
        value = effective.get(broker, KEY)
        evidence = {"broker": broker, "who": f"broker {broker}", "version": value.text or "of its software"}
        faults, severity = [], Severity.MEDIUM
        if value.known and value.text and not documented.holds(value.text.partition("-")[0]):
            begins = version(value.text) >= version(least)
            faults.append(f"its {KEY} is {value.text}, below {documented.first if begins else least}")
            severity = Severity.MEDIUM if begins else Severity.HIGH
        if broker in offers and offers[broker] != usual:
            faults.append(unlike(dict(offers[broker]), dict(usual)))
            severity = Severity.HIGH
        if faults:
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence, severity=severity, fault=" and ".join(faults))
        elif not value.known or not value.text:
            yield view.unknown(
                f"broker/{broker}", f"{KEY} is unknown", f"DescribeConfigs on Cluster, answered by broker {broker}", evidence
            )
        else:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)

    yield from each_broker(effective, judged)
