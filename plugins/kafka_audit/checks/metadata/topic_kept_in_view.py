from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.differences.tables import KeptTopic
from kafka_audit.model.text import clean, counted, listing


@check(code="KA117", severity=Severity.MEDIUM, parts=("topics", "views"))
def topic_kept_in_view(view: ClusterView) -> Judgements:
    """A broker goes on listing a topic that ZooKeeper, or the newest view in KRaft, no longer has."""
    rows = view.differences.of(KeptTopic)
    holder = "the newest view" if view.kraft else "ZooKeeper"
    for row in rows:
        if row.repeated:
            topics = listing(map(clean, row.first), 3)
            evidence = {"broker": row.name, "count": row.repeated, "topics": topics, "holder": holder}
            yield view.judge(f"broker/{row.name}", Status.FAIL, evidence)
    silent = [observer for observer in view.observers if not observer.answered]
    for observer in silent:
        yield view.unknown(observer.resource, observer.error, observer.needs, holder=holder)
    if once := sum(row.topics - row.repeated for row in rows):
        yield view.unknown("cluster", f"{counted(once, 'topic')} differed in one sample", "another audit", holder=holder)
    elif not view.observers:
        yield view.unknown("cluster", "no broker was asked for its view", "the address of a broker", holder=holder)
    elif not rows and not silent:
        yield view.judge("cluster", Status.PASS, holder=holder)
