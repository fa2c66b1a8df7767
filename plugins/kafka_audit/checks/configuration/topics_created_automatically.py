from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.configuration.effective import Effective, unknown_judgement, unread_judgements

_KEY = "auto.create.topics.enable"


@check(code="KA705", severity=Severity.LOW, by_files=True)
def topics_created_automatically(view: ClusterView) -> Judgements:
    """Brokers create topics automatically when a client uses them."""
    effective = Effective(view)
    yield from unread_judgements(effective)
    yield from one_finding(view, _of_brokers(effective))


def _of_brokers(effective: Effective) -> Judgements:
    for broker in filter(effective.was_read, effective.brokers):
        found = effective.get(broker, _KEY)
        if not found.known:
            yield unknown_judgement(effective, broker, f"{_KEY} is unknown")
            continue
        why = f"set in {found.source}" if found.explicit else "Kafka's default"
        evidence = {"broker": broker, "who": f"broker {broker}", "key": _KEY, "why": why, "source": found.source}
        yield effective.view.judge(f"broker/{broker}", Status.FAIL if found.true else Status.PASS, evidence)
