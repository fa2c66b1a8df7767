"""Who answers at the endpoints that brokers advertise, as clients find it: the layer identity of their edges."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text, canonical_text
from kafka_audit.model.addresses.name_addresses import answers_for_another
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


_Place = tuple[int, str, str, str]
"""Broker, listener and canonical address of an endpoint, and the vantage."""


def answers_in_order(view: ClusterView) -> Mapping[_Place, tuple[int, ...]]:
    """Return the brokers that answered at each endpoint, seen from each vantage to which one answered in the newest sample.

    One for each sample: the last one of the previous snapshot, then those of this snapshot. Other clusters are left out.
    """
    own = None if view.state is None else view.state.kafka_cluster_id
    earlier = _by_place(view.earlier(BrokerIdentity), view.earlier(Probe), own)
    now, newest = _by_place(view.of(BrokerIdentity), view.of(Probe), own), view.newest
    return {
        place: (*earlier.get(place, ()), *now.get(place, ())) for place in _by_place(newest(BrokerIdentity), newest(Probe), own)
    }


def _by_place(identities: Iterable[BrokerIdentity], probes: Iterable[Probe], own: str | None) -> Mapping[_Place, list[int]]:
    found: dict[_Place, list[int]] = defaultdict(list)
    for row in sorted(identities, key=lambda row: row.sample):
        if row.answered_by is not None and (own is None or row.kafka_cluster_id in {None, own}):
            found[row.broker_id, row.listener, canonical_text(row.address), WORKER].append(row.answered_by)
    for probe in sorted(probes, key=lambda probe: probe.sample):
        is_asked = (probe.layer, probe.role) == ("identity", "client") and probe.vantage != WORKER
        if is_asked and probe.answered_by is not None:
            address = canonical_text(address_text(probe.host, probe.port))
            found[probe.broker_id, probe.listener, address, probe.vantage].append(probe.answered_by)
    return found


def _answers(
    identities: Iterable[BrokerIdentity], probes: Iterable[Probe], own: str | None
) -> Mapping[tuple[int, str], list[AnsweringBroker]]:
    """Return the answers of one sample; `own` is the id of the cluster."""
    found: dict[tuple[int, str], list[AnsweringBroker]] = defaultdict(list)
    for row in identities:
        foreign = None if own is None or row.kafka_cluster_id == own else row.kafka_cluster_id
        other = answers_for_another(row) or foreign is not None
        answer = AnsweringBroker(vantage=WORKER, answered_by=row.answered_by, cluster_id=foreign, is_other=other)
        found[row.broker_id, row.listener].append(answer)
    for probe in probes:
        if (probe.layer, probe.role) == ("identity", "client"):
            found[probe.broker_id, probe.listener].append(probed_answer(probe))
    return found


def probed_answer(probe: Probe) -> AnsweringBroker:
    """Return who answers by the layer identity of a probe, from a client or from a broker's host."""
    return AnsweringBroker(vantage=probe.vantage, answered_by=probe.answered_by, is_other=answers_for_another(probe))
