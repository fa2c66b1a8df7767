from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.checks.configuration.effective import Effective, each_broker

_KEY = "authorizer.class.name"
_STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_IN_ZOOKEEPER = frozenset({"kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer"})


@gate_check(code="KA904", severity=Severity.MEDIUM, mode="zookeeper")
def authorizer_to_replace(view: ClusterView) -> Judgements:
    """A broker's authorizer stores its ACLs in ZooKeeper, or is not Kafka's own."""
    effective = Effective(view)

    def judged(broker: int) -> Judgements:
        setting = effective.settings.get(broker, _KEY)
        evidence = {"broker": broker, "who": f"broker {broker}", "authorizer": setting.value or "none", "fault": ""}
        if not setting.known:
            yield view.unknown(
                f"broker/{broker}", f"{_KEY} is unknown", f"DescribeConfigs on Cluster, answered by broker {broker}", evidence
            )
        elif setting.value in {None, _STANDARD}:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
        else:
            evidence["fault"] = "stores its ACLs in ZooKeeper" if setting.value in _IN_ZOOKEEPER else "is not Kafka's own"
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence)

    yield from each_broker(effective, judged)
