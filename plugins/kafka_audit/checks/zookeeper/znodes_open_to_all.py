from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_ensemble
from kafka_audit.model.tables import ZookeeperNode
from kafka_audit.model.text import listing

_CHANGES = {"c": "add to", "w": "change", "d": "delete", "a": "take over"}


@check(code="KA804", severity=Severity.MEDIUM)
def znodes_open_to_all(view: ClusterView) -> Judgements:
    """Every client may write znodes that Kafka depends on."""
    yield from no_ensemble(view, ZookeeperNode)
    nodes = {znode.path: znode.anyone for znode in view.newest(ZookeeperNode) if znode.anyone is not None}
    if not nodes:
        if view.newest(ZookeeperNode):
            yield view.unknown("cluster", "no ACL was read", "a ZooKeeper that reports ACLs to the auditor")
        return
    letters = {path: [letter for letter in _CHANGES if letter in anyone] for path, anyone in nodes.items()}
    opened = sorted(path for path, allowed in letters.items() if allowed)
    may = listing(dict.fromkeys(_CHANGES[change] for change in _CHANGES if any(change in letters[path] for path in opened)))
    evidence = {
        "asked": len(nodes),
        "open": len(opened),
        "paths": listing(opened, 4),
        "znodes": tuple(opened) or None,
        "may": may or "change",
    }
    yield view.judge("cluster", Status.FAIL if opened else Status.PASS, evidence)
