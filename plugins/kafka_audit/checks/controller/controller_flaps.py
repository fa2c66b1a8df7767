"""KA203."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.since_previous import gap_judgement, minutes, rounded
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredBroker, RegisteredTopic, Registry

_FEWEST = 3
"""How many elections are never too many."""

_MINUTES = 60
"""More than one election in so many minutes is too many."""


@check(
    code="KA203",
    severity=Severity.HIGH,
    needs=(Registry, RegisteredBroker, RegisteredTopic),
    parts=("controller", "brokers", "topics"),
    says={
        Status.FAIL: "The controller flaps: {rise} elections in {minutes} minutes since the previous snapshot (epoch {before}"
        " to {after})",
        Status.PASS: "The controller was elected {rise} times in {minutes} minutes since the previous snapshot (epoch {after})",
        Status.UNKNOWN: "Not known: whether the controller flaps ({error})",
        Status.NOT_APPLICABLE: "Elections of the controller cannot be counted: {reason}",
    },
)
def controller_flaps(view: ClusterView) -> Iterator[Judgement]:
    """The controller is elected again and again.

    ## Why it matters
    After each election the new controller reads all of ZooKeeper and tells every broker everything. While it does, no leader is
    elected; what has just begun, as a reassignment, starts over.

    ## Fails when
    `/controller_epoch` rose by more than there are brokers, three at least, and by more than one an hour since the previous
    snapshot. A rolling restart moves the controller once a broker at most, so it does not count; nor does the one election more
    by which a KRaft controller takes over in a migration.

    ## Not known when
    ZooKeeper was not read in either snapshot, or `/controller_epoch` is absent. Without a previous snapshot it does not apply,
    nor in KRaft.

    ## Passes only when
    Both snapshots tell the epoch, and it rose by less, or fell (KA204).

    ## What to do
    A controller loses its session where it stands still longer than `zookeeper.session.timeout.ms`: look for pauses in the
    garbage collector's log, a full processor, or a slow ZooKeeper at the time of each election: `grep -iE 'session
    expired|Resign|startup' controller.log server.log` on all brokers.

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
