from collections import defaultdict
from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers, no_quorum
from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.voters import other_listener, usual_voters
from kafka_audit.compare.addresses import HostPort, address_text, canonical_address
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.model.addresses.voters import VOTERS, addresses_clash, named_voters, quorum_addresses, usual_addresses
from kafka_audit.model.quorum import majority
from kafka_audit.model.text import listing

_KEY = VOTERS
_LOSES, _NOT_FOUND = "it loses the quorum when another of them leads", "no other node finds it there"
_ONE_ANSWERS = "only one of them answers there"
_STARTS, _COUNTS = "it finds the leader only while one of these answers", "it counts only the votes of these"
_TWO_LEADERS = "both it and another voter may be elected at the same time"


@check(code="KA213", severity=Severity.HIGH, by_files=True)
def voters_not_configured(view: ClusterView) -> Judgements:
    """The configuration of a node names other quorum voters than the quorum has."""
    if apart := [*_not_compared(view)]:
        yield from apart
        return
    now, asked = view.quorum.now, view.inter_broker.asked
    settings = view.settings
    nodes = sorted({*view.inter_broker.brokers, *settings.controllers})
    named_by = {node: named_voters(settings.get(node, _KEY).value) for node in nodes}
    leads = -1 if now.newest is None else now.newest.leader_id
    reported = {} if named_by.get(leads) else quorum_addresses(now.addresses, settings.of_controllers)
    usual = usual_addresses([*named_by.values(), reported])
    voters = [*(now.voters or usual_voters(named_by.values()))]
    right = "the quorum has" if asked else "most files name"
    single = not asked and sum(bool(named) for named in named_by.values()) == 1
    for node in nodes:
        resource = settings.resource(node)
        found = settings.get(node, _KEY)
        evidence: dict[str, object] = {
            "node": node,
            "who": f"node {node}",
            "voters": tuple(voters),
            "source": found.source,
            "key": _KEY,
            "effect": _LOSES,
        }
        named = sorted(named_by[node])
        late = node in now.late or not asked
        listens = other_listener(settings, node, named_by[node][node]) if node in named and late else None
        wrong = _of_address(node, named_by[node], usual, listens)
        if found.state == "unset":
            yield view.not_applicable(resource, f"node {node} has no {_KEY}")
        elif not named:
            needs = f"DescribeConfigs on Cluster, or server.properties of node {node} (`properties` in the cluster file)"
            yield view.unknown(resource, f"{_KEY} is unknown", needs, evidence)
        elif named != voters:
            fault = f"voters {listing(map(str, named))}, but {right} voters {listing(map(str, voters))}"
            severity, effect = _consequence(view, node, {*named}, {*voters})
            evidence |= {"named": tuple(named), "fault": fault, "effect": effect}
            yield view.judge(resource, Status.FAIL, evidence, severity=severity)
        elif wrong is not None:
            yield view.judge(resource, Status.FAIL, evidence | {"named": tuple(named), **wrong[1]}, severity=wrong[0])
        elif single:
            yield view.not_applicable(resource, "no other file names voters")
        else:
            yield view.judge(resource, Status.PASS, evidence | {"named": tuple(named)})
    if not nodes:
        yield from no_brokers(view)


def _of_address(
    node: int, named: Mapping[int, HostPort], usual: Mapping[int, HostPort], listens: str | None
) -> tuple[Severity | None, dict[str, object]] | None:
    """Return what is wrong with an address of a voter, as evidence; None where nothing is."""
    if listens:
        return None, {"fault": f"itself at {address_text(*named[node])}, but listens on {listens}", "effect": _NOT_FOUND}
    if shared := _at_one_address(named):
        fault = f"voters {listing(map(str, shared))} at one address, {address_text(*named[shared[0]])}"
        return None, {"fault": fault, "effect": _ONE_ANSWERS}
    others = [voter for voter in sorted(named) if voter in usual and addresses_clash(named[voter], usual[voter])]
    if not others:
        return None
    here, there = (address_text(*place[others[0]]) for place in (named, usual))
    fault = f"voter {others[0]} at {here}, but most nodes name {there}"
    return Severity.MEDIUM, {"fault": fault, "elsewhere": tuple(others)}


def _at_one_address(named: Mapping[int, HostPort]) -> list[int]:
    """Return the first voters that have one address."""
    by_address: defaultdict[HostPort, list[int]] = defaultdict(list)
    for voter, address in sorted(named.items()):
        by_address[canonical_address(*address)].append(voter)
    return next((voters for voters in by_address.values() if len(voters) > 1), [])


def _consequence(view: ClusterView, node: int, named: set[int], voters: set[int]) -> tuple[Severity, str]:
    """Return how much it matters that a node names other voters than the quorum has, in the oldest release that is known."""
    known = [found[0] for party in {node, *view.inter_broker.brokers} if (found := minor_releases(view, party)) is not None]
    if not known or not behaviour("voters_report_leader").holds(min(known)):
        return Severity.HIGH, _LOSES
    if node not in named:
        return Severity.MEDIUM, _STARTS
    # Each voter has one vote: are there enough for the node by its own count, and for another leader by that of the quorum?
    of_quorum = max(0, majority(len(named)) - len(named - voters))
    apart = len(voters) - of_quorum >= majority(len(voters))
    return (Severity.HIGH, _TWO_LEADERS) if apart else (Severity.MEDIUM, _COUNTS)


def _not_compared(view: ClusterView) -> Judgements:
    """Yield why there is no quorum to compare with: the files alone are compared with each other."""
    if view.inter_broker.asked or not view.kraft:
        yield from no_quorum(view, "a broker")
    if view.quorum.now.is_dynamic:
        yield view.not_applicable("cluster", "the voters are in the metadata log (kraft.version 1)")
