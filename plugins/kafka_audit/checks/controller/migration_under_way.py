"""KA909."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerApi, BrokerConfig, Migration, QuorumView
from kafka_audit.model.text import brokers, start_upper

_ENABLE, _QUORUM_API = "zookeeper.metadata.migration.enable", 55


@check(
    code="KA909",
    severity=Severity.INFO,
    needs=(Migration, BrokerApi, BrokerConfig, QuorumView),
    says={
        Status.FAIL: "A migration from ZooKeeper to KRaft has begun, phase {phase}: {state}",
        Status.PASS: "ZooKeeper holds no trace of a migration to KRaft",
        Status.UNKNOWN: "Not known: whether a migration to KRaft has begun ({error})",
        Status.NOT_APPLICABLE: "No migration from ZooKeeper to look for: {reason}",
    },
)
def migration_under_way(view: ClusterView) -> Iterator[Judgement]:
    """A migration from ZooKeeper to KRaft has begun, and this is how far it is.

    ## Why it matters
    While it lasts two kinds of brokers and two places of metadata are right at once, and what is normal then would be a fault
    else: a controller in ZooKeeper that is no broker, brokers that ZooKeeper does not know. Left half done it is the worst of
    both: the way back is open only until the last phase, and a restart in the wrong mode loses a broker.

    ## Fails when
    `/migration` is there, or `/controller` carries a `kraftControllerEpoch`. It is told, never alerted. Phases: `prepared` (KRaft
    controllers wait for the brokers), `dual write` (a KRaft controller has taken over), `brokers change` (some run without
    ZooKeeper), `not finalised` (all do, controllers still write to ZooKeeper; `brokers changed` where nobody told of the quorum),
    `finished` (the leader of the quorum has a later epoch than the claim in `/controller`).

    ## Not known when
    `/controller` and `/migration` could not be read.

    ## Passes only when
    They were read, and there is no trace. It does not apply where the cluster file names no ZooKeeper.

    ## What to do
    Phase `{phase}`: go on as Kafka's documentation has it, a broker at a time with an audit after each, and do not change topics
    meanwhile. When it is finished take `zookeeper` out of the cluster file, then ZooKeeper out of service.

    ## References
    KIP-866; Kafka 3.9 documentation, "ZooKeeper to KRaft Migration". `kafka.zk.MigrationZNode`.
    """
    rows = view.newest(Migration)
    reads = [read for read in view.last_reads if read.operation == "zookeeper /controller"]
    if rows:
        phase, state = _phase(view, rows[0])
        yield view.judge("KA909", "cluster", Status.FAIL, phase=phase, state=state)
    elif not reads:
        yield view.judge("KA909", "cluster", Status.NOT_APPLICABLE, reason="the cluster file names no ZooKeeper")
    elif reads[0].outcome == "failed":
        words = {"error": f"/controller was not read: {reads[0].error}", "needs": reads[0].needs or "a ZooKeeper that answers"}
        yield view.judge("KA909", "cluster", Status.UNKNOWN, words)
    else:
        yield view.judge("KA909", "cluster", Status.PASS)


def _phase(view: ClusterView, row: Migration) -> tuple[str, str]:
    asked = {api.broker_id for api in view.of(BrokerApi) if api.broker_id >= 0}
    without = {api.broker_id for api in view.of(BrokerApi) if api.api_key == _QUORUM_API and api.broker_id >= 0}
    ready = {one.broker_id for one in view.of(BrokerConfig) if (one.key, one.value) == (_ENABLE, "true")} - without
    claim, epoch = row.kraft_controller_id, row.kraft_controller_epoch
    leader = view.quorum.now.newest
    if claim is None:
        who = f"{brokers(ready)} {'is' if len(ready) == 1 else 'are'} prepared" if ready else "no broker is prepared"
        return "prepared", f"KRaft controllers were started beside ZooKeeper and have not taken over; {who}"
    if not without:
        return (
            "dual write",
            f"KRaft controller {claim} has taken over and writes to ZooKeeper as well; every broker still uses it",
        )
    running = f"{start_upper(brokers(without))} {'runs' if len(without) == 1 else 'run'} without ZooKeeper"
    if asked - without:
        left = asked - without
        return "brokers change", f"{running}, {brokers(left)} still {'uses' if len(left) == 1 else 'use'} it"
    if leader is not None and epoch is not None and (leader.leader_epoch or 0) > epoch:
        return "finished", f"{running}, and the leader of the quorum (epoch {leader.leader_epoch}) writes to ZooKeeper no more"
    if leader is None:
        return "brokers changed", f"{running}; whether controllers still write to ZooKeeper is not known without DescribeQuorum"
    return "not finalised", f"{running}, and controller {claim} still writes to ZooKeeper"
