from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, each_broker, unknown_judgement
from kafka_audit.cluster.releases import releases
from kafka_audit.configuration.behaviour import behaviour

_TYPE, _AFTER = "log.message.timestamp.type", "log.message.timestamp.after.max.ms"
_BOTH = "log.message.timestamp.difference.max.ms"
_NO_BOUND, _HOUR_MS, _YEAR_MS = 2**63 - 1, 3_600_000, 366 * 86_400_000


@check(code="KA722", severity=Severity.LOW, by_files=True)
def future_records_accepted(view: ClusterView) -> Judgements:
    """Clients set the time of records, and the broker accepts any time in the future."""
    effective = Effective(view)

    def judged(broker: int) -> Judgements:
        kind, after, both = (effective.get(broker, key) for key in (_TYPE, _AFTER, _BOTH))
        evidence: dict[str, object] = {"broker": broker, "who": f"broker {broker}", "key": _AFTER}
        bound = _default(effective, broker)
        for value in (both, after):
            if value.explicit and value.number not in {None, _NO_BOUND}:
                bound = value.number
        if kind.text == "LogAppendTime":
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
        elif bound is None:
            yield unknown_judgement(effective, broker, "its release is unknown", f"an answer from broker {broker} to ApiVersions")
        elif bound < 0:
            reason = f"before Kafka {behaviour('future_times_apart').first} one bound holds for old and for future records"
            yield view.not_applicable(f"broker/{broker}", reason, evidence)
        else:
            yield view.judge(f"broker/{broker}", Status.FAIL if bound > _YEAR_MS else Status.PASS, evidence)

    yield from each_broker(effective, judged, _TYPE, _AFTER, _BOTH, together=True)


def _default(effective: Effective, broker: int) -> int | None:
    """Return the bound of a broker that sets none; -1 before there was one, None where the release is unknown and decides.

    A key that a running broker does not report is one that its release does not have.
    """
    explicit = effective.get(broker, _AFTER)
    answers = effective.settings.answers.get(broker, {})
    if _AFTER in answers:
        return explicit.number
    apart, bounded = behaviour("future_times_apart"), behaviour("future_times_bounded")
    known = [
        (_HOUR_MS if bounded.holds(version) else _NO_BOUND if apart.holds(version) else -1)
        for version in releases(effective.view, broker)
    ]
    defaults = {-1} if answers and not known else {*known}
    default = defaults.pop() if len(defaults) == 1 else None
    return _NO_BOUND if explicit.explicit and default != -1 else default
