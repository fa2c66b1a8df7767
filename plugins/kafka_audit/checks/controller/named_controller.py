"""The controller that each observer reports, for KA202: brokers with ZooKeeper; in KRaft the observers of the quorum."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.cluster.quorum import QuorumSample, observer_of
from kafka_audit.cluster.view import ClusterState, ClusterView
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import BrokerView, QuorumView
from kafka_audit.model.text import clean, listing, start_upper

_CODE = "KA202"
_ZOMBIE = "(itself; it was replaced and has not noticed)"
_ABSENT = "/controller names no broker (KA201, KA909)"
_MOVED = {"error": "in motion", "needs": "another audit: this was seen once, or /controller changed between two samples"}
_UNTOLD = {"error": "it reports none", "needs": "a broker that answers Metadata v2 or later"}
_Views = Mapping[str, tuple[BrokerView, ...]]


def beside_zookeeper(view: ClusterView) -> Iterator[Judgement]:
    """Judge every registered broker, and every other that gave a view, by what ZooKeeper held in the same sample."""
    state = view.state
    failed = [read for read in view.last_reads if read.operation == "zookeeper /controller" and read.outcome == "failed"]
    if state is None or failed:
        error, needs = (failed[0].error, failed[0].needs) if failed else ("no answer", None)
        unread = {"error": f"ZooKeeper was not read: {error}", "needs": needs or "a ZooKeeper that answers"}
        yield view.judge(_CODE, "cluster", Status.UNKNOWN, unread, who="any broker")
        return
    views, past = _views(view, view.newest(BrokerView)), _views(view, view.before(BrokerView))
    registered = {f"broker/{broker}" for broker in view.brokers}
    steady = view.state_before is not None and view.state_before.controller_version == state.controller_version
    for resource in sorted(registered | views.keys()):
        evidence: dict[str, object] = {
            "who": resource.replace("/", " ", 1),
            "subject": start_upper(resource.replace("/", " ", 1)),
        }
        yield _one(view, resource, state, views.get(resource, ()), past.get(resource, ()) if steady else (), evidence)


def _views(view: ClusterView, rows: Iterable[BrokerView]) -> _Views:
    of = view.reads.resources
    found: dict[str, list[BrokerView]] = defaultdict(list)
    for row in rows:
        found[of.get(row.observer, f"broker/{row.broker_id}")].append(row)
    return {resource: tuple(own_views) for resource, own_views in found.items()}


def _one(  # noqa: PLR0913, PLR0917 -- one broker with all that it is judged by
    view: ClusterView,
    resource: str,
    state: ClusterState,
    views: tuple[BrokerView, ...],
    past: tuple[BrokerView, ...],
    evidence: dict[str, object],
) -> Judgement:
    own_views = [row for row in views if state.kafka_cluster_id in {None, row.kafka_cluster_id}]
    if state.controller_id is None:
        return view.judge(_CODE, resource, Status.NOT_APPLICABLE, evidence, reason=_ABSENT)
    evidence |= {"right": f"controller {state.controller_id} (from ZooKeeper)", "controller": state.controller_id}
    if not own_views:
        return view.judge(_CODE, resource, Status.UNKNOWN, evidence | _silence(view, resource, views))
    claimed = {row.listener: row.controller_id for row in own_views if row.controller_id != state.controller_id}
    if not claimed:
        return view.judge(_CODE, resource, Status.PASS, evidence)
    wrong = {listener: broker for listener, broker in claimed.items() if broker is not None}
    if not wrong:
        return view.judge(_CODE, resource, Status.UNKNOWN, evidence | _UNTOLD)
    zombie = f" {_ZOMBIE}" if resource in {f"broker/{wrong_ids}" for wrong_ids in wrong.values()} else ""
    evidence["reported"] = reported = tuple(sorted(set(wrong.values())))
    evidence["said"] = listing(f"controller {controller_id}" for controller_id in reported) + zombie
    before = {row.listener: row.controller_id for row in past}
    lasting = any(before.get(listener) == broker for listener, broker in wrong.items())
    return view.judge(_CODE, resource, Status.FAIL if lasting else Status.UNKNOWN, evidence | ({} if lasting else _MOVED))


def _silence(view: ClusterView, resource: str, views: tuple[BrokerView, ...]) -> dict[str, str]:
    if views:
        error = f"its view belongs to cluster {clean(views[0].kafka_cluster_id)}"
        return {"error": error, "needs": "a broker of this cluster at that address"}
    of = view.reads.resources
    failed = [r for r in view.last_reads if r.outcome == "failed" and of.get(r.observer) == resource]
    asked = [r for r in failed if r.operation in {"Metadata", "ApiVersions"}]
    error = next((read.error for read in asked if read.error), "it was not read")
    needs = next((read.needs for read in asked if read.needs), f"an answer from {resource.replace('/', ' ', 1)} to Metadata")
    return {"error": error, "needs": needs}


def among_observers(view: ClusterView) -> Iterator[Judgement]:
    """Judge all observers of the quorum by the newest report of a leader. In KRaft, the controller in Metadata has no meaning."""
    quorum = view.quorum
    clusters = sorted({row.kafka_cluster_id for row in view.newest(BrokerView) if row.kafka_cluster_id})
    if len(clusters) > 1:
        evidence = {
            "error": f"the addresses lead to clusters {listing(clusters)}, see KA110",
            "needs": "addresses of one cluster",
        }
        yield view.judge(_CODE, "cluster", Status.UNKNOWN, evidence, who="any broker or controller")
        return
    yield from no_quorum(view, _CODE, "any broker or controller")
    right = quorum.now.newest
    for row in quorum.now.views if right is not None else ():
        resource = observer_of(row)
        who = resource.replace("/", " ", 1)
        more: dict[str, object] = {"who": who, "subject": start_upper(who)}
        more |= {"controller": right.leader_id if right else None, "reported": (row.leader_id,)}
        newest = f"controller {right.leader_id} with epoch {right.leader_epoch} (from the newest answer)" if right else ""
        more["right"] = newest
        epoch = "" if row.leader_epoch is None else f" with epoch {row.leader_epoch}"
        more["said"] = f"controller {row.leader_id}{epoch}"
        if right is None or row.leader_id == right.leader_id:
            yield view.judge(_CODE, resource, Status.PASS, more)
        elif quorum.before is not None and _repeated(quorum.before, row) and _same_leader(quorum.before, right):
            yield view.judge(_CODE, resource, Status.FAIL, more)
        else:
            yield view.judge(_CODE, resource, Status.UNKNOWN, more | ONCE)


def _repeated(before: QuorumSample, row: QuorumView) -> bool:
    claimed = (row.observer, row.leader_id, row.leader_epoch)
    return any((view.observer, view.leader_id, view.leader_epoch) == claimed for view in before.views)


def _same_leader(before: QuorumSample, right: QuorumView) -> bool:
    held = before.newest
    return held is not None and (held.leader_id, held.leader_epoch) == (right.leader_id, right.leader_epoch)
