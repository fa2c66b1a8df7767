from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check, log_quotes
from kafka_audit.checks.controller.quorum_incidents import needs_a_controller
from kafka_audit.checks.gaps import controllers_unread
from kafka_audit.checks.incident import Case, StoryFacts
from kafka_audit.cluster.features import KRAFT_VERSION, METADATA_VERSION
from kafka_audit.compare.addresses import address_text
from kafka_audit.model.addresses.voters import SERVERS, VOTERS
from kafka_audit.model.finding import Finding

_DYNAMIC = "the voters are in the metadata log (kraft.version 1)"


@check(code="KA223", severity=Severity.HIGH, mode="kraft")
def voters_line_missing(view: ClusterView) -> Judgements:
    """A controller of a static quorum names no voters, only bootstrap servers."""
    level = _level(view)
    if view.quorum.now.is_dynamic or level:
        yield view.not_applicable("cluster", _DYNAMIC)
        return
    settings = view.settings
    voters = {node: settings.get(node, VOTERS) for node in sorted(settings.with_controller_role | {*view.quorum.now.voters})}
    left = sum(setting.value is not None for setting in voters.values())
    unread = [node for node, setting in voters.items() if not (setting.known and settings.get(node, SERVERS).known)]
    for node, setting in voters.items():
        evidence: dict[str, object] = {"node": node, "who": f"controller {node}", "left": left}
        resource, servers = view.party(node).replace(" ", "/"), settings.get(node, SERVERS)
        if node in unread:
            continue
        if setting.value is not None or servers.value is None:
            yield view.judge(resource, Status.PASS, evidence)
        elif level is None:
            error, needs = "the finalized kraft.version is unknown", "an answer of a broker to ApiVersions"
            yield view.unknown(resource, error, needs, evidence)
        else:
            severity = Severity.HIGH if left or unread else Severity.CRITICAL
            yield view.judge(resource, Status.FAIL, evidence, severity=severity, source=servers.source)
    if unread or not voters:
        yield controllers_unread(view, VOTERS, unread)


def _level(view: ClusterView) -> int | None:
    """Return the finalized kraft.version, which no broker reports while it is 0; None where it is unknown."""
    found, metadata = view.features.get(KRAFT_VERSION), view.features.get(METADATA_VERSION)
    if found is not None and found.finalized is not None:
        return found.finalized
    return None if metadata is None or metadata.finalized is None else 0


def without_candidate(case: Case, symptom: Finding) -> bool:
    """Explain, where the quorum has no leader, what that leads to."""
    return _no_leader(case) and needs_a_controller(case, symptom)


def _no_leader(case: Case) -> bool:
    return any(finding.code == "KA201" and finding.status is Status.FAIL for finding in case.findings)


def of_these_controllers(case: Case, symptom: Finding) -> bool:
    """Explain that one of them exited, does not follow, or does not answer."""
    nodes = {root.number("node") for root in case.roots}
    if symptom.resource.controller is not None:
        known = case.view.voter_addresses
        return symptom.resource.controller in {address_text(*known[node]) for node in nodes & known.keys()}
    named = {*symptom.numbers("controllers"), symptom.number("node")} - {0}
    return bool(named) and named <= nodes


def controllers_without_line(case: Case) -> StoryFacts:
    """Return which controllers it is about, and whether the quorum has a leader."""
    settings = case.view.settings
    named = {line for node in settings.brokers | settings.controllers if (line := settings.get(node, VOTERS).value)}
    facts = {
        "nodes": tuple(str(root.number("node")) for root in case.roots),
        "without_leader": _no_leader(case),
        "line": min(named, default="ID@HOST:9093,…"),
    }
    return StoryFacts(facts=facts, also=log_quotes.of_nodes(case, "KA221"))
