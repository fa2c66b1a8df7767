"""KA203."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.since_previous import gap_judgement, minutes, rounded
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredBroker, Registry

_FEWEST = 3
"""How many elections are never too many."""

_MINUTES = 60
"""More than one election in so many minutes is too many."""


@check(
    code="KA203",
    severity=Severity.HIGH,
    needs=(Registry, RegisteredBroker),
    parts=("controller", "brokers", "topics"),
    says={
        Status.FAIL: "The controller changes repeatedly: {rise} elections in {minutes} minutes; epoch {before} to {after} "
        "since the previous snapshot",
        Status.PASS: "The controller was elected {rise} times in {minutes} minutes since the previous snapshot (epoch {after})",
        Status.UNKNOWN: "Cannot determine whether the controller changes repeatedly ({error})",
        Status.NOT_APPLICABLE: "Controller elections cannot be counted: {reason}",
    },
)
def controller_flaps(view: ClusterView) -> Iterator[Judgement]:
    """The controller is elected repeatedly.

    ## Why it matters
    After each election the new controller reads all of ZooKeeper and sends the full metadata to every broker. Until it has
    finished, no leader is elected. Operations in progress, such as a reassignment, start again.

    ## Fails when
    Since the previous snapshot `/controller_epoch` rose by more than the number of brokers (at least three), and by more than
    one per hour. A rolling restart moves the controller at most once per broker and does not count. The one election by which a
    KRaft controller takes over in a migration does not count either.

    ## Not known when
    ZooKeeper was not read in one of the snapshots, or `/controller_epoch` is absent. The check does not apply without a
    previous snapshot, and not in KRaft.

    ## Passes only when
    Both snapshots contain the epoch, and it rose by less, or fell (KA204).

    ## What to do
    A controller loses its session if it pauses longer than `zookeeper.session.timeout.ms`. Look for garbage collection pauses,
    high CPU load, or a slow ZooKeeper at the time of each election: run `grep -iE 'session expired|Resign|startup'
    controller.log server.log` on all brokers.

    ## References
    `kafka.controller.KafkaController`; metric `ActiveControllerCount`.
    """
    gap = gap_judgement(view, "KA203")
    if gap is not None:
        yield gap
        return
    state, earlier, passed = view.state, view.state_earlier, minutes(view)
    before = None if earlier is None else earlier.controller_epoch
    after = None if state is None else state.controller_epoch
    evidence = {"minutes": rounded(passed), "before": before, "after": after}
    if state is None or before is None or after is None or passed is None:
        unknown = {"error": "/controller_epoch is absent", "needs": "a /controller_epoch in both snapshots"}
        yield view.judge("KA203", "cluster", Status.UNKNOWN, {**evidence, **unknown})
        return
    rise = max(after - before, 0)
    taken_over = 1 if state.controller_id is None else 0  # by a KRaft controller, in a migration
    flaps = rise > max(len(view.brokers), _FEWEST) + taken_over and rise * _MINUTES > passed
    yield view.judge("KA203", "cluster", Status.FAIL if flaps else Status.PASS, evidence, rise=rise)
