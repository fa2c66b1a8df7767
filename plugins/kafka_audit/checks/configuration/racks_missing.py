from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, each_broker, unknown_judgement
from kafka_audit.model.text import brokers

_KEY = "broker.rack"


@check(code="KA708", severity=Severity.MEDIUM, by_files=True)
def racks_missing(view: ClusterView) -> Judgements:
    """Some brokers have a rack, others do not."""
    effective = Effective(view)
    racks = {broker: effective.get(broker, _KEY) for broker in effective.brokers if effective.was_read(broker)}
    named = [broker for broker, rack in racks.items() if rack.explicit]
    if racks and len(racks) == len(effective.brokers) and not named and all(rack.known for rack in racks.values()):
        yield view.not_applicable("cluster", "no broker has a rack")
        return

    def judged(broker: int) -> Judgements:
        rack = racks[broker]
        evidence: dict[str, object] = {"broker": broker, "key": _KEY, "rack": rack.text or "", "others": brokers(named)}
        evidence["other_brokers"] = tuple(sorted(named)) or None
        if not rack.explicit and not named:
            yield unknown_judgement(effective, broker, "not every broker reported its rack")
        elif rack.explicit:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
        else:
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence, do="has one" if len(named) == 1 else "have one")

    yield from each_broker(effective, judged, _KEY)
