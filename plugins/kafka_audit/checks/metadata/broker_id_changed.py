from collections.abc import Iterable

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE
from kafka_audit.cluster.registry import RegisteredAddress
from kafka_audit.compare.addresses import address_text, canonical_text


@check(code="KA115", severity=Severity.HIGH, parts=("brokers", "topics"))
def broker_id_changed(view: ClusterView) -> Judgements:
    """A broker came back under another id, and partitions are still assigned to its former one."""
    gap = view.gap_earlier("brokers")
    if gap is not None and gap.whole:
        reported = {"who": "any broker", "error": gap.error, "needs": gap.needs, "reason": gap.reason}
        yield view.judge("cluster", gap.status, reported)
        return
    now, earlier = _by_address(view.addresses), _by_address(view.addresses_earlier)
    came = view.brokers.keys() - view.brokers_earlier.keys()
    for broker in sorted(view.brokers_earlier):
        resource = f"broker/{broker}"
        evidence: dict[str, object] = {"broker": broker, "who": f"broker {broker}"}
        taken = (
            {}
            if broker in view.brokers
            else {address: now[address] for address, held_by in earlier.items() if held_by == broker and now.get(address) in came}
        )
        if not taken or not (replicas := view.partitions.held_by(broker)):
            yield view.judge(resource, Status.PASS, evidence)
            continue
        address, new = next(iter(taken.items()))
        seen = broker not in view.brokers_before and new in view.brokers_before
        evidence |= {"new": new, "address": address, "replicas": replicas}
        if seen:
            yield view.judge(resource, Status.FAIL, evidence, confidence=Confidence.INFERRED)
        else:
            yield view.judge(resource, Status.UNKNOWN, evidence | ONCE)


def _by_address(addresses: Iterable[RegisteredAddress]) -> dict[str, int]:
    return {canonical_text(address_text(address.host, address.port)): address.broker_id for address in addresses}
