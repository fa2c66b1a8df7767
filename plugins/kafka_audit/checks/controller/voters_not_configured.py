"""KA213."""

import re
from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers, no_quorum
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, BrokerView, QuorumReplica, QuorumView

_KEY = "controller.quorum.voters"
_VOTER = re.compile(r"\s{0,9}(\d{1,10})@\S{1,300}")


@check(
    code="KA213",
    severity=Severity.HIGH,
    needs=(QuorumView, QuorumReplica, BrokerView, BrokerConfig, BrokerProperty),
    says={
        Status.FAIL: "Node {node} names voters {named}, but the quorum has voters {voters}; it loses the quorum when another of "
        "them leads ({source})",
        Status.PASS: "Node {node} names the voters of the quorum ({voters})",
        Status.UNKNOWN: "Cannot determine whether {who} names the voters of the quorum ({error})",
        Status.NOT_APPLICABLE: "No configured voters to compare: {reason}",
    },
)
def voters_not_configured(view: ClusterView) -> Iterator[Judgement]:
    """The configuration of a node names other quorum voters than the quorum has.

    ## Why it matters
    In a static quorum, every node knows the voters from `controller.quorum.voters` alone. A broker cannot follow a leader that
    its configuration does not name; a controller rejects the votes of such a node. The fault shows at the next election or
    restart.

    ## Fails when
    The node ids in `controller.quorum.voters` of a broker or controller differ from the voters that DescribeQuorum reports.

    ## Not known when
    DescribeQuorum was not answered, or the settings of the node were not read. The check does not apply if the voters are in the
    metadata log (kraft.version 1), or if the node finds them by `controller.quorum.bootstrap.servers`.

    ## Passes only when
    Both were read and name the same node ids. The addresses are not compared: KA211 probes those of the cluster file.

    ## What to do
    Set the same `controller.quorum.voters`, with {voters} and their addresses, in server.properties of every broker and every
    controller, and restart node {node}. Restart controllers one at a time, and only if all voters follow (KA209). A voter
    cannot be added to a static quorum by this setting on some nodes only: voters that disagree can elect two leaders.

    ## References
    KIP-595 (static voters), KIP-853 (voters in the metadata log).
    """
    yield from no_quorum(view, "KA213", "a broker")
    now = view.quorum.now
    if now.newest is None:
        return
    if now.is_dynamic:
        reason = "the voters are in the metadata log (kraft.version 1)"
        yield view.judge("KA213", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    voters = sorted(node for node, row in now.replicas.items() if row.voter)
    settings = view.settings
    for node in sorted({*view.inter_broker.brokers, *settings.controllers}):
        resource = f"{'controller' if node in settings.controllers else 'broker'}/{node}"
        found = settings.get(node, _KEY)
        evidence: dict[str, object] = {
            "node": node,
            "who": f"node {node}",
            "voters": tuple(voters),
            "source": found.source,
            "key": _KEY,
        }
        named = sorted(int(match[1]) for part in (found.value or "").split(",") if (match := _VOTER.fullmatch(part)))
        if found.state == "unset":
            reason = f"node {node} has no {_KEY}"
            yield view.judge("KA213", resource, Status.NOT_APPLICABLE, reason=reason)
        elif not named:
            needs = f"DescribeConfigs on Cluster, or server.properties of node {node} (`properties` in the cluster file)"
            yield view.judge("KA213", resource, Status.UNKNOWN, evidence, error=f"{_KEY} is unknown", needs=needs)
        else:
            evidence |= {"named": tuple(named)}
            yield view.judge("KA213", resource, Status.PASS if named == voters else Status.FAIL, evidence)
    yield from no_brokers(view, "KA213")
