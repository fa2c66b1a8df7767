from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.differences.tables import TopicSetting
from kafka_audit.model.tables import AclHolder, DynamicConfig, Registry, ScramUser
from kafka_audit.model.text import counted

_READS = ("zookeeper /kafka-acl", "zookeeper /config/users", "zookeeper /config/brokers", "zookeeper /config/topics")


@gate_check(code="KA911", severity=Severity.INFO, mode="zookeeper")
def kept_in_zookeeper(view: ClusterView) -> Judgements:
    """ZooKeeper contains ACLs, SCRAM credentials, or dynamic settings of brokers or topics."""
    failed = next((read for read in view.last_reads if read.operation in _READS and read.outcome == "failed"), None)
    if failed is not None or not view.newest(Registry):
        error = f"{failed.operation}: {failed.error}" if failed else "ZooKeeper was not read"
        yield view.unknown("cluster", error, (failed.needs if failed else None) or "a ZooKeeper that answers")
        return
    numbers = {
        "ACL": max((row.acls for row in view.of(AclHolder) if row.observer == "zookeeper"), default=0),
        "SCRAM credential": len(view.of(ScramUser)),
        "dynamic setting of brokers": len(view.of(DynamicConfig)),
        "setting of topics": sum(row.topics for row in view.differences.of(TopicSetting)),
    }
    more = {"dynamic setting of brokers": "dynamic settings of brokers", "setting of topics": "settings of topics"}
    what = ", ".join(counted(number, name, more.get(name)) for name, number in numbers.items() if number)
    yield view.judge("cluster", Status.FAIL if what else Status.PASS, what=what)
