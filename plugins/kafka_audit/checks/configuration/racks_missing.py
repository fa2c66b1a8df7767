"""KA708."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, unknown_judgement, unread_judgements
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import brokers

_KEY = "broker.rack"


@check(
    code="KA708",
    severity=Severity.MEDIUM,
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} has no broker.rack, but {others} {do}",
        Status.PASS: "Broker {broker} is in rack {rack}",
        Status.UNKNOWN: "Cannot determine whether {who} has a rack ({error})",
        Status.NOT_APPLICABLE: "No racks to compare: {reason}",
    },
)
def racks_missing(view: ClusterView) -> Iterator[Judgement]:
    """Some brokers have a rack, others do not.

    ## Why it matters
    With ZooKeeper, topics can be created only with explicit replica assignments: the controller returns UNKNOWN_SERVER_ERROR
    and logs "Not all brokers have rack information". In KRaft, brokers without a rack count as one separate rack, so replicas
    that belong on different racks may be on the same one and fail together.

    ## Fails when
    `broker.rack` of the broker is not set, and that of another broker is.

    ## Not known when
    The settings of the broker were not read (DescribeConfigs or server.properties).

    ## Passes only when
    The broker has a rack. The check does not apply if no broker has one.

    ## What to do
    Set `broker.rack` on broker {broker} and restart it. Existing partitions do not move: find those with all replicas on one
    rack and reassign them. If racks are not intended, remove the key from {others}.

    ## References
    KIP-36 (rack-aware replica assignment); KIP-392 (fetch from the closest replica).
    """
    effective = Effective(view)
    racks = {broker: effective.get(broker, _KEY) for broker in effective.brokers if effective.was_read(broker)}
    named = [broker for broker, rack in racks.items() if rack.explicit]
    if racks and len(racks) == len(effective.brokers) and not named and all(rack.known for rack in racks.values()):
        yield view.judge("KA708", "cluster", Status.NOT_APPLICABLE, reason="no broker has a rack")
        return
    yield from unread_judgements(effective, "KA708")
    for broker, rack in racks.items():
        evidence: dict[str, object] = {"broker": broker, "key": _KEY, "rack": rack.text or "", "others": brokers(named)}
        evidence["other_brokers"] = tuple(sorted(named)) or None
        if not rack.known or (not rack.explicit and not named):
            error = "not every broker reported its rack" if rack.known else f"{_KEY} is unknown"
            yield unknown_judgement(effective, "KA708", broker, error)
        elif rack.explicit:
            yield view.judge("KA708", f"broker/{broker}", Status.PASS, evidence)
        else:
            yield view.judge("KA708", f"broker/{broker}", Status.FAIL, evidence, do="has one" if len(named) == 1 else "have one")
