from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.checks.metadata.view_differences import shown_by_each
from kafka_audit.cluster.quorum import QuorumSample, observer_of
from kafka_audit.model.tables import BrokerView, QuorumView
from kafka_audit.model.text import listing, start_upper

_ZOMBIE = "(itself; it was replaced and has not noticed)"
_ABSENT = "/controller names no broker (KA201, KA909)"


@check(code="KA202", severity=Severity.HIGH)
def controller_disagreement(view: ClusterView) -> Judgements:
    """A broker reports a different controller than ZooKeeper, or none; in KRaft, observers report different quorum leaders."""
    yield from _among_observers(view) if view.kraft else _beside_zookeeper(view)


def _beside_zookeeper(view: ClusterView) -> Judgements:
    """Judge every registered broker, and every other that gave a view, by what ZooKeeper holds."""
    if (gap := view.gap("controller")) is not None:
        yield view.judge("cluster", gap.status, {"error": gap.error, "needs": gap.needs}, who="any broker")
        return
    controller = None if view.state is None else view.state.controller_id
    for shown in shown_by_each(view, "controller"):
        name = shown.observer.name
        who = f"broker {name}"
        if controller is None:
            yield view.not_applicable(shown.observer.resource, _ABSENT, who=who, subject=start_upper(who))
            continue
        reported = () if shown.difference is None else shown.difference.brokers
        zombie = f" {_ZOMBIE}" if name in map(str, reported) else ""
        yield shown.judgement(
            subject=start_upper(who),
            right=f"controller {controller} (from ZooKeeper)",
            controller=controller,
            reported=reported or None,
            said=listing(f"controller {controller_id}" for controller_id in reported) + zombie if reported else None,
        )


def _among_observers(view: ClusterView) -> Judgements:
    """Judge all observers of the quorum by the newest report of a leader. In KRaft, the controller in Metadata has no meaning."""
    quorum = view.quorum
    clusters = sorted({row.kafka_cluster_id for row in view.newest(BrokerView) if row.kafka_cluster_id})
    if len(clusters) > 1:
        yield view.unknown(
            "cluster",
            f"the addresses lead to clusters {listing(clusters)}, see KA110",
            "addresses of one cluster",
            who="any broker or controller",
        )
        return
    yield from no_quorum(view, "any broker or controller")
    right = quorum.now.newest
    for row in quorum.now.views if right is not None else ():
        resource = observer_of(row)
        who = resource.replace("/", " ", 1)
        more: dict[str, object] = {"who": who, "subject": start_upper(who)}
        more |= {"controller": right.leader_id if right else None, "reported": (row.leader_id,), "node": row.node_id}
        newest = f"controller {right.leader_id} with epoch {right.leader_epoch} (from the newest answer)" if right else ""
        more["right"] = newest
        epoch = "" if row.leader_epoch is None else f" with epoch {row.leader_epoch}"
        more["said"] = f"controller {row.leader_id}{epoch}"
        if right is None or row.leader_id == right.leader_id:
            yield view.judge(resource, Status.PASS, more)
        elif quorum.before is not None and _repeated(quorum.before, row) and _same_leader(quorum.before, right):
            yield view.judge(resource, Status.FAIL, more)
        else:
            yield view.judge(resource, Status.UNKNOWN, more | ONCE)


def _repeated(before: QuorumSample, row: QuorumView) -> bool:
    claimed = (row.observer, row.leader_id, row.leader_epoch)
    return any((view.observer, view.leader_id, view.leader_epoch) == claimed for view in before.views)


def _same_leader(before: QuorumSample, right: QuorumView) -> bool:
    held = before.newest
    return held is not None and (held.leader_id, held.leader_epoch) == (right.leader_id, right.leader_epoch)
