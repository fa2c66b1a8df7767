from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, each_broker

_KEY = "auto.create.topics.enable"


@check(code="KA705", severity=Severity.LOW, by_files=True)
def topics_created_automatically(view: ClusterView) -> Judgements:
    """Brokers create topics automatically when a client uses them."""
    effective = Effective(view)

    def judged(broker: int) -> Judgements:
        found = effective.get(broker, _KEY)
        why = f"set in {found.source}" if found.explicit else "Kafka's default"
        evidence = {"broker": broker, "who": f"broker {broker}", "key": _KEY, "why": why, "source": found.source}
        yield view.judge(f"broker/{broker}", Status.FAIL if found.true else Status.PASS, evidence)

    yield from each_broker(effective, judged, _KEY, together=True)
