from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE_BY_ZOOKEEPER, no_ensemble
from kafka_audit.model.quorum import NOTICES
from kafka_audit.model.tables import ZookeeperNode


@check(code="KA806", severity=Severity.MEDIUM)
def notifications_unprocessed(view: ClusterView) -> Judgements:
    """Notifications for the controller or for other brokers remain in ZooKeeper."""
    yield from no_ensemble(view, ZookeeperNode)
    found = {znode.path: znode.children for znode in view.newest(ZookeeperNode) if znode.path in NOTICES}
    if not found:
        if view.newest(ZookeeperNode):
            needs = "a Kafka broker that has started with this ZooKeeper"
            yield view.unknown("cluster", "the znodes for notifications do not exist", needs)
        return
    old = {znode.path: znode.children for znode in view.before(ZookeeperNode)}
    many = [path for path, children in found.items() if children >= NOTICES[path]]
    lasting = [path for path in many if NOTICES[path] <= old.get(path, -1) <= found[path]]
    reported = {
        "what": ", ".join(f"{found[path]} in {path}" for path in lasting or sorted(found)),
        "znodes": tuple({"path": path, "children": found[path]} for path in lasting or sorted(found)),
    }
    if lasting:
        yield view.judge("cluster", Status.FAIL, reported)
    elif many:
        yield view.judge("cluster", Status.UNKNOWN, ONCE_BY_ZOOKEEPER)
    else:
        yield view.judge("cluster", Status.PASS, reported)
