"""KA806."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE_BY_ZOOKEEPER, no_ensemble
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.ensemble import NOTICES
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import ZookeeperNode


@check(
    code="KA806",
    severity=Severity.MEDIUM,
    says={
        Status.FAIL: "ZooKeeper notifications are not being processed: {what}",
        Status.PASS: "ZooKeeper notifications are being processed ({what})",
        Status.UNKNOWN: "Cannot determine whether ZooKeeper notifications are being processed ({error})",
        Status.NOT_APPLICABLE: "No znodes: {reason}",
    },
)
def notifications_unprocessed(view: ClusterView) -> Iterator[Judgement]:
    """Notifications for the controller or for other brokers remain in ZooKeeper.

    ## Why it matters
    `/isr_change_notification` and `/log_dir_event_notification` inform the controller about ISR changes and failed disks. If
    they remain, the controller does not process them: it is stuck or overloaded, or there is none. Thousands of children in
    `/config/changes` make the start of every broker slow.

    ## Fails when
    In both samples, ten or more notifications wait for the controller, and not fewer in the second sample. Or there are 1,000
    configuration changes.

    ## Not known when
    The znodes were not read, or one sample only shows it.

    ## Passes only when
    They were read, and contain fewer.

    ## What to do
    Check the controller first (KA201, KA202): its `controller.log` shows when it last processed a notification. If it is stuck,
    restart that broker; another one becomes the controller. Never delete notifications by hand before that: they contain
    changes of the cluster.

    ## References
    `kafka.controller.IsrChangeNotificationHandler`, `LogDirEventNotificationHandler`; `ZkNodeChangeNotificationListener`.
    """
    yield from no_ensemble(view, "KA806", ZookeeperNode)
    found = {znode.path: znode.children for znode in view.newest(ZookeeperNode) if znode.path in NOTICES}
    if not found:
        if view.newest(ZookeeperNode):
            needs = "a Kafka broker that has started with this ZooKeeper"
            yield view.judge("KA806", "cluster", Status.UNKNOWN, error="the znodes for notifications do not exist", needs=needs)
        return
    old = {znode.path: znode.children for znode in view.before(ZookeeperNode)}
    many = [path for path, children in found.items() if children >= NOTICES[path]]
    lasting = [path for path in many if NOTICES[path] <= old.get(path, -1) <= found[path]]
    reported = {
        "what": ", ".join(f"{found[path]} in {path}" for path in lasting or sorted(found)),
        "znodes": tuple({"path": path, "children": found[path]} for path in lasting or sorted(found)),
    }
    if lasting:
        yield view.judge("KA806", "cluster", Status.FAIL, reported)
    elif many:
        yield view.judge("KA806", "cluster", Status.UNKNOWN, ONCE_BY_ZOOKEEPER)
    else:
        yield view.judge("KA806", "cluster", Status.PASS, reported)
