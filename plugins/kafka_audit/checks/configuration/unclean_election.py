from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, Value, each_broker
from kafka_audit.cluster.unclean import FOR_ALL, UNCLEAN, not_yet_used
from kafka_audit.model.text import named_nodes, start_upper


@check(code="KA704", severity=Severity.HIGH, by_files=True)
def unclean_election(view: ClusterView) -> Judgements:
    """Replicas that are not in the ISR may become leaders."""
    effective = Effective(view)
    later = not_yet_used(view)

    def judged(broker: int) -> Judgements:
        row = effective.settings.answers.get(broker, {}).get(UNCLEAN)
        alone = effective.settings.get(broker, "process.roles").value == "broker"
        unused = alone and (row is None or row.source != FOR_ALL)
        severity = Severity.LOW if later else Severity.MEDIUM if unused else None
        yield _of_node(view, f"broker/{broker}", effective.get(broker, UNCLEAN), severity)

    yield from each_broker(effective, judged, UNCLEAN)
    unread = view.controller_nodes - effective.settings.controllers
    if unread and not later and not effective.settings.controllers and effective.brokers:
        evidence = {"who": named_nodes("controller", unread), "error": "their settings were not read"}
        evidence["needs"] = "server.properties of the controllers (`properties` in the cluster file)"
        yield view.judge("cluster", Status.UNKNOWN, evidence)
    for node in sorted(effective.settings.controllers):
        setting = effective.settings.get(node, UNCLEAN)
        text = (setting.value or "").strip() or None
        found = Value(key=UNCLEAN, known=setting.known, text=text, explicit=bool(text), source=setting.source)
        if found.known:
            yield _of_node(view, f"controller/{node}", found, Severity.LOW if later else None)


def _of_node(view: ClusterView, resource: str, found: Value, severity: Severity | None) -> Judgement:
    """Judge what a node that may be the controller has set."""
    subject, from_3_9 = start_upper(resource.replace("/", " ", 1)), " from Kafka 3.9 on" if severity is Severity.LOW else ""
    evidence = {"key": UNCLEAN, "value": found.text or "false", "source": found.source, "subject": subject, "from": from_3_9}
    evidence["broker"] = resource.partition("/")[2]
    status = Status.FAIL if found.true and found.explicit else Status.PASS
    judgement = view.judge(resource, status, evidence)
    return replace(judgement, severity=severity) if severity is not None and status is Status.FAIL else judgement
