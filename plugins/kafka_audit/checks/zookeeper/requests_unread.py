from datetime import UTC, datetime

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_ensemble
from kafka_audit.model.tables import ZookeeperNode
from kafka_audit.model.text import clean, listing

_WAITS_MS = 300_000  # an election of a controller takes seconds


@check(code="KA808", severity=Severity.MEDIUM)
def requests_unread(view: ClusterView) -> Judgements:
    """A request of a tool waits in ZooKeeper, and no broker leads that would carry it out."""
    yield from no_ensemble(view, ZookeeperNode)
    found = {row.path: row.created_ms for row in view.newest(ZookeeperNode) if row.created_ms is not None}
    if view.kraft or not view.newest(ZookeeperNode):
        return
    reads = (read for read in view.last_reads if read.operation == "zookeeper /controller" and read.outcome == "failed")
    if found and (failed := next(reads, None)) is not None:
        yield view.unknown("cluster", f"/controller was not read: {failed.error}", failed.needs or "a ZooKeeper that answers")
        return
    waiting = {path: since for path, since in found.items() if view.migrating or _age(view, since) > _WAITS_MS}
    if (view.controller is not None and not view.migrating) or not waiting:
        yield view.judge("cluster", Status.PASS, count=len(found))
        return
    since = f"{datetime.fromtimestamp(min(waiting.values()) / 1000, UTC):%d %b %Y %H:%M} UTC"
    leads = "a KRaft controller has taken over, and does not read it" if view.migrating else "no controller leads"
    evidence = {"paths": listing(map(clean, sorted(waiting)), 5), "count": len(waiting), "since": since, "leads": leads}
    yield view.judge("cluster", Status.FAIL, evidence | {"znodes": tuple(sorted(waiting)[:5])})


def _age(view: ClusterView, since_ms: int) -> int:
    return 0 if view.info is None else view.info.started_ms - since_ms
