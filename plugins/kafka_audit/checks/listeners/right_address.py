"""What a broker should advertise instead of an address that no host reaches, not even the broker's own host."""

from kafka_audit.checks import ClusterView
from kafka_audit.checks.incident import Case
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.processes import Processes, ProcessState
from kafka_audit.compare.addresses import address_text, canonical_text
from kafka_audit.compare.host_kinds import means_itself
from kafka_audit.compare.listener_names import same_listener
from kafka_audit.model.addresses.advertised_listeners import INSTEAD, entries
from kafka_audit.model.finding import Finding
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.text import is_plain_word


def right_addresses(case: Case) -> dict[AdvertisedEndpoint, str]:
    """Return it for each wrong endpoint of a case, where it is known: what worked before, else what is bound."""
    found = ((endpoint, worked_before(case, endpoint) or _instead(case.view, endpoint)) for endpoint in wrong_endpoints(case))
    return {endpoint: address for endpoint, address in found if address}


def wrong_endpoints(case: Case) -> tuple[AdvertisedEndpoint, ...]:
    """Return every wrong endpoint of the brokers of which a case names one: they are in one setting, which is corrected once."""
    named = {endpoint.broker_id for endpoint in case.endpoints if is_wrong(case, endpoint)}
    return tuple(other for broker in sorted(named) for other in case.view.endpoints.of(broker) if is_wrong(case, other))


def in_the_same_setting(case: Case, symptom: Finding) -> bool:
    """Explain another listener of the case's brokers whose address is wrong too: one setting has both."""
    other = case.view.endpoints.by_resource.get(symptom.resource.name)
    own = (endpoint for endpoint in case.endpoints if other and endpoint.broker_id == other.broker_id)
    return other is not None and any(is_wrong(case, endpoint) for endpoint in own) and is_wrong(case, other)


def is_wrong(case: Case, endpoint: AdvertisedEndpoint) -> bool:
    """Return whether a broker runs, and no host reaches its address.

    A registration shows that it runs, but of a broker that was killed it stays for a while: then its port refuses connections.
    """
    broker, edges = endpoint.broker_id, case.edges.to(endpoint, role=None)
    refused = any(edge.stop is not None and edge.stop.failure is ReadFailure.REFUSED for edge in edges)
    return case.edges.is_lost(endpoint) and (is_running(case.view, broker) or (broker in case.view.in_zookeeper and not refused))


def is_running(view: ClusterView, broker: int) -> bool:
    """Return whether an answer of a broker, or its fetches, show that its process runs."""
    process = view.derived(Processes).all.get(broker)
    return process is not None and process.state is ProcessState.RUNS


def worked_before(case: Case, endpoint: AdvertisedEndpoint) -> str | None:
    """Return the address that a broker had in the previous audit, where that is another one."""
    here = {f"broker/{endpoint.broker_id}", endpoint.resource}
    moved = (change for change in case.changes if change.kind == "endpoint" and change.resource in here)
    earlier = (at.text for change in moved for at in change.addresses_before)
    return next((address for address in earlier if is_plain_word(address)), None)


def _instead(view: ClusterView, endpoint: AdvertisedEndpoint) -> str | None:
    """Return where a broker listens, where another one advertises exactly that: else a forward may lead there."""
    bound = _bound(view, endpoint)
    others = (other for other in view.endpoints.known if other.broker_id != endpoint.broker_id)
    same = (other for other in others if same_listener(other.listener, endpoint.listener))
    if bound is None or not any(_bound(view, other) == canonical_text(other.address) for other in same):
        return None
    return bound if bound != canonical_text(endpoint.address) and is_plain_word(bound) else None


def _bound(view: ClusterView, endpoint: AdvertisedEndpoint) -> str | None:
    """Return where a broker's listener listens, if its settings name a host that others can reach."""
    for entry in entries({INSTEAD: view.settings.get(endpoint.broker_id, INSTEAD).value}):
        if same_listener(entry.listener, endpoint.listener) and entry.host and entry.port and not means_itself(entry.host):
            return canonical_text(address_text(entry.host, entry.port))
    return None
