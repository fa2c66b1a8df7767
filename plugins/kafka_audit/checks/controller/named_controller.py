"""Whom each observer takes for the controller, for KA202: brokers beside ZooKeeper, or in KRaft those asked for the quorum."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from kafka_audit.checks.quorum import ONCE, Look, Quorum, observer_of
from kafka_audit.checks.reads import last_reads, resources
from kafka_audit.checks.rows import judge, looks, newest
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import BrokerView, QuorumView, RegisteredBroker, Registry, Snapshot
from kafka_audit.model.text import clean, listing, start_upper

_CODE = "KA202"
_ZOMBIE = "(itself: deposed, and not aware of it)"
_ABSENT = "/controller names no broker (KA201, KA909)"
_MOVED = {"error": "in motion", "needs": "another audit: this was seen once, or /controller changed between two looks"}
_UNTOLD = {"error": "it does not say", "needs": "a broker that answers Metadata v2 or later"}
_Views = Mapping[str, tuple[BrokerView, ...]]


def beside_zookeeper(snapshot: Snapshot) -> Iterator[Judgement]:
    """Judge every registered broker, and every other that gave a view, by what ZooKeeper held in the same look."""
    (now, before), registry = looks(snapshot), next(iter(newest(snapshot, Registry)), None)
    failed = [read for read in last_reads(snapshot) if read.operation == "zookeeper /controller" and read.outcome == "failed"]
    if registry is None or failed:
        error, needs = (failed[0].error, failed[0].needs) if failed else ("no answer", None)
        words = {"error": f"ZooKeeper was not read: {error}", "needs": needs or "a ZooKeeper that answers"}
        yield judge(snapshot, _CODE, "cluster", Status.UNKNOWN, who="any broker", **words)
        return
    views, past = _views(snapshot, now), _views(snapshot, before)
    registered = {f"broker/{row.broker_id}" for row in newest(snapshot, RegisteredBroker)}
    earlier = next((row for row in snapshot.of(Registry) if row.sample == before), None)
    steady = earlier is not None and earlier.controller_mzxid == registry.controller_mzxid
    for resource in sorted(registered | views.keys()):
        words = {"who": resource.replace("/", " ", 1), "subject": start_upper(resource.replace("/", " ", 1))}
        yield _one(snapshot, resource, registry, views.get(resource, ()), past.get(resource, ()) if steady else (), words)


def _views(snapshot: Snapshot, sample: int | None) -> _Views:
    of = resources(snapshot)
    found: dict[str, list[BrokerView]] = defaultdict(list)
    for view in snapshot.of(BrokerView):
        if view.sample == sample:
            found[of.get(view.observer, f"broker/{view.broker_id}")].append(view)
    return {resource: tuple(rows) for resource, rows in found.items()}


def _one(  # noqa: PLR0913, PLR0917 -- one broker with all that it is judged by
    snapshot: Snapshot,
    resource: str,
    registry: Registry,
    views: tuple[BrokerView, ...],
    past: tuple[BrokerView, ...],
    words: dict[str, str],
) -> Judgement:
    own = [view for view in views if registry.kafka_cluster_id in {None, view.kafka_cluster_id}]
    if registry.controller_id is None:
        return judge(snapshot, _CODE, resource, Status.NOT_APPLICABLE, **words, reason=_ABSENT)
    words["right"] = f"controller {registry.controller_id}, as ZooKeeper holds"
    if not own:
        return judge(snapshot, _CODE, resource, Status.UNKNOWN, **words, **_silence(snapshot, resource, views))
    said = {view.listener: view.controller_id for view in own if view.controller_id != registry.controller_id}
    if not said:
        return judge(snapshot, _CODE, resource, Status.PASS, **words)
    wrong = {listener: one for listener, one in said.items() if one is not None}
    if not wrong:
        return judge(snapshot, _CODE, resource, Status.UNKNOWN, **words, **_UNTOLD)
    zombie = f" {_ZOMBIE}" if resource in {f"broker/{one}" for one in wrong.values()} else ""
    words["said"] = listing(f"controller {one}" for one in sorted(set(wrong.values()))) + zombie
    before = {view.listener: view.controller_id for view in past}
    lasting = any(before.get(listener) == one for listener, one in wrong.items())
    return judge(snapshot, _CODE, resource, Status.FAIL if lasting else Status.UNKNOWN, **words, **({} if lasting else _MOVED))


def _silence(snapshot: Snapshot, resource: str, views: tuple[BrokerView, ...]) -> dict[str, str]:
    if views:
        error = f"its view is of cluster {clean(views[0].kafka_cluster_id)}"
        return {"error": error, "needs": "a broker of this cluster at that address"}
    of = resources(snapshot)
    failed = [r for r in last_reads(snapshot) if r.outcome == "failed" and of.get(r.observer) == resource]
    asked = [r for r in failed if r.operation in {"Metadata", "ApiVersions"}]
    error = next((read.error for read in asked if read.error), "it was not asked")
    needs = next((read.needs for read in asked if read.needs), f"an answer of {resource.replace('/', ' ', 1)} to Metadata")
    return {"error": error, "needs": needs}


def among_observers(snapshot: Snapshot) -> Iterator[Judgement]:
    """Judge all who told of the quorum by the newest word of a leader; Metadata's controller means nothing in KRaft."""
    quorum = Quorum(snapshot)
    yield from quorum.gap(_CODE, "any broker or controller")
    right = quorum.now.newest
    for view in quorum.now.views if right is not None else ():
        resource = observer_of(view)
        words = {"who": resource.replace("/", " ", 1), "subject": start_upper(resource.replace("/", " ", 1))}
        words["right"] = (
            f"controller {right.leader_id} with epoch {right.leader_epoch}, as the newest answer has it" if right else ""
        )
        epoch = "" if view.leader_epoch is None else f" with epoch {view.leader_epoch}"
        words["said"] = f"controller {view.leader_id}{epoch}"
        if right is None or view.leader_id == right.leader_id:
            yield judge(snapshot, _CODE, resource, Status.PASS, **words)
        elif quorum.before is not None and _said_so(quorum.before, view) and _same_leader(quorum.before, right):
            yield judge(snapshot, _CODE, resource, Status.FAIL, **words)
        else:
            yield judge(snapshot, _CODE, resource, Status.UNKNOWN, **words, **ONCE)


def _said_so(before: Look, view: QuorumView) -> bool:
    said = (view.observer, view.leader_id, view.leader_epoch)
    return any((one.observer, one.leader_id, one.leader_epoch) == said for one in before.views)


def _same_leader(before: Look, right: QuorumView) -> bool:
    held = before.newest
    return held is not None and (held.leader_id, held.leader_epoch) == (right.leader_id, right.leader_epoch)
