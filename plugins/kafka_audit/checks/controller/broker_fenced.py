"""KA212."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import NO_QUORUM, ONCE
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerApi, BrokerView, FencedBroker
from kafka_audit.model.text import brokers

_CLUSTER_API, _FENCED_FROM = 60, 2


@check(
    code="KA212",
    severity=Severity.HIGH,
    needs=(FencedBroker, BrokerApi, BrokerView),
    says={
        Status.FAIL: "Broker {broker} is fenced by the controllers, as {holders} {tell}: {state}",
        Status.PASS: "None of {known} brokers is fenced, as {holders} {tell}",
        Status.UNKNOWN: "Not known: whether {who} is fenced ({error})",
        Status.NOT_APPLICABLE: "Nobody can be fenced: {reason}",
    },
)
def broker_fenced(view: ClusterView) -> Iterator[Judgement]:
    """A broker is registered with the controllers, and fenced by them.

    ## Why it matters
    A fenced broker leads nothing, follows nothing, and is shown to no client; Metadata does not name it, so nobody misses it who
    does not know that it exists. Its replicas are missing in the ISR of all that they belong to.

    ## Fails when
    Brokers that are not fenced themselves tell in two looks that it is fenced (DescribeCluster, Kafka 4.0 on). MEDIUM where it
    does not answer at all: stopped (KA113 says what that costs), or taken away for good and never unregistered.

    ## Not known when
    No broker offers DescribeCluster version 2, or they do not agree, or this was seen in one look (a broker that starts is
    fenced until it has caught up).

    ## Passes only when
    Brokers told, and nobody is fenced. It does not apply with ZooKeeper.

    ## What to do
    If broker {broker} runs, it sends the controllers no heartbeats: see KA210, then `grep -iE 'heartbeat|registration|fenced'
    server.log | tail` there. If it is stopped, start it. If it is gone for good and holds no replica:
    `kafka-cluster.sh unregister --bootstrap-server <broker>:9092 --id {broker}`.

    ## References
    KIP-631 (fencing), KIP-1073 (fenced brokers in DescribeCluster).
    """
    quorum = view.quorum
    if not view.kraft:
        yield view.judge("KA212", "cluster", Status.NOT_APPLICABLE, reason=NO_QUORUM)
        return
    now, before = quorum.now, quorum.before
    told = _told(view) & now.answering
    if not told:
        error, needs = "no broker offers DescribeCluster version 2", "Kafka 4.0 or later"
        yield view.judge("KA212", "cluster", Status.UNKNOWN, who="any broker", error=error, needs=needs)
        return
    words: dict[str, object] = {
        "known": len(now.answering),
        "holders": brokers(told),
        "tell": "tells" if len(told) == 1 else "tell",
    }
    if not now.fenced:
        yield view.judge("KA212", "cluster", Status.PASS, words)
    for broker in sorted(now.fenced):
        others = told - {broker} - set(now.fenced)
        holders = now.fenced[broker] & others
        words = {"broker": broker, "who": f"broker {broker}", "holders": brokers(holders or now.fenced[broker])}
        words["tell"] = "tells" if len(holders) == 1 else "tell"
        running = broker in now.answering
        words["state"] = "it answers clients, who are not sent there any more" if running else "it does not answer"
        if not holders or len(holders) * 2 <= len(others):
            words |= {"error": "brokers do not agree", "needs": "another audit"}
            yield view.judge("KA212", f"broker/{broker}", Status.UNKNOWN, words)
        elif before is None or not before.fenced.get(broker, frozenset()) & holders:
            yield view.judge("KA212", f"broker/{broker}", Status.UNKNOWN, words | ONCE)
        else:
            found = view.judge("KA212", f"broker/{broker}", Status.FAIL, words)
            yield found if running else replace(found, severity=Severity.MEDIUM)


def _told(view: ClusterView) -> frozenset[int]:
    """Return the brokers that tell who is fenced; who offers it is always asked, so the failed ones are left out."""
    able = {row.broker_id for row in view.of(BrokerApi) if row.api_key == _CLUSTER_API and row.max_version >= _FENCED_FROM}
    failed = {r.observer for r in view.last_reads if (r.operation, r.outcome) == ("DescribeCluster", "failed")}
    return frozenset(one for one in able if f"broker:{one}" not in failed)
