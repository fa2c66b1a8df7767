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
        Status.FAIL: "Broker {broker} no longer follows the metadata log: leader {leader} saw it caught up {behind}, {offsets}",
        Status.PASS: "Broker {broker} follows the metadata log ({offsets})",
        Status.UNKNOWN: "Cannot determine whether {who} follows the metadata log ({error})",
        Status.NOT_APPLICABLE: "Not checked for {who}: {reason}",
    },
)
def broker_lags_quorum(view: ClusterView) -> Iterator[Judgement]:
    """A broker answers clients but does not follow the controllers' metadata log.

    ## Why it matters
    The broker keeps old leaders, addresses and ACLs, and returns them to every client that connects to it. The controllers
    receive no heartbeat, fence the broker and elect other leaders for its partitions. Records that it takes as an old leader
    with `acks=0` or `acks=1` are lost; `acks=all` waits for replicas that no longer follow it, and fails.

    ## Fails when
    The broker returns a view, and in two samples the quorum leader has not seen it caught up with the metadata log for 10 s.

    ## Not known when
    DescribeQuorum was denied or not answered, or its version reports no timestamps (before Kafka 3.3). Or the leader does not
    know the broker (it forgets an observer after five minutes), or one sample only shows it.

    ## Passes only when
    The leader lists the broker as an observer or voter, and the broker is caught up. KA113 and KA001 report a broker that does
    not answer.

    ## What to do
    Open the connection from broker {broker} to the controllers: run `nc -vz CONTROLLER 9093` on its host, then read the end
    of server.log (`grep -iE 'controller|Authentication failed|handshake|fenced' server.log | tail`). The broker catches up
    without a restart. Until then remove it from the clients' bootstrap addresses.

    ## References
    KIP-836 (lag of voters and observers), KIP-631 (brokers as observers of the metadata log).
    """
    quorum = view.quorum
    yield from no_quorum(view, "KA210", "a broker")
    now = quorum.now
    if now.newest is None:
        return
    answering = {broker for broker in now.answering if broker >= 0}
    for broker in sorted(answering | {broker for broker, row in now.replicas.items() if not row.voter}):
        row = now.replicas.get(broker)
        evidence = {"broker": broker, "who": f"broker {broker}", "leader": now.newest.leader_id}
        resource, behind = f"broker/{broker}", now.behind_ms.get(broker)
        if broker not in answering:
            yield view.judge("KA210", resource, Status.NOT_APPLICABLE, evidence, reason="it returns no view")
        elif row is None or not now.behind_ms:
            error = "the leader does not know it" if row is None else "this version reports no timestamps"
            needs = "an observer that fetched within five minutes" if row is None else "DescribeQuorum version 1 (Kafka 3.3)"
            yield view.judge("KA210", resource, Status.UNKNOWN, evidence, error=error, needs=needs)
        else:
            evidence |= {"behind": seconds(behind), "offsets": f"at offset {row.log_end_offset} of {now.newest.high_watermark}"}
            lasting = quorum.before is not None and broker in quorum.before.late and broker in quorum.before.answering
            if broker not in now.late:
                yield view.judge("KA210", resource, Status.PASS, evidence)
            elif lasting:
                yield view.judge("KA210", resource, Status.FAIL, evidence)
            else:
                yield view.judge("KA210", resource, Status.UNKNOWN, evidence | ONCE)
