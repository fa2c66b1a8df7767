from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.model.tables import ZookeeperNode
from kafka_audit.model.text import listing

_PATH = "/config"
_KNOWN = frozenset({"topics", "brokers", "clients", "users", "ips", "changes"})


@gate_check(code="KA908", severity=Severity.MEDIUM, mode="zookeeper")
def settings_left_behind(view: ClusterView) -> Judgements:
    """`/config` contains a kind of entity that the migration to KRaft does not copy."""
    nodes = {row.path: row.children for row in view.newest(ZookeeperNode)}
    names = {path.removeprefix(f"{_PATH}/") for path in nodes if path.startswith(f"{_PATH}/")}
    direct = {name for name in names if "/" not in name}
    strangers = sorted(direct - _KNOWN)
    if strangers:
        yield view.judge("cluster", Status.FAIL, names=listing(strangers, 5), znodes=tuple(strangers))
    elif _PATH not in nodes or len(direct) < nodes[_PATH]:
        yield view.unknown("cluster", "the children of /config were not all read", "read on /config in ZooKeeper")
    else:
        yield view.judge("cluster", Status.PASS)
