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
    needs=(ZookeeperNode,),
    says={
        Status.FAIL: "Notices heap up in ZooKeeper: {what}",
        Status.PASS: "No notices heap up in ZooKeeper ({what})",
        Status.UNKNOWN: "Cannot determine whether notices heap up in ZooKeeper ({error})",
        Status.NOT_APPLICABLE: "There are no znodes: {reason}",
    },
)
def notices_heap_up(view: ClusterView) -> Iterator[Judgement]:
    """Notices that brokers leave for the controller, or for each other, are not taken away.

    ## Why it matters
    `/isr_change_notification` and `/log_dir_event_notification` tell the controller of shrunk ISRs and dead disks. Where they
    stay, it is not listening: stuck, overloaded, or there is none. `/config/changes` with thousands of children makes each
    start of a broker slow.

    ## Fails when
    In both samples ten notices or more wait for the controller, and not fewer in the second; or 1,000 changes of configuration.

    ## Not known when
    The znodes were not read, or it was so in one sample only.

    ## Passes only when
    They were read, and hold fewer.

    ## What to do
    Look at the controller first (KA201, KA202): its `controller.log` says when it last took a notice. A controller that
    stands still is replaced by a restart of that broker. Never delete notices by hand before that: they are news of the cluster.

    ## References
    `kafka.controller.IsrChangeNotificationHandler`, `LogDirEventNotificationHandler`; `ZkNodeChangeNotificationListener`.
    """
    yield from no_ensemble(view, "KA806", ZookeeperNode)
    found = {one.path: one.children for one in view.newest(ZookeeperNode) if one.path in NOTICES}
    if not found:
        if view.newest(ZookeeperNode):
            needs = "a Kafka that has started once at this ZooKeeper"
            yield view.judge("KA806", "cluster", Status.UNKNOWN, error="there is no znode for notices", needs=needs)
        return
    old = {one.path: one.children for one in view.before(ZookeeperNode)}
    many = [path for path, children in found.items() if children >= NOTICES[path]]
    lasting = [path for path in many if NOTICES[path] <= old.get(path, -1) <= found[path]]
    told = {"what": ", ".join(f"{found[path]} in {path}" for path in lasting or sorted(found))}
    if lasting:
        yield view.judge("KA806", "cluster", Status.FAIL, told)
    elif many:
        yield view.judge("KA806", "cluster", Status.UNKNOWN, ONCE_BY_ZOOKEEPER)
    else:
        yield view.judge("KA806", "cluster", Status.PASS, told)
