"""The brokers that accepted a login which another one refused, for KA001."""

from collections.abc import Sequence

from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import is_among
from kafka_audit.model.read_failure import LOGIN_REFUSALS, ReadFailure
from kafka_audit.model.tables import BrokerView, SourceRead

_NOT_LET_IN = LOGIN_REFUSALS | {ReadFailure.SCRAM_WEAK, ReadFailure.SCRAM_NOT_VERIFIED}


def accepted_elsewhere(view: ClusterView, resource: str, failed: Sequence[SourceRead]) -> dict[str, object]:
    """Return as evidence who let the auditor in with the same user and password, on the listeners where a broker did not."""
    if not resource.startswith("broker/") or not any(read.failure in _NOT_LET_IN for read in failed):
        return {}
    listeners = _listeners(view, resource, failed)
    views = [row for row in view.newest(BrokerView) if row.listener in listeners and row.broker_id >= 0]
    others = tuple(sorted({row.broker_id for row in views if f"broker/{row.broker_id}" != resource}))
    return {"accepted_by": others, "accepted_at": tuple(sorted(listeners))} if others else {}


def _listeners(view: ClusterView, resource: str, failed: Sequence[SourceRead]) -> set[str]:
    """Return the listeners at which reads failed."""
    tried = {place for read in failed for place in addresses_of(read.target)}
    own = [endpoint for endpoint in view.endpoints.by_resource.values() if f"broker/{endpoint.broker_id}" == resource]
    found = {endpoint.listener for endpoint in own if is_among((endpoint.host, endpoint.port), tried)}
    # Behind `reach` another address is dialled.
    return found or {endpoint.listener for endpoint in own if (endpoint.protocol or "").startswith("SASL_")}
