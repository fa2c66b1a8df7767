"""KA908."""

from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import ZookeeperNode
from kafka_audit.model.text import listing

_PATH = "/config"
_KNOWN = frozenset({"topics", "brokers", "clients", "users", "ips", "changes"})


@gate_check(
    code="KA908",
    severity=Severity.MEDIUM,
    says={
        Status.FAIL: "ZooKeeper contains settings that the migration does not copy: {names} under /config",
        Status.PASS: "The migration copies everything under /config",
        Status.UNKNOWN: "Cannot determine whether the migration copies everything under /config ({error})",
        Status.NOT_APPLICABLE: "No migration to prepare: {reason}",
    },
)
def settings_left_behind(view: ClusterView) -> Iterator[Judgement]:
    """`/config` contains a kind of entity that the migration to KRaft does not copy.

    ## Why it matters
    The migration copies settings of topics, brokers, clients, users and addresses. Settings from other tools or from a vendor's
    Kafka stay in ZooKeeper, without a message.

    ## Fails when
    `/config` has a child other than `topics`, `brokers`, `clients`, `users`, `ips` and `changes`.

    ## Not known when
    The children of `/config` could not all be read.

    ## Passes only when
    All of them were read, and are known. The check does not apply in KRaft mode.

    ## What to do
    Find out which tool wrote {names}, and how to configure it without ZooKeeper.

    ## References
    KIP-866; `kafka.zk.migration.ZkConfigMigrationClient`; `kafka.server.ConfigType` (in `org.apache.kafka.server.config` since
    Kafka 3.8).
    """
    if none := tuple(already_migrated(view, "KA908")):
        yield from none
        return
    nodes = {row.path: row.children for row in view.newest(ZookeeperNode)}
    names = {path.removeprefix(f"{_PATH}/") for path in nodes if path.startswith(f"{_PATH}/")}
    direct = {name for name in names if "/" not in name}
    strangers = sorted(direct - _KNOWN)
    if strangers:
        yield view.judge("KA908", "cluster", Status.FAIL, names=listing(strangers, 5), znodes=tuple(strangers))
    elif _PATH not in nodes or len(direct) < nodes[_PATH]:
        evidence = {"error": "the children of /config were not all read", "needs": "read on /config in ZooKeeper"}
        yield view.judge("KA908", "cluster", Status.UNKNOWN, evidence)
    else:
        yield view.judge("KA908", "cluster", Status.PASS)
