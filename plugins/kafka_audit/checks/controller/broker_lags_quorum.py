"""KA210."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.cluster.quorum import seconds
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, QuorumReplica, QuorumView


@check(
    code="KA210",
    severity=Severity.HIGH,
    needs=(QuorumView, QuorumReplica, BrokerView),
    says={
        Status.FAIL: "Broker {broker} follows the metadata log no more: the leader {leader} saw it caught up {behind}, {offsets}",
        Status.PASS: "Broker {broker} follows the metadata log ({offsets})",
        Status.UNKNOWN: "Not known: whether {who} follows the metadata log ({error})",
        Status.NOT_APPLICABLE: "Not asked of {who}: {reason}",
    },
)
def broker_lags_quorum(view: ClusterView) -> Iterator[Judgement]:
    """A broker answers clients, and does not follow the metadata log of its controllers.

    ## Why it matters
    It goes on with yesterday's leaders, addresses and ACLs, and says so to every client that asks it. The controllers hear
    nothing of it, fence it and give its partitions to others; what is written to it is lost.

    ## Fails when
    The broker gives its view, and in two looks the quorum's leader has not seen it caught up with the metadata log for 10 s.

    ## Not known when
    DescribeQuorum was refused or not answered, its version tells no times (before Kafka 3.3), the leader does not know the
    broker (it forgets an observer after five minutes), or this was seen in one look.

    ## Passes only when
    The leader counts the broker among its observers or voters, and it is caught up. A broker that does not answer is KA113's
    and KA001's.

    ## What to do
    Open the way from broker {broker} to the controllers: `nc -vz <controller> 9093` on its host, then the end of server.log
    there (`grep -iE 'controller|Authentication failed|handshake|fenced' server.log | tail`). It catches up by itself. Until
    then take it out of the clients' bootstrap addresses.

    ## References
    KIP-836 (lag of voters and observers), KIP-631 (brokers as observers of the metadata log).
    """
    quorum = view.quorum
    yield from no_quorum(view, "KA210", "a broker")
    now = quorum.now
    if now.newest is None:
        return
    answering = {one for one in now.answering if one >= 0}
    for broker in sorted(answering | {one for one, row in now.replicas.items() if not row.voter}):
        row = now.replicas.get(broker)
        words = {"broker": broker, "who": f"broker {broker}", "leader": now.newest.leader_id}
        resource, behind = f"broker/{broker}", now.behind_ms.get(broker)
        if broker not in answering:
            yield view.judge("KA210", resource, Status.NOT_APPLICABLE, words, reason="it gives no view")
        elif row is None or not now.behind_ms:
            error = "the leader does not know it" if row is None else "this version tells no times"
            needs = "an observer that fetched within five minutes" if row is None else "DescribeQuorum version 1 (Kafka 3.3)"
            yield view.judge("KA210", resource, Status.UNKNOWN, words, error=error, needs=needs)
        else:
            words |= {"behind": seconds(behind), "offsets": f"at offset {row.log_end_offset} of {now.newest.high_watermark}"}
            lasting = quorum.before is not None and broker in quorum.before.late and broker in quorum.before.answering
            if broker not in now.late:
                yield view.judge("KA210", resource, Status.PASS, words)
            elif lasting:
                yield view.judge("KA210", resource, Status.FAIL, words)
            else:
                yield view.judge("KA210", resource, Status.UNKNOWN, words | ONCE)
