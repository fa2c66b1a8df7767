from collections.abc import Iterator, Mapping

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, defaults, each_broker, unknown_judgement
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.tables import SnapshotInfo

_FACTOR, _IN_SYNC = "default.replication.factor", "min.insync.replicas"
_SHARE = "share.coordinator.state.topic.replication.factor"  # from 4.0 on
_INTERNAL, _ENOUGH = ("offsets.topic.replication.factor", "transaction.state.log.replication.factor"), 3


@check(code="KA707", severity=Severity.MEDIUM, by_files=True)
def replicas_too_few(view: ClusterView) -> Judgements:
    """The defaults of new topics have too few replicas, or require too few in sync."""
    effective = Effective(view)
    size = max(len(effective.brokers), *(info.expect_brokers or 1 for info in view.of(SnapshotInfo)), 1)

    def judged(broker: int) -> Judgements:
        resource, found = f"broker/{broker}", {key: effective.get(broker, key).number for key in (_FACTOR, _IN_SYNC, *_INTERNAL)}
        known = {key: number for key, number in found.items() if number is not None}
        none_to_spare = 1 < known.get(_FACTOR, 0) <= known.get(_IN_SYNC, 0)  # whatever number of brokers there is
        if size == 1 and effective.between.asked:
            yield view.not_applicable(resource, "the cluster has one broker")
        elif size == 1 and not none_to_spare:
            yield unknown_judgement(effective, broker, "the number of brokers is unknown", "the files of the other brokers")
        elif size > 1 and len(known) < len(found):
            yield unknown_judgement(effective, broker, f"{', '.join(sorted(found.keys() - known.keys()))} unknown")
        else:
            share = effective.get(broker, _SHARE).number
            weak = tuple(
                _weak(known | ({} if share is None else {_SHARE: share}), min(_ENOUGH, size if size > 1 else known[_FACTOR]))
            )
            evidence = {"broker": broker, "who": f"broker {broker}", "of": "on", "factor": known[_FACTOR]}
            evidence |= {"in_sync": known[_IN_SYNC], "with": f", with min.insync.replicas {known[_IN_SYNC]}"}
            reported = {"key": weak[0][0], "fault": "; ".join(text for _, text in weak)} if weak else {}
            yield view.judge(resource, Status.FAIL if weak else Status.PASS, {**evidence, **reported})

    yield from each_broker(effective, judged, together=True)
    yield from (_at_controller(effective, node, size) for node in sorted(effective.settings.controllers))


def _at_controller(effective: Effective, node: int, size: int) -> Judgement:
    setting = effective.settings.get(node, _FACTOR)
    factor = integer((setting.value or next(iter(defaults(_FACTOR)), None) or "").strip())
    view, resource, who = effective.view, f"controller/{node}", f"controller {node}"
    if size == 1 and effective.between.asked and effective.brokers:
        return view.not_applicable(resource, "the cluster has one broker")
    if size == 1:
        error, needs = "the number of brokers is unknown", "the files of the brokers"
        return view.unknown(resource, error, needs, who=who)
    if not setting.known or factor is None:
        needs = f"server.properties of {who}, as it reads the file"
        return view.unknown(resource, f"{_FACTOR} unknown", needs, who=who)
    enough = min(_ENOUGH, size)
    evidence: dict[str, object] = {"node": node, "who": who, "of": "of", "factor": factor, "with": ""}
    if factor >= enough:
        return view.judge(resource, Status.PASS, evidence)
    return view.judge(resource, Status.FAIL, evidence, key=_FACTOR, fault=f"{_FACTOR} is {factor}")


def _weak(known: Mapping[str, int], enough: int) -> Iterator[tuple[str, str]]:
    """Yield each weak key with a sentence's part; `enough` is how many replicas there can and need to be."""
    factor, in_sync = known[_FACTOR], known[_IN_SYNC]
    if factor < enough:
        yield _FACTOR, f"{_FACTOR} is {factor}"
    elif in_sync >= factor:
        yield _IN_SYNC, f"{_IN_SYNC} is {in_sync} of {factor} replicas, so writes with acks=all fail if one broker stops"
    if factor >= _ENOUGH and in_sync < _ENOUGH - 1:
        yield _IN_SYNC, f"{_IN_SYNC} is {in_sync}, so a write with acks=all may be on only one broker"
    yield from ((key, f"{key} is {known[key]}") for key in (*_INTERNAL, _SHARE) if known.get(key, enough) < enough)
