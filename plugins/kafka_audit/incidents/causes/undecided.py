"""Views differ and no cause was found: the symptom, each candidate with its evidence, and the data that would decide."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.candidates import candidates
from kafka_audit.incidents.causes.repair import prove
from kafka_audit.incidents.causes.rule import (
    LOST_REPLICAS,
    VIEW,
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    bootstrap_in_vain,
    changed_before,
    evidence_of,
)
from kafka_audit.model.commands import command
from kafka_audit.model.finding import CauseCandidate, Confidence, Step
from kafka_audit.model.text import brokers, clean, fitting, start_upper

_EDGE, _BEHIND = "KA302", "KA603"  # the check that names the candidates, and the symptom that names the incident

LEADING = ("KA105", "KA101", "KA107", "KA102", "KA202", "KA104", "KA106", "KA108", "KA103", _EDGE)
"""Which symptom names the incident when several show: the emptiest view first."""

# The four errors with which a request of the controller fails, in Kafka's words.
_LINES = "was unsuccessful|CLUSTER_AUTHORIZATION_FAILED|Authentication failed|SSL handshake failed"

_SAYS = {
    "KA101": ("names", "name", "stale leaders"),
    "KA102": ("misses", "miss", "leaders that are alive"),
    "KA104": ("denies", "deny", "leadership that others report"),
    "KA106": ("lists", "list", "addresses that are not registered"),
    "KA107": ("does not list", "do not list", "every topic"),
    "KA202": ("reports", "report", "another controller than the others"),
}


def story(case: Case) -> Story:
    """Return the story: which views differ, and that why is not decided."""
    found = candidates(case)
    left = [one for one in found if one.state in {"measured", "possible"}] or [one for one in found if one.state == "rare"]
    leading = min((root.code for root in case.roots), key=LEADING.index)
    follows = leading == _EDGE
    changes = changed_before(case, {"endpoint": "address", "config": "setting", "version": "version", "acl": "ACL"})
    return Story(
        cause=_BEHIND if follows else leading,
        headline=_headline(case, leading, left),
        impact=_stopped(case)
        if follows
        else (
            bootstrap_in_vain(case.brokers)
            if case.brokers and all(b in case.empty for b in case.brokers)
            else f"Clients that ask {_asked(case)} receive other metadata than from the rest of the cluster."
        ),
        confidence=Confidence.SUSPECTED,
        why="The views were read. The facts that distinguish the candidates were not.",
        speaks_for=(
            *evidence_of(case.roots),
            *log_quotes.idle(case, tuple(dict.fromkeys(candidate.code for candidate in left))),
            *changes,
        ),
        candidates=found,
        steps=(
            Step(
                kind="see",
                text=f"See it yourself (reads only): {_log_place(case)}.",
                commands=(command(f"grep -E '{_LINES}' {_logs(case)} | tail -5"),),
            ),
            Step(
                kind="quick",
                text=f"Repair the error in the log; a restart of {_asked(case)} helps only after that.",
            ),
            prove(case),
        ),
    )


def _headline(case: Case, leading: str, left: Sequence[CauseCandidate]) -> str:
    broker_ids, is_one = case.brokers, len(case.brokers or _addresses(case)) == 1
    subject = start_upper(_asked(case))
    if leading == _EDGE:
        subject, is_one = start_upper(brokers(_followers(case))), len(_followers(case)) == 1
    if leading == "KA105" and all(root.evidence.get("empty") is True for root in case.roots if root.code == leading):
        does = "lists no broker" if is_one else "list no broker"
    elif leading == _EDGE:
        does = f"{'does' if is_one else 'do'} not follow {brokers(broker_ids)}"
    elif leading == "KA105":
        does = "does not list every broker" if is_one else "do not list every broker"
    else:
        single, several, rest = _SAYS.get(leading, ("differs", "differ", "from the registry"))
        does = f"{single if is_one else several} {rest}"
    names = [candidate.word for candidate in left]
    choice = " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names) or "no known cause fits"
    if not broker_ids:
        return fitting([*([f"{subject} {does}; its id is unknown"] if is_one else []), f"{subject} {does}"])
    endings = (
        f"cause not decided: {choice}",
        f"not decided: {choice}",
        "cause not decided: see the evidence",
        "cause not decided",
    )
    return fitting([*(f"{subject} {does}; {ending}" for ending in endings), f"{subject} {does}"])


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


def _stopped(case: Case) -> str:
    return f"Replication from {brokers(case.brokers)} to {brokers(_followers(case))} has stopped. No view shows why."


def _logs(case: Case) -> str:
    return "server.log" if case.view.kraft else "controller.log state-change.log server.log"


def _log_place(case: Case) -> str:
    subject = "the brokers" if case.view.kraft or case.view.controller is None else f"broker {case.view.controller}"
    return f"the newest lines of the logs of {subject}"


def cases(case: Case) -> Iterable[Case]:
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


UNDECIDED = Cause(
    codes=VIEW,
    meaning="views differ, and the data that would decide between the candidates was not read",
    cases=cases,
    story=story,
    explains=(Explains(codes=("KA302", "KA303"), where=at_the_broker), LOST_REPLICAS),
)


def undecided_edges(case: Case) -> Iterable[Case]:
    """Take the brokers from which others do not replicate, where nothing decides why."""
    roots = tuple(root for root in case.roots if root.texts("undecided") and not root.muted)
    return (replace(case, roots=roots),) if roots else ()


UNDECIDED_EDGES = Cause(
    codes=(_EDGE,),
    meaning="followers do not replicate from a broker, and the data that would decide between the candidates was not read",
    cases=undecided_edges,
    story=story,
    explains=(LOST_REPLICAS,),
)
