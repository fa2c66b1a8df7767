from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.controller.since_previous import gap_judgement, minutes, rounded
from kafka_audit.model.quorum import most_elections
from kafka_audit.model.tables import QuorumView, RegisteredBroker

_FEWEST = 3
"""How many elections are never too many."""

_ROLLING_RESTARTS = 2
"""How often a broker may have been restarted on purpose between two snapshots: an upgrade takes two rolling restarts."""

_MINUTES = 60
"""More than one election in so many minutes is too many."""


@check(code="KA203", severity=Severity.HIGH, parts=("controller epoch", "brokers", "topics"))
def controller_flaps(view: ClusterView) -> Judgements:
    """The controller is elected repeatedly."""
    gap = gap_judgement(view)
    if gap is not None:
        yield gap
        return
    if view.kraft:
        yield _of_quorum(view)
        return
    state, earlier, passed = view.state, view.state_earlier, minutes(view)
    before = None if earlier is None else earlier.controller_epoch
    after = None if state is None else state.controller_epoch
    evidence = {"minutes": rounded(passed), "before": before, "after": after}
    if state is None or before is None or after is None or passed is None:
        yield view.unknown("cluster", "/controller_epoch is absent", "a /controller_epoch in both snapshots", evidence)
        return
    rise = max(after - before, 0)
    taken_over = 1 if state.controller_id is None else 0  # by a KRaft controller, in a migration
    restarted = _restarted(view)
    flaps = rise > max(_ROLLING_RESTARTS * restarted, _FEWEST) + taken_over and rise * _MINUTES > passed
    yield view.judge("cluster", Status.FAIL if flaps else Status.PASS, {**evidence, "restarted": restarted}, rise=rise)


def _restarted(view: ClusterView) -> int:
    """Return how many brokers registered again since the previous snapshot: the znode of a registration is a new one."""
    before = {(row.broker_id, row.czxid) for row in view.earlier(RegisteredBroker)}
    return len({row.broker_id for row in view.newest(RegisteredBroker) if (row.broker_id, row.czxid) not in before})


def _of_quorum(view: ClusterView) -> Judgement:
    """Judge the epochs of the metadata quorum."""
    before, after = (
        max((row.leader_epoch for row in rows if row.leader_epoch is not None), default=None)
        for rows in (view.earlier(QuorumView), view.newest(QuorumView))
    )
    passed = minutes(view)
    evidence = {"minutes": rounded(passed), "before": before, "after": after}
    if before is None or after is None or passed is None:
        error, needs = view.quorum.unread() if after is None else ("the previous snapshot did not read it", "another audit")
        return view.unknown("cluster", f"the epoch of the quorum is unknown: {error}", needs, evidence)
    rise = max(after - before, 0)
    flaps = rise > most_elections(len(view.quorum.now.voters)) and rise * _MINUTES > passed
    return view.judge("cluster", Status.FAIL if flaps else Status.PASS, evidence, rise=rise)
