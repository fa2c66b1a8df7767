from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, Value, defaults, each_broker, unknown_judgement
from kafka_audit.checks.gaps import controllers_unread

_INTERVAL, _SESSION = "broker.heartbeat.interval.ms", "broker.session.timeout.ms"


@check(code="KA724", severity=Severity.HIGH, mode="kraft", by_files=True)
def heartbeats_too_rare(view: ClusterView) -> Judgements:
    """Brokers send heartbeats more rarely than controllers accept."""
    effective, settings = Effective(view), view.settings
    controllers = sorted(settings.with_controller_role | {*view.quorum.now.voters})
    found = {node: settings.running(node, _SESSION) for node in controllers}
    texts = {node: setting.value or defaults(_SESSION)[0] for node, setting in found.items() if setting.known}
    numbers = {node: Value(key=_SESSION, known=True, text=text).number for node, text in texts.items()}
    sessions = {node: number for node, number in numbers.items() if number is not None}
    unread = [node for node in controllers if node not in sessions]
    shortest = min(sessions.values(), default=None)

    def judged(broker: int) -> Judgements:
        interval = effective.get(broker, _INTERVAL)
        if interval.number is None:
            yield unknown_judgement(effective, broker, f"{_INTERVAL} is unknown")
        elif shortest is not None:
            late = interval.number >= shortest
            evidence: dict[str, object] = {"broker": broker, "who": f"broker {broker}", "interval": interval.number}
            evidence |= {"session": shortest, "key": _INTERVAL if interval.explicit else _SESSION}
            evidence["nodes"] = tuple(node for node, session in sessions.items() if session == shortest)
            evidence["effect"] = "it is fenced between two heartbeats" if late else "one late heartbeat fences it"
            if late or 2 * interval.number > shortest:
                severity = Severity.HIGH if late else Severity.MEDIUM
                yield view.judge(f"broker/{broker}", Status.FAIL, evidence, severity=severity)
            elif not unread:
                yield view.judge(f"broker/{broker}", Status.PASS, evidence)

    yield from each_broker(effective, judged, together=True)
    if unread or not controllers:
        yield controllers_unread(view, _SESSION, unread)
