from dataclasses import dataclass

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.faults.kraft_claim import KraftClaim
from kafka_audit.model.tables import BrokerApi, BrokerConfig, Migration
from kafka_audit.model.text import brokers, start_upper

_FINISHED = "finished"
_ENABLE, _QUORUM_API = "zookeeper.metadata.migration.enable", 55


@check(code="KA909", severity=Severity.INFO)
def migration_in_progress(view: ClusterView) -> Judgements:
    """A migration from ZooKeeper to KRaft is in progress; the finding shows its phase."""
    rows = view.newest(Migration)
    reads = [read for read in view.last_reads if read.operation == "zookeeper /controller"]
    if rows:
        sides = _sides(view)
        phase, state = _phase(view, rows[0], sides)
        confidence = Confidence.INFERRED if phase == _FINISHED else Confidence.MEASURED
        yield view.judge(
            "cluster",
            Status.FAIL,
            confidence=confidence,
            phase=phase,
            state=state,
            controller=rows[0].kraft_controller_id,
            prepared=tuple(sorted(sides.ready)) or None,
            with_zookeeper=tuple(sorted(sides.left)) or None,
            without_zookeeper=tuple(sorted(sides.without)) or None,
        )
    elif not reads:
        yield view.not_applicable("cluster", "the cluster file names no ZooKeeper")
    elif reads[0].outcome == "failed":
        yield view.unknown("cluster", f"/controller was not read: {reads[0].error}", reads[0].needs or "a ZooKeeper that answers")
    else:
        yield view.judge("cluster", Status.PASS)


@dataclass(frozen=True, kw_only=True)
class _MigrationSides:
    """Brokers by their side of the migration."""

    ready: frozenset[int]  # use ZooKeeper, and may migrate
    left: frozenset[int]  # answered and use ZooKeeper
    without: frozenset[int]


def _sides(view: ClusterView) -> _MigrationSides:
    asked = frozenset(api.broker_id for api in view.of(BrokerApi) if api.broker_id >= 0)
    without = frozenset(api.broker_id for api in view.of(BrokerApi) if api.api_key == _QUORUM_API and api.broker_id >= 0)
    ready = frozenset(setting.broker_id for setting in view.of(BrokerConfig) if (setting.key, setting.value) == (_ENABLE, "true"))
    return _MigrationSides(ready=ready - without, left=asked - without, without=without)


def _phase(view: ClusterView, row: Migration, sides: _MigrationSides) -> tuple[str, str]:
    ready, left, without = sides.ready, sides.left, sides.without
    claim, epoch = row.kraft_controller_id, row.kraft_controller_epoch
    leader = view.quorum.now.newest
    if claim is None:
        prepared_text = f"{brokers(ready)} {'is' if len(ready) == 1 else 'are'} prepared" if ready else "no broker is prepared"
        return "prepared", f"KRaft controllers run next to ZooKeeper and have not taken over; {prepared_text}"
    if not without:
        if view.migrating is not None and view.derived(KraftClaim).acts is False:
            phase, text = "no controller", f"/controller names KRaft controller {claim}, which does not act (KA201)"
        else:
            phase = "dual write"
            text = f"KRaft controller {claim} has taken over and writes to ZooKeeper as well; every broker still uses it"
        return phase, text
    running = f"{start_upper(brokers(without))} {'runs' if len(without) == 1 else 'run'} without ZooKeeper"
    if left:
        return "brokers change", f"{running}, {brokers(left)} still {'uses' if len(left) == 1 else 'use'} it"
    if leader is not None and epoch is not None and (leader.leader_epoch or 0) > epoch:
        epochs = f"epoch {leader.leader_epoch}, and /controller has {epoch}"
        return _FINISHED, f"{running}, and the leader of the quorum ({epochs}) probably no longer writes to ZooKeeper"
    if leader is None:
        return "brokers changed", f"{running}; without DescribeQuorum it is unknown whether controllers still write to ZooKeeper"
    return "not finalised", f"{running}, and controller {claim} still writes to ZooKeeper"
