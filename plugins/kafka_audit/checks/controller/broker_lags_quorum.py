"""KA210."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.cluster.quorum import seconds
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.facts import facts_of
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
        fetched = facts_of(view).edges.fetched(broker)
        evidence = {"broker": broker, "who": f"broker {broker}", "leader": now.newest.leader_id}
        resource = f"broker/{broker}"
        if broker not in answering:
            yield view.judge("KA210", resource, Status.NOT_APPLICABLE, evidence, reason="it returns no view")
        elif fetched.state == "unknown":
            yield view.judge("KA210", resource, Status.UNKNOWN, evidence, error=fetched.error, needs=fetched.needs)
        else:
            offsets = f"at offset {now.replicas[broker].log_end_offset} of {now.newest.high_watermark}"
            evidence |= {"behind": seconds(now.behind_ms[broker]), "offsets": offsets}
            if fetched.state == "works":
                yield view.judge("KA210", resource, Status.PASS, evidence)
            elif fetched.state == "missing" and quorum.before is not None and broker in quorum.before.answering:
                yield view.judge("KA210", resource, Status.FAIL, evidence)
            else:
                yield view.judge("KA210", resource, Status.UNKNOWN, evidence | ONCE)
