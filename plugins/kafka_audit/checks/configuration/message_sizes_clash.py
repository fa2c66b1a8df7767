"""KA706."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, Value, unknown, unread
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker

_KEY = "message.max.bytes"
_OVERHEAD = 12
"""Offset and size before a record batch: message.max.bytes counts them, so Kafka's own default is 12 above the fetch sizes."""

_LIMITS = {
    "socket.request.max.bytes": "the broker closes the connection of whoever sends such a request",
    "log.segment.bytes": "a batch that does not fit into a segment is refused",
    "replica.fetch.max.bytes": "followers get such batches one a request, and fall behind",
    "replica.fetch.response.max.bytes": "followers get such batches one a request, and fall behind",
}
"""What must not be smaller, and what happens where it is; the worst first."""


@check(
    code="KA706",
    severity=Severity.MEDIUM,
    needs=(BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} allows batches of {size} bytes (message.max.bytes) beside {limit}={value}: {effect}",
        Status.PASS: "Broker {broker} carries what it allows, batches of {size} bytes, all the way",
        Status.UNKNOWN: "Cannot determine whether {who} carries the batches that it allows all the way ({error})",
    },
)
def message_sizes_clash(view: ClusterView) -> Iterator[Judgement]:
    """Messages may be larger than what a request, a segment or a fetch of replicas takes.

    ## Why it matters
    The limit was raised at one place and not at the others. It shows with the first large batch: a producer that is cut off, or
    a follower that lags and leaves the ISR under load.

    ## Fails when
    `message.max.bytes` in effect is above `socket.request.max.bytes` or `log.segment.bytes`: such batches never get in. Or above
    `replica.fetch.max.bytes` or `replica.fetch.response.max.bytes`: since Kafka 0.10.1 replication does not stop there, but
    takes one batch a request. The 12 bytes by which the defaults differ do not count.

    ## Not known when
    Neither DescribeConfigs nor server.properties of the broker was read.

    ## Passes only when
    All four are large enough, defaults included. Limits of topics (`max.message.bytes`) and of clients are not read.

    ## What to do
    Raise {limit} on all brokers to at least {size}, or lower `message.max.bytes`, which is dynamic. In which order: what carries
    first (brokers, then consumers), what admits last (`message.max.bytes`, then `max.request.size` of producers). All but
    `log.segment.bytes` take a restart of broker {broker}.

    ## References
    KIP-74 (fetches make progress beyond their size); Kafka documentation, "Broker Configs".
    """
    effective = Effective(view)
    yield from unread(effective, "KA706")
    for broker in filter(effective.told, effective.brokers):
        size = effective.get(broker, _KEY)
        limits = [effective.get(broker, key) for key in _LIMITS]
        if hidden := [one.key for one in (size, *limits) if one.number is None]:
            yield unknown(effective, "KA706", broker, f"{', '.join(hidden)} not told")
            continue
        small = next((one for one in limits if (size.number or 0) - _OVERHEAD > (one.number or 0)), None)
        words: dict[str, object] = {"broker": broker, "size": size.number}
        if small is None:
            yield view.judge("KA706", f"broker/{broker}", Status.PASS, words)
        else:
            words |= {"key": _to_blame(size, small), "limit": small.key, "value": small.number, "effect": _LIMITS[small.key]}
            yield view.judge("KA706", f"broker/{broker}", Status.FAIL, words)


def _to_blame(size: Value, small: Value) -> str:
    return small.key if small.explicit or not size.explicit else size.key
