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
    says={
        Status.FAIL: "Every client that can connect to ZooKeeper may {may} {open} of {asked} znodes of Kafka: {paths}",
        Status.PASS: "None of {asked} znodes of Kafka is open to every client",
        Status.UNKNOWN: "Cannot determine whether znodes of Kafka are open to every client ({error})",
        Status.NOT_APPLICABLE: "No znodes: {reason}",
    },
)
def znodes_open_to_all(view: ClusterView) -> Iterator[Judgement]:
    """Every client may write znodes that Kafka depends on.

    ## Why it matters
    A client that may write `/controller`, `/brokers/ids` or `/kafka-acl` needs no right in Kafka: one delete removes the
    controller, and one write grants rights, regardless of ACLs. By default Kafka leaves all znodes open to every client that
    reaches port 2181.

    ## Fails when
    `world:anyone` may do more than read one of the checked znodes. Many clusters run this way behind a firewall, which is then
    the only protection.

    ## Not known when
    No ACL was read.

    ## Passes only when
    Each checked znode allows `world:anyone` to read at most.

    ## What to do
    Allow only brokers to connect to ZooKeeper. Closing the znodes requires two rolling restarts of all brokers:

    1. Let every broker log in to ZooKeeper (SASL or TLS), and restart the brokers one at a time. `zookeeper.set.acl` stays
    false.

    2. Only when every broker logs in: set `zookeeper.set.acl=true`, and restart the brokers one at a time again. If you set it
    together with the first step, it locks out every broker that is not restarted yet.

    3. Close the existing znodes. The tool must log in as the brokers do: with SASL set
    `KAFKA_OPTS=-Djava.security.auth.login.config=JAAS_FILE_OF_A_BROKER`, with TLS add `--zk-tls-config-file FILE`. Run
    `zookeeper-security-migration.sh --zookeeper.acl=secure --zookeeper.connect=ZOOKEEPER:2181`.

    Tools that connect to ZooKeeper without a login can no longer write, and can no longer read secrets.

    ## References
    Kafka documentation, "ZooKeeper Authentication"; KIP-38.
    """
    yield from no_ensemble(view, "KA804", ZookeeperNode)
    nodes = {znode.path: znode.anyone for znode in view.newest(ZookeeperNode) if znode.anyone is not None}
    if not nodes:
        if view.newest(ZookeeperNode):
            needs = "a ZooKeeper that reports ACLs to the auditor"
            yield view.judge("KA804", "cluster", Status.UNKNOWN, error="no ACL was read", needs=needs)
        return
    letters = {path: [letter for letter in _CHANGES if letter in anyone] for path, anyone in nodes.items()}
    opened = sorted(path for path, some in letters.items() if some)
    may = listing(dict.fromkeys(_CHANGES[change] for change in _CHANGES if any(change in letters[path] for path in opened)))
    evidence = {
        "asked": len(nodes),
        "open": len(opened),
        "paths": listing(opened, 4),
        "znodes": tuple(opened) or None,
        "may": may or "change",
    }
    yield view.judge("KA804", "cluster", Status.FAIL if opened else Status.PASS, evidence)
