from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, Value, each_broker, unknown_judgement

_KEY = "message.max.bytes"
_OVERHEAD = 12
"""Offset and size before a record batch: message.max.bytes counts them, so Kafka's own default is 12 above the fetch sizes."""

_LIMITS = {
    "socket.request.max.bytes": "the broker closes connections that send such a request",
    "log.segment.bytes": "a batch that does not fit into a segment is rejected",
    "replica.fetch.max.bytes": "followers fetch such batches one per request, and fall behind",
    "replica.fetch.response.max.bytes": "followers fetch such batches one per request, and fall behind",
}
"""What must not be smaller, and what happens where it is; the worst first."""


@check(code="KA706", severity=Severity.MEDIUM, by_files=True)
def message_sizes_clash(view: ClusterView) -> Judgements:
    """Batches may be larger than the limit of a request, a segment or a replica fetch."""
    effective = Effective(view)

    def judged(broker: int) -> Judgements:
        size = effective.get(broker, _KEY)
        limits = [effective.get(broker, key) for key in _LIMITS]
        if hidden := [value.key for value in (size, *limits) if value.number is None]:
            yield unknown_judgement(effective, broker, f"{', '.join(hidden)} unknown")
            return
        small = next((value for value in limits if (size.number or 0) - _OVERHEAD > (value.number or 0)), None)
        evidence: dict[str, object] = {"broker": broker, "size": size.number}
        if small is None:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
        else:
            evidence |= {"key": _to_blame(size, small), "limit": small.key, "value": small.number, "effect": _LIMITS[small.key]}
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence)

    yield from each_broker(effective, judged)


def _to_blame(size: Value, small: Value) -> str:
    return small.key if small.explicit or not size.explicit else size.key
