from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_quorum
from kafka_audit.cluster.settings import Settings
from kafka_audit.cluster.voters import ANY_ADDRESS
from kafka_audit.compare.addresses import HostPort, address_text, same_address
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, controller_entry
from kafka_audit.model.addresses.voters import SERVERS, addresses_clash, quorum_addresses, servers_named
from kafka_audit.model.text import listing


@check(code="KA219", severity=Severity.MEDIUM)
def voter_address_differs(view: ClusterView) -> Judgements:
    """The metadata log has another address for a voter than its own file, or a node finds the quorum at no voter."""
    yield from no_quorum(view, "a node")
    now = view.quorum.now
    if now.newest is None:
        return
    if not now.is_dynamic:
        yield view.not_applicable("cluster", "the voters are set in controller.quorum.voters (KA213)")
        return
    settings = view.settings
    voters = quorum_addresses(now.addresses, settings.of_controllers)
    if not voters:
        error, needs = "the leader reports no addresses", "DescribeQuorum version 2 (Kafka 3.9)"
        yield view.unknown("cluster", error, needs, who="a node")
        return
    for node in sorted({*view.inter_broker.brokers, *settings.controllers, *voters}):
        resource = f"{'broker' if node in view.inter_broker.brokers else 'controller'}/{node}"
        evidence: dict[str, object] = {"node": node, "who": f"node {node}"}
        fault = _own(settings, node, voters) or _servers(settings, node, voters)
        known = settings.get(node, CONTROLLERS).known and settings.get(node, SERVERS).known
        if fault is not None:
            yield view.judge(resource, Status.FAIL, evidence, fault=fault)
        elif known:
            yield view.judge(resource, Status.PASS, evidence)
        else:
            needs = f"DescribeConfigs on Cluster, or server.properties of node {node} (`properties` in the cluster file)"
            yield view.unknown(resource, "its settings are unknown", needs, evidence)


def _own(settings: Settings, node: int, voters: Mapping[int, HostPort]) -> str | None:
    """Return how the address of a voter differs from what its own settings say, as far as they say it."""
    entry = controller_entry({key: settings.get(node, key).value for key in (CONTROLLERS, KEY, INSTEAD)})
    if node not in voters or entry is None or entry.port is None:
        return None
    # Without a host it advertises the name of its machine, which only that machine knows; all addresses are none to connect to.
    host = None if entry.host in ANY_ADDRESS else entry.host
    if same_address(voters[node], (voters[node][0] if host is None else host or "", entry.port)):
        return None
    return f"the quorum has {address_text(*voters[node])} for it, its own file {address_text(host or '', entry.port)}"


def _servers(settings: Settings, node: int, voters: Mapping[int, HostPort]) -> str | None:
    """Return that no address at which a node looks for the quorum can be a voter's."""
    servers = servers_named(settings.get(node, SERVERS).value)
    if not servers or any(not addresses_clash(server, voter) for server in servers for voter in voters.values()):
        return None
    there = listing((address_text(*voter) for voter in voters.values()), 3)
    return f"{SERVERS} has {listing((address_text(*server) for server in servers), 3)}, the voters are at {there}"
