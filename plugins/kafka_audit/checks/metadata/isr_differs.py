"""KA108."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredPartition, RegisteredTopic


@sql_check(
    code="KA108",
    severity=Severity.MEDIUM,
    needs=(RegisteredTopic, RegisteredPartition, BrokerView),
    says={
        Status.FAIL: "Broker {broker} shows another ISR for {count} of {total} partitions ({partitions}): {held} has {zookeeper},"
        " the broker says {said}",
        Status.PASS: "Broker {broker} shows the ISR that {held} has, as far as its leaders and epochs are the same",
        Status.UNKNOWN: "Not known: whether {who} shows the right ISR ({error})",
        Status.NOT_APPLICABLE: "No ISR to compare with: {reason}",
    },
)
def isr_differs() -> str:
    """A broker shows another ISR than the one in force.

    ## Why it matters
    Clients are not misled by it, they follow the leader. But tools and alerts that ask this broker count replicas as in sync that
    are not, or the reverse; and whatever keeps the ISR from it keeps the next leader from it, too.

    ## Fails when
    Leader and leader epoch of a broker's answer are those of ZooKeeper's `state` (KRaft: of the newest view) and the ISR is
    another, in two looks, unchanged in between. Another leader is KA101.

    ## Not known when
    The broker gave no view, topics were not read, or the difference was seen once: the controller tells changes of the ISR some
    seconds late.

    ## Passes only when
    The broker's view lists partitions, and no ISR differs.

    ## What to do
    `grep -E 'isr_change|AlterPartition' controller.log state-change.log`: does the controller hear of changes, and tell broker
    {broker}? A broker that lags in this way for long is restarted, or the controller moved, as for KA101.

    ## References
    KIP-497 (AlterPartition); before it, `/isr_change_notification` in ZooKeeper.
    """
    return """
        SELECT snapshot_id, 'KA108' AS code, resource,
               coalesce(status, if(topics_error IS NULL, 'PASS', 'UNKNOWN')) AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('who', who, 'broker', name, 'error', coalesce(doubt, topics_error), 'needs', coalesce(doubt_needs,
                   topics_needs),
                   'count', string(n), 'total', string(partitions), 'partitions', which, 'zookeeper', zookeeper, 'said', said,
                   'held', if(holders IS NULL, 'ZooKeeper', concat('the newest view, of ', holders))) AS evidence
        FROM observer_matter WHERE matter = 'isr'
    """
