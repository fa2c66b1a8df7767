from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.model.tables import BrokerView, FencedBroker, ViewBroker
from kafka_audit.model.text import counted


@check(code="KA612", severity=Severity.MEDIUM)
def single_broker(view: ClusterView) -> Judgements:
    """The cluster has a single broker."""
    registered, assigned = _listed(view) if view.kraft else (frozenset(view.brokers), view.partitions.assigned)
    unknown = _unknown_lists(view, registered, assigned) if view.kraft else _unread(view)
    if unknown:
        yield view.judge("cluster", Status.UNKNOWN, unknown, who="any broker")
        return
    expected = 0 if view.info is None else view.info.expect_brokers or 0
    count = len(registered)
    if count > 1:
        yield view.judge("cluster", Status.PASS, count=count)
    elif view.info is not None and view.info.expect_single_broker:
        reason = "the cluster file expects a single broker"
        yield view.not_applicable("cluster", reason, count=count)
    elif len(registered | assigned) > 1 or not registered or expected > 1:
        reason = f"{counted(count, 'registered broker')}, and others are assigned or expected (KA113)"
        yield view.not_applicable("cluster", reason, count=count)
    elif not view.kraft and (unread := view.gap("topics")) is not None:
        yield view.unknown("cluster", unread.error, unread.needs, who="any broker")
    else:
        yield view.judge("cluster", Status.FAIL, count=count, broker=min(registered))


def _unread(view: ClusterView) -> dict[str, object]:
    """Return why ZooKeeper's registrations cannot be judged by; empty where they can."""
    gap = view.gap("brokers")
    return {"error": gap.error, "needs": gap.needs} if gap is not None and gap.whole else {}


def _listed(view: ClusterView) -> tuple[frozenset[int], frozenset[int]]:
    """Return the brokers that any broker lists, and those that have assigned partitions or are fenced."""
    views = view.newest(BrokerView)
    digests = {view.brokers_digest for view in views}
    listed = {row.broker_id for row in view.of(ViewBroker) if row.brokers_digest in digests}
    lists = view.partitions.lists
    assigned = {broker for view in views if view.topics_digest in lists for broker in lists[view.topics_digest].brokers}
    return frozenset(listed), frozenset(assigned | {row.fenced_id for row in view.of(FencedBroker)})


def _unknown_lists(view: ClusterView, listed: frozenset[int], assigned: frozenset[int]) -> dict[str, object]:
    """Return why the lists of brokers are not reliable: there is none, or a single broker reports others."""
    views = view.newest(BrokerView)
    holders = len({view.broker_id for view in views if view.broker_id >= 0}) or len(views[:1])
    if not listed or holders < min(len(listed), 2):
        error = "only one broker lists the others" if listed else "no broker lists any broker"
        return {"error": error, "needs": "a second broker that answers Metadata"}
    if len(listed) == 1 and not assigned:
        return {"error": "no partition is visible", "needs": "a topic, and Describe on it"}
    return {}
