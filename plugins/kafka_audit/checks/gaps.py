"""What a check says once where it cannot judge: registrations, files, brokers, `reach`, the quorum or ZooKeeper are unknown."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from kafka_audit.checks import ClusterView, Judgement, Judgements, Status
from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.faults.serve_edges import ServeEdge
from kafka_audit.model.tables import ZookeeperMember, ZookeeperNode
from kafka_audit.model.text import listing

MOVING = MappingProxyType(
    {"error": "in motion", "needs": "another audit: registrations or listed endpoints changed between samples, or are too new"}
)
"""Evidence of what cannot be judged because it changed between two samples."""

ONCE = MappingProxyType({"error": "in motion: seen in one sample", "needs": "another audit"})
"""Evidence of what the quorum showed in only one sample."""

ONCE_BY_ZOOKEEPER = MappingProxyType({"error": "in motion", "needs": "another audit: this was seen in one sample"})
"""Evidence of what ZooKeeper's servers showed in only one sample."""

NO_LOG_DIRS = MappingProxyType({"error": "it offers no DescribeLogDirs", "needs": "Kafka 1.0 or later"})
"""Evidence about a broker whose log dirs cannot be read."""

NO_ZOOKEEPER = "the cluster runs in KRaft mode, without ZooKeeper"
NO_QUORUM = "the cluster keeps its metadata in ZooKeeper"
NO_REACH = "the cluster file names no `reach`"

_WORST_FIRST = (Status.FAIL, Status.UNKNOWN, Status.PASS, Status.NOT_APPLICABLE)


def no_registrations(view: ClusterView) -> Judgements:
    """Yield the judgement of a check of registrations where there are none (KRaft), or they were not read."""
    gap = view.gap("brokers")
    if view.kraft:
        yield view.not_applicable("cluster", NO_ZOOKEEPER, who="any broker")
    elif gap is not None and gap.whole:
        yield view.unknown("cluster", gap.error, gap.needs, who="any broker")


def no_endpoints(view: ClusterView, endpoints: Collection[AdvertisedEndpoint]) -> Judgements:
    """Yield the judgement of a check of addresses where none is known; `endpoints` are those that are."""
    if not view.kraft:
        yield from no_registrations(view)
    elif not endpoints:
        yield view.unknown("cluster", "no broker listed any address", "a broker that answers Metadata", who="any broker")


def tied(values: Mapping[int, object], parties: int) -> bool:
    """Return whether two values are the commonest, and some of so many parties were not read: what most have is then unknown."""
    first = Counter(values.values()).most_common(2)
    return len(values) < parties and len(first) > 1 and first[0][1] == first[1][1]


def no_files(view: ClusterView) -> Judgements:
    """Yield what a check of server.properties says where there is none, or where one was not read."""
    failed = [read for read in view.last_reads if read.operation == "properties" and read.outcome == "failed"]
    for read in failed:
        name = read.observer.partition(":")[2]
        if name.isdigit() and int(name) in view.controller_nodes:
            continue
        resource = f"broker/{name}" if name.isdigit() else "cluster"
        needs = read.needs or f"a readable server.properties at {read.target}"
        subject = f"broker {name}" if name.isdigit() else "every broker"
        yield view.unknown(resource, read.error or "not read", needs, who=subject)
    if not failed and not view.settings.files:
        error, needs = "no server.properties was read", "`properties` in the cluster file"
        yield view.unknown("cluster", error, needs, who="any broker")


def no_brokers(view: ClusterView) -> Judgements:
    """Yield the judgement of a check of brokers where none is known."""
    if not view.inter_broker.brokers:
        yield view.unknown("cluster", "no broker is known", "ZooKeeper, or a broker that answers", who="any broker")


def nothing_asked(view: ClusterView, reads: BrokerReads) -> Judgements:
    """Yield the judgement of a check of what brokers were asked where none was asked anything."""
    if not reads.brokers:
        error, needs = "no broker was read", "a ZooKeeper that answers, or bootstrap addresses of brokers that answer"
        yield view.unknown("cluster", error, needs, who="any broker")


def no_reach(view: ClusterView, edges: Collection[ServeEdge]) -> Judgements:
    """Yield the judgement of a check of `reach` where there is nothing to judge: nothing was probed, or no mapping used."""
    if not edges:
        error, needs = "nothing was probed", "an endpoint from ZooKeeper or from a bootstrap address"
        yield view.unknown("cluster", error, needs, who="any endpoint")
    elif not any(edge.via for edge in edges):
        yield view.not_applicable("cluster", NO_REACH, who="any endpoint")


def no_quorum(view: ClusterView, subject: str) -> Judgements:
    """Yield the judgement of a check of the quorum where there is none, or its leader is unknown."""
    if not view.kraft:
        yield view.not_applicable("cluster", NO_QUORUM, who=subject)
    elif view.quorum.now.newest is None:
        error, needs = view.quorum.unread()
        yield view.unknown("cluster", error, needs, who=subject)


def controllers_unread(view: ClusterView, key: str, nodes: Collection[int]) -> Judgement:
    """Return the judgement of a check of controllers whose setting is unknown; no node: none is known."""
    who = f"{'controllers' if len(nodes) > 1 else 'controller'} {listing(map(str, nodes))}" if nodes else "any controller"
    needs = "`controllers` in the cluster file, or their server.properties (`properties` there)"
    return view.unknown("cluster", f"{key} is unknown", needs, who=who)


def controller_logs(view: ClusterView, failing: Collection[int]) -> Judgements:
    """Yield what a check of controllers' logs says of those that show no fault, or of which none was read."""
    nodes = view.controller_nodes | view.settings.combined
    reads = {node: log_reads[-1] for node, log_reads in view.reads.of_logs.items() if node in nodes}
    if not reads:
        yield from () if failing else (view.not_applicable("cluster", "the cluster file names no `logs` of controllers"),)
    for node, read in sorted(reads.items()):
        evidence = {"node": node, "who": f"controller {node}"}
        if node in failing:
            continue
        if read.outcome == "failed":
            needs = read.needs or f"the log of controller {node}"
            yield view.unknown(f"controller/{node}", read.error or "not read", needs, evidence)
        else:
            yield view.judge(f"controller/{node}", Status.PASS, evidence)


def no_ensemble(view: ClusterView, table: type[ZookeeperMember | ZookeeperNode]) -> Judgements:
    """Yield the judgement of a check of ZooKeeper itself where there is none, or nothing of it was read."""
    if view.kraft:
        yield view.not_applicable("cluster", NO_ZOOKEEPER)
    elif not view.newest(table):
        yield view.unknown("cluster", "ZooKeeper reported no data about itself", "a ZooKeeper that answers")


def worst_each(judgements: Iterable[Judgement]) -> Judgements:
    """Yield the worst judgement of each resource: a listener without a name may have several addresses."""
    worst: dict[str, Judgement] = {}
    for judgement in judgements:
        kept = worst.get(judgement.resource)
        if kept is None or _WORST_FIRST.index(judgement.status) < _WORST_FIRST.index(kept.status):
            worst[judgement.resource] = judgement
    yield from worst.values()
