from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.faults.kraft_claim import KraftClaim
from kafka_audit.model.text import brokers, start_upper
from kafka_audit.progress import migrations
from kafka_audit.progress.migrations import MigrationPhase
from kafka_audit.progress.rows import progress_of


@check(code="KA909", severity=Severity.INFO)
def migration_in_progress(view: ClusterView) -> Judgements:
    """A migration from ZooKeeper to KRaft is in progress; the finding shows its phase, and whether it stands still."""
    migration = view.derived(MigrationPhase)
    reads = [read for read in view.last_reads if read.operation == "zookeeper /controller"]
    if migration.row is not None:
        sides, (phase, state) = migration.sides, _phase(view, migration)
        confidence = Confidence.INFERRED if phase == migrations.FINISHED else Confidence.MEASURED
        stands = [row for row in progress_of(view).of_kind("migration") if row.state == "standing"]
        yield view.judge(
            "cluster",
            Status.FAIL,
            severity=Severity.MEDIUM if stands else None,
            confidence=confidence,
            phase=phase,
            state=f"{state}; unchanged for {stands[0].unchanged_minutes} minutes" if stands else state,
            waits_for=migration.waits_for or "nothing that is known",
            controller=migration.row.kraft_controller_id,
            prepared=tuple(sorted(sides.ready)) or None,
            missing=migration.missing or None,
            with_zookeeper=tuple(sorted(sides.left)) or None,
            without_zookeeper=tuple(sorted(sides.without)) or None,
        )
    elif not reads:
        yield view.not_applicable("cluster", "the cluster file names no ZooKeeper")
    elif reads[0].outcome == "failed":
        yield view.unknown("cluster", f"/controller was not read: {reads[0].error}", reads[0].needs or "a ZooKeeper that answers")
    else:
        yield view.judge("cluster", Status.PASS)


def _phase(view: ClusterView, migration: MigrationPhase) -> tuple[str, str]:
    ready, left, without = migration.sides.ready, migration.sides.left, migration.sides.without
    row, phase, leader = migration.row, migration.name, view.quorum.now.newest
    claim = None if row is None else row.kraft_controller_id
    if phase == migrations.PREPARED:
        prepared_text = f"{brokers(ready)} {'is' if len(ready) == 1 else 'are'} prepared" if ready else "no broker is prepared"
        return phase, f"KRaft controllers run next to ZooKeeper and have not taken over; {prepared_text}"
    if phase == migrations.DUAL_WRITE and view.migrating is not None and view.derived(KraftClaim).acts is False:
        return "no controller", f"/controller names KRaft controller {claim}, which does not act (KA201)"
    if phase == migrations.DUAL_WRITE:
        return phase, f"KRaft controller {claim} has taken over and writes to ZooKeeper as well; every broker still uses it"
    running = f"{start_upper(brokers(without))} {'runs' if len(without) == 1 else 'run'} without ZooKeeper"
    more = f", and controller {claim} still writes to ZooKeeper"
    if phase == migrations.BROKERS_CHANGE:
        more = f", {brokers(left)} still {'uses' if len(left) == 1 else 'use'} it"
    elif phase == migrations.FINISHED and row is not None and leader is not None:
        epochs = f"epoch {leader.leader_epoch}, and /controller has {row.kraft_controller_epoch}"
        more = f", and the leader of the quorum ({epochs}) probably no longer writes to ZooKeeper"
    elif phase == migrations.BROKERS_CHANGED:
        more = "; without DescribeQuorum it is unknown whether controllers still write to ZooKeeper"
    return phase, f"{running}{more}"
