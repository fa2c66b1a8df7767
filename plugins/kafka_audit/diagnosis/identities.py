"""Who answers at the endpoints that brokers advertise, as clients find it: the layer identity of their edges."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.tables import BrokerIdentity, Probe


@dataclass(frozen=True, kw_only=True)
class AnsweringBroker:
    """Who answers at an endpoint, seen from one vantage. None where the socket did not say it."""

    vantage: str
    answered_by: int | None
    is_other: bool  # another one than the broker that advertises the endpoint
    cluster_id: str | None = None  # of another cluster
    lasting: bool = False  # another one answered there in the sample before, too

    @property
    def name(self) -> str:
        """Who it is: `broker 1`, `cluster abc`."""
        return f"broker {self.answered_by}" if self.cluster_id is None else f"cluster {self.cluster_id}"


def answering_brokers(view: ClusterView) -> Mapping[tuple[int, str], list[AnsweringBroker]]:
    """Return who answers in the newest sample, by broker and listener of the endpoint."""
    own = None if view.state is None else view.state.kafka_cluster_id
    before = _answers(view.before(BrokerIdentity), view.before(Probe), own)
    earlier = {key for key, answers in before.items() if any(answer.is_other for answer in answers)}
    now = _answers(view.newest(BrokerIdentity), view.newest(Probe), own)
    return {key: [replace(answer, lasting=key in earlier) for answer in answers] for key, answers in now.items()}


def _answers(
    identities: Iterable[BrokerIdentity], probes: Iterable[Probe], own: str | None
) -> Mapping[tuple[int, str], list[AnsweringBroker]]:
    """Return the answers of one sample; `own` is the id of the cluster."""
    found: dict[tuple[int, str], list[AnsweringBroker]] = defaultdict(list)
    for row in identities:
        foreign = None if own is None or row.kafka_cluster_id == own else row.kafka_cluster_id
        other = row.answered_by not in {None, row.broker_id} or foreign is not None
        answer = AnsweringBroker(vantage=WORKER, answered_by=row.answered_by, cluster_id=foreign, is_other=other)
        found[row.broker_id, row.listener].append(answer)
    for probe in probes:
        if (probe.layer, probe.role) == ("identity", "client"):
            other = probe.answered_by not in {None, probe.broker_id}
            answer = AnsweringBroker(vantage=probe.vantage, answered_by=probe.answered_by, is_other=other)
            found[probe.broker_id, probe.listener].append(answer)
    return found
