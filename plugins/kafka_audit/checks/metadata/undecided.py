"""Views differ and no cause was found: the symptom, each candidate with its evidence, and the data that would decide."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from kafka_audit.checks import log_quotes
from kafka_audit.checks.candidates import candidates_of, edges_of
from kafka_audit.checks.incident import Case, StoryFacts, evidence_of, evidence_of_edges
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.fault import known_faults
from kafka_audit.faults.serve_edges import ServeEdge
from kafka_audit.model.finding import Confidence
from kafka_audit.model.text import brokers, clean

_EDGE, _BEHIND = "KA302", "KA603"  # the check that names the candidates, and the symptom that names the incident

LEADING = ("KA105", "KA101", "KA107", "KA102", "KA202", "KA104", "KA106", "KA108", "KA103", _EDGE)
"""Which symptom names the incident when several show: the emptiest view first."""


def differing_views(case: Case) -> StoryFacts:
    """Return the facts: which views differ, and that why is not decided."""
    edges = edges_of(case)
    found = candidates_of(edges)
    left = [candidate for candidate in found if candidate.state in {"measured", "possible"}] or [
        candidate for candidate in found if candidate.state == "rare"
    ]
    nodes = {*case.brokers, *(() if case.view.controller is None else (case.view.controller,))}
    leading = min((root.code for root in case.roots), key=LEADING.index)
    follows = leading == _EDGE
    of_leading = [root for root in case.roots if root.code == leading]
    words, followers = [candidate.word for candidate in left], _followers(case)
    facts: dict[str, object] = {
        leading: True,
        "follows": follows,
        "waits": not {fault.kind for fault in known_faults() if fault.in_progress}.isdisjoint(one.cause for one in left),
        "followers": followers,
        "asked": _asked(case),
        "parties": len(followers if follows else case.brokers or _addresses(case)),
        "lists_none": leading == "KA105" and all(root.evidence.get("empty") is True for root in of_leading),
        "one_address": not case.brokers and len(_addresses(case)) == 1,
        "all_empty": bool(case.brokers) and case.empty.issuperset(case.brokers),
        "choice": " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "no known fault fits",
        "fits": bool(left),
        "unread": () if left else _unread(case, nodes),
    }
    return StoryFacts(
        facts=facts,
        cause=_BEHIND if follows else leading,
        evidence=(
            *evidence_of(case.roots),
            *evidence_of_edges(_failed_probes(case)),
            *(() if left else log_quotes.of_other_faults(case, nodes, {candidate.code for candidate in found})),
            *log_quotes.idle(case, tuple(dict.fromkeys(candidate.code for candidate in left))),
        ),
        confidence=Confidence.SUSPECTED,
        edges=edges,
    )


def _failed_probes(case: Case) -> list[ServeEdge]:
    """Return what failed, in the newest sample, on the way from other brokers' hosts to the case's brokers."""
    edges = (edge for edge in case.edges.every if edge.source is not None and edge.endpoint.broker_id in case.brokers)
    return [edge for edge in edges if edge.failed_at is not None]


def _unread(case: Case, nodes: Collection[int]) -> list[str]:
    """Return the two inputs that would say most of a fault that is not known, of those that were not read."""
    facts, controller = facts_of(case.view), case.view.controller
    silent = [node for node in sorted(nodes) if not facts.log_was_read(node)]
    probed = {edge.source for edge in case.edges.every if edge.endpoint.broker_id in case.brokers}
    hidden = [broker for broker in case.brokers if broker not in facts.between.settings.brokers]
    needed = [
        f"the {'log' if len(silent) == 1 else 'logs'} of {brokers(silent)}" if silent else "",
        f"a probe from the host of controller {controller}" if controller is not None and controller not in probed else "",
        f"the settings of {brokers(hidden)}" if hidden else "",
    ]
    return [text for text in needed if text][:2]


def _addresses(case: Case) -> list[str]:
    """Return the addresses at which brokers answered whose id was not read."""
    return sorted({root.resource.address for root in case.roots if root.resource.address is not None})


def _asked(case: Case) -> str:
    if case.brokers:
        return brokers(case.brokers)
    addresses = _addresses(case)
    return f"the broker at {clean(addresses[0])}" if len(addresses) == 1 else f"brokers at {len(addresses)} addresses"


def _followers(case: Case) -> list[int]:
    return sorted({source for root in case.roots for source in root.numbers("from")})


def by_emptiness(case: Case) -> Iterable[Case]:
    """Split unexplained views: an empty view and a stale view can have different causes, and so has what is of unknown id.

    KA103 alone has its own remedy (the listener is missing at the leader) and is reported by its code.
    """
    views = tuple(root for root in case.roots if not root.muted)
    if all(root.code == "KA103" for root in views):
        return
    known = [root for root in views if root.resource.broker is not None]
    empty = tuple(root for root in known if root.resource.broker in case.empty)
    stale = tuple(root for root in known if root.resource.broker not in case.empty)
    unknown = tuple(root for root in views if root.resource.broker is None)
    for roots in filter(None, (empty, stale, unknown)):
        yield replace(case, roots=roots)


def undecided_edges(case: Case) -> Iterable[Case]:
    """Take the brokers from which others do not replicate, where nothing decides why."""
    roots = tuple(root for root in case.roots if root.texts("undecided") and not root.muted)
    return (replace(case, roots=roots),) if roots else ()
