"""KA707."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, unknown, unread
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker, SnapshotInfo

_FACTOR, _IN_SYNC = "default.replication.factor", "min.insync.replicas"
_INTERNAL, _ENOUGH = ("offsets.topic.replication.factor", "transaction.state.log.replication.factor"), 3


@check(
    code="KA707",
    severity=Severity.MEDIUM,
    needs=(BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker),
    by_files=True,
    says={
        Status.FAIL: "New topics by the defaults of broker {broker} are weak: {fault}",
        Status.PASS: "New topics by the defaults of broker {broker} have {factor} replicas, {in_sync} in sync for acks=all",
        Status.UNKNOWN: "Cannot determine whether new topics by the defaults of {who} are weak ({error})",
        Status.NOT_APPLICABLE: "There cannot be more replicas: {reason}",
    },
)
def replicas_too_few(view: ClusterView) -> Iterator[Judgement]:
    """The defaults of new topics keep too few replicas, or wait for too few.

    ## Why it matters
    Whoever creates a topic without saying more gets these: with one replica every restart of a broker is an outage of its
    partitions and every dead disk a loss. With `min.insync.replicas=1` a write with `acks=all` may be on a single broker.

    ## Fails when
    `default.replication.factor` is below 3 (with two brokers: below 2); `min.insync.replicas` is 1 beside three replicas or more,
    or not below the number of replicas, so that the first broker that stops ends all writes with `acks=all`; or the internal
    topics of offsets and transactions are to be created with fewer replicas than that. The defaults of Kafka are 1 and 1.

    ## Not known when
    Neither DescribeConfigs nor server.properties of the broker was read; or one file alone, of how many is not known.

    ## Passes only when
    None of that is so. It does not apply to a cluster of one broker, and says nothing of topics that exist.

    ## What to do
    On all brokers: `default.replication.factor=3`, `min.insync.replicas=2`, internal topics with 3; the first here is {key}.
    `min.insync.replicas` is dynamic and applies to existing topics at once: first see that those have 3 replicas, or their
    producers with `acks=all` stop. Existing topics get replicas by `kafka-reassign-partitions.sh` only.

    With eligible leader replicas (KIP-966; Kafka 4.0, on in new clusters from 4.1) `min.insync.replicas` in server.properties has
    no effect: the setting of the cluster holds, and can be changed but not deleted. `kafka-configs.sh --bootstrap-server
    <broker>:9092 --alter --entity-type brokers --entity-default --add-config min.insync.replicas=2`.

    ## References
    Kafka documentation, "Broker Configs" and "Replication".
    """
    effective = Effective(view)
    size = max(len(effective.brokers), *(info.expect_brokers or 1 for info in view.of(SnapshotInfo)), 1)
    yield from unread(effective, "KA707")
    for broker in filter(effective.told, effective.brokers):
        resource, found = f"broker/{broker}", {key: effective.get(broker, key).number for key in (_FACTOR, _IN_SYNC, *_INTERNAL)}
        known = {key: number for key, number in found.items() if number is not None}
        if size == 1 and effective.between.asked:
            yield view.judge("KA707", resource, Status.NOT_APPLICABLE, reason="there is one broker")
        elif size == 1:
            yield unknown(effective, "KA707", broker, "the number of brokers is not known", "the files of the other brokers")
        elif len(known) < len(found):
            yield unknown(effective, "KA707", broker, f"{', '.join(sorted(found.keys() - known.keys()))} not told")
        else:
            weak = tuple(_weak(known, min(_ENOUGH, size)))
            words = {"broker": broker, "factor": known[_FACTOR], "in_sync": known[_IN_SYNC]}
            told = {"key": weak[0][0], "fault": "; ".join(text for _, text in weak)} if weak else {}
            yield view.judge("KA707", resource, Status.FAIL if weak else Status.PASS, {**words, **told})


def _weak(known: Mapping[str, int], enough: int) -> Iterator[tuple[str, str]]:
    """Yield each weak key with a sentence's part; `enough` is how many replicas there can and need to be."""
    factor, in_sync = known[_FACTOR], known[_IN_SYNC]
    if factor < enough:
        yield _FACTOR, f"{_FACTOR} is {factor}"
    elif in_sync >= factor:
        yield _IN_SYNC, f"{_IN_SYNC} is {in_sync} of {factor} replicas, so one broker that stops ends writes with acks=all"
    if factor >= _ENOUGH and in_sync < _ENOUGH - 1:
        yield _IN_SYNC, f"{_IN_SYNC} is {in_sync}, so a write with acks=all may be on a single broker"
    yield from ((key, f"{key} is {known[key]}") for key in _INTERNAL if known[key] < enough)
