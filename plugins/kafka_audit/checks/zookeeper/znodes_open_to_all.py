"""KA804."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_ensemble
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import ZookeeperNode
from kafka_audit.model.text import listing

_CHANGES = {"c": "create below", "w": "write", "d": "delete below", "a": "change the rights of"}


@check(
    code="KA804",
    severity=Severity.MEDIUM,
    needs=(ZookeeperNode,),
    says={
        Status.FAIL: "Whoever reaches ZooKeeper may {may} {open} of {asked} znodes that Kafka stands on: {paths}",
        Status.PASS: "None of {asked} znodes that Kafka stands on is open to all",
        Status.UNKNOWN: "Cannot determine whether znodes of Kafka are open to all ({error})",
        Status.NOT_APPLICABLE: "There are no znodes: {reason}",
    },
)
def znodes_open_to_all(view: ClusterView) -> Iterator[Judgement]:
    """Anyone may write znodes that the cluster stands on.

    ## Why it matters
    Who may write `/controller`, `/brokers/ids` or `/kafka-acl` needs no right in Kafka: a controller is deposed by one delete,
    rights are given by one write, past every ACL. Kafka's default leaves all znodes open to whoever reaches port 2181.

    ## Fails when
    `world:anyone` may do more than read one of the znodes that were asked for their ACL. Most clusters run like that, behind a
    firewall that is then the only guard.

    ## Not known when
    No ACL was told.

    ## Passes only when
    Each znode that was asked allows the world to read at most.

    ## What to do
    Let only brokers reach ZooKeeper. To close the znodes takes two rolling restarts of all brokers:

    1. Let every broker log in to ZooKeeper (SASL or TLS), and restart them one by one. `zookeeper.set.acl` stays false.
    2. Only when every broker logs in: set `zookeeper.set.acl=true`, and restart them one by one again. Set together with the
       first
       step, it locks out every broker that is not restarted yet.
    3. Close what is there: `zookeeper-security-migration.sh --zookeeper.acl=secure --zookeeper.connect=<zookeeper>:2181`.

    Tools that talk to ZooKeeper without a login can no longer write, and no longer read what is secret.

    ## References
    Kafka documentation, "ZooKeeper Authentication"; KIP-38.
    """
    yield from no_ensemble(view, "KA804", ZookeeperNode)
    nodes = {one.path: one.anyone for one in view.newest(ZookeeperNode) if one.anyone is not None}
    if not nodes:
        if view.newest(ZookeeperNode):
            needs = "a ZooKeeper that tells ACLs to the auditor"
            yield view.judge("KA804", "cluster", Status.UNKNOWN, error="no ACL was told", needs=needs)
        return
    letters = {path: [letter for letter in _CHANGES if letter in anyone] for path, anyone in nodes.items()}
    opened = sorted(path for path, some in letters.items() if some)
    may = listing(dict.fromkeys(_CHANGES[one] for one in _CHANGES if any(one in letters[path] for path in opened)))
    told = {"asked": len(nodes), "open": len(opened), "paths": listing(opened, 4), "may": may or "change"}
    yield view.judge("KA804", "cluster", Status.FAIL if opened else Status.PASS, told)
