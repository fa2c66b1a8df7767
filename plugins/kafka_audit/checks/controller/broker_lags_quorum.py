"""KA210."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.cluster.quorum import seconds
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.facts import facts_of
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA210",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Broker {broker} no longer follows the metadata log: {why}",
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
    The broker returns a view, and in two samples the quorum leader has not seen it caught up with the metadata log for 10 s. Or
    the broker fetches the log and does not apply it: in the second sample the offset up to which it has applied it
    (`finalized_features_epoch` in its answer to ApiVersions 3) is behind the high watermark of the first.

    ## Not known when
    DescribeQuorum was denied or not answered, or its version reports no timestamps (before Kafka 3.3). Or the leader does not
    know the broker (it forgets an observer after five minutes), or one sample only shows it.

    ## Passes only when
    The leader lists the broker as an observer or voter, and the broker is caught up. With two samples, it has also applied what
    it fetched. KA113 and KA001 report a broker that does not answer.

    ## What to do
    Open the connection from broker {broker} to the controllers: run `nc -vz CONTROLLER 9093` on its host, then read the end
    of server.log (`grep -iE 'controller|Authentication failed|handshake|fenced' server.log | tail`). The broker catches up
    without a restart. Until then remove it from the clients' bootstrap addresses.

    If the broker fetches the log and does not apply it, the connection is not the reason: run `grep 'Encountered metadata'
    server.log | tail` there, and restart the broker.

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
            evidence |= {"behind": seconds(now.behind_ms[broker]), "offsets": offsets, "applied": quorum.unapplied.get(broker)}
            if fetched.state == "works" and broker in quorum.unapplied:
                why = f"it fetches it, and applies nothing after offset {quorum.unapplied[broker]} of {now.newest.high_watermark}"
                yield view.judge("KA210", resource, Status.FAIL, evidence, why=why)
            elif fetched.state == "works":
                yield view.judge("KA210", resource, Status.PASS, evidence)
            elif fetched.state == "missing" and quorum.before is not None and broker in quorum.before.answering:
                why = f"leader {now.newest.leader_id} saw it caught up {evidence['behind']}, {offsets}"
                yield view.judge("KA210", resource, Status.FAIL, evidence, why=why)
            else:
                yield view.judge("KA210", resource, Status.UNKNOWN, evidence | ONCE)
