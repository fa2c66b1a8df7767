"""KA101."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredPartition, RegisteredTopic, ViewPartition, ViewTopic


@sql_check(
    code="KA101",
    severity=Severity.CRITICAL,
    needs=(RegisteredTopic, RegisteredPartition, BrokerView, ViewTopic, ViewPartition),
    says={
        Status.FAIL: "Clients of broker {broker} are sent to old leaders: it names another leader than {newest} for {count} of "
        "{total} partitions ({partitions}); for the first, {first}, the broker says {said}",
        Status.PASS: "Broker {broker} names the leader {held} for {listed} of {total} partitions, which is all that it lists",
        Status.UNKNOWN: "Not known: whether {who} names old leaders ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def stale_leader() -> str:
    """A broker names a leader that ZooKeeper does not hold, or in KRaft one of an older leader epoch than other brokers hold.

    ## Why it matters
    A client that bootstraps at this broker produces to and fetches from a broker that does not lead any more: errors 6
    NOT_LEADER_OR_FOLLOWER without end, or reads that stand still. Whoever asks another broker sees nothing wrong.

    ## Fails when
    The leader in a broker's own answer to Metadata differs from ZooKeeper's state of the partition, in two looks, and neither
    that state nor the controller nor the list of brokers was written in between. Where Metadata gives leader epochs (v7 and
    later) the broker's is not above ZooKeeper's. A lower epoch with the same leader is harmless.

    In KRaft mode: the leader differs from that of the highest leader epoch that any broker holds, the broker's own epoch is
    lower, and the higher one was there in both looks.

    ## Not known when
    The broker gave no view, its view is empty (KA107), ZooKeeper was not read (KRaft: no other broker gave a view), or the
    difference was seen once or moved.

    ## Passes only when
    The broker answered, and for every partition that it lists the leader is ZooKeeper's (KRaft: that of the highest epoch).

    ## What to do
    The controller cannot update this broker. On the controller's host:
    `grep '(id: {broker} rack.*unsuccessful' controller.log` and `grep CLUSTER_AUTHORIZATION_FAILED state-change.log`.
    KA302 (no way there), KA401 (no right) and KA412 (no login) tell these apart. Repair that cause first.

    Until then keep clients off this broker. `zookeeper-shell.sh <zookeeper.connect> delete /controller` moves the controller, and
    the new one sends everything again; that helps only if it can reach this broker.

    In KRaft mode the broker fetches no metadata any more: `grep -iE 'controller|registration|fenced' server.log | tail` on broker
    {broker}, and `nc -vz <controller> 9093` from its host.

    ## References
    KIP-320 (leader epochs); `kafka.controller.ControllerChannelManager`.
    """
    return """
        SELECT snapshot_id, 'KA101' AS code, resource, coalesce(status, if(topics_error IS NULL, 'PASS', 'UNKNOWN')) AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('who', who, 'broker', name, 'error', coalesce(doubt, topics_error), 'needs',
                   coalesce(doubt_needs, topics_needs), 'count', string(n), 'total', string(partitions), 'listed',
                   string(listed), 'partitions', which, if(holders IS NULL, 'zookeeper', 'newest_epoch'), zookeeper, 'said', said,
                   'listeners', listeners, 'holders', holders,
                   'newest', if(holders IS NULL, 'ZooKeeper', concat('the newest leader epoch, held by ', holders, ',')),
                   'first', concat(if(holders IS NULL, 'ZooKeeper has ', 'that is '), zookeeper),
                   'held', if(holders IS NULL, 'that ZooKeeper holds', 'of the newest epoch that any broker holds')) AS evidence
        FROM observer_matter WHERE matter = 'leader'
    """
