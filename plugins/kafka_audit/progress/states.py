"""What is in one state until it is done: topics in deletion, and group coordinators that load their partitions."""

from collections.abc import Iterator

from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import DeletedTopic
from kafka_audit.model.tables import GroupCoordinator
from kafka_audit.model.text import brokers
from kafka_audit.progress.rule import Observed

COORDINATOR_ERRORS = {14: "COORDINATOR_LOAD_IN_PROGRESS", 15: "COORDINATOR_NOT_AVAILABLE", 16: "NOT_COORDINATOR"}


def deletions(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each topic that is marked for deletion, with ZooKeeper: KRaft deletes at once."""
    for row in view.differences.of(DeletedTopic):
        gone = row.unregistered
        yield Observed(
            kind="deletion",
            parties=(f"topic/{row.topic}",),
            what=f"deletion of topic {row.topic}",
            now="marked",
            snapshot="marked" if row.before else None,
            was_there=row.before,
            unit="state",
            waits_for=f"{brokers(gone)}, not registered" if gone else "",
        )


def loading_coordinators(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each group coordinator that is not ready in the newest sample."""
    moments = (view.before(GroupCoordinator), view.earlier(GroupCoordinator))
    before, earlier = ({row.broker_id: _state(row.error) for row in rows} for rows in moments)
    for row in view.newest(GroupCoordinator):
        if row.error:
            last = earlier.get(row.broker_id)
            yield Observed(
                kind="coordinator",
                parties=(f"broker/{row.broker_id}",),
                what=f"start of the group coordinator of broker {row.broker_id}",
                now=_state(row.error),
                sample=before.get(row.broker_id),
                snapshot=last,
                was_there=last not in {None, _READY},
                unit="state",
                clients_wait=True,
            )


_READY = "ready"


def _state(error: int) -> str:
    return COORDINATOR_ERRORS.get(error, f"error {error}") if error else _READY
