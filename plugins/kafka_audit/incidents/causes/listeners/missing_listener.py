"""KA103: the leader of partitions lacks the listener on which clients ask for them."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.compare.addresses import address_text
from kafka_audit.incidents.causes.rule import Case, Cause, Explains, Story, evidence_of
from kafka_audit.incidents.causes.told import told
from kafka_audit.model.finding import Finding


def cases(case: Case) -> Iterable[Case]:
    """Split by the leaders that lack it: each is one fault, whichever brokers were asked."""
    groups: dict[tuple[int, ...], list[Finding]] = defaultdict(list)
    for root in case.roots:
        groups[root.numbers("leaders")].append(root)
    return tuple(replace(case, roots=tuple(roots)) for roots in groups.values())


def _leaders(case: Case) -> tuple[int, ...]:
    """Return the brokers that lack it; none where nothing names them."""
    return case.roots[0].numbers("leaders")


def _listeners(case: Case) -> tuple[str, ...]:
    return tuple(sorted({listener for root in case.roots for listener in root.texts("listeners")}))


def missing_there(case: Case, symptom: Finding) -> bool:
    """Explain that a leader has not the listeners of the others."""
    return symptom.resource.broker in _leaders(case) and symptom.text("listener") in _listeners(case)


def at_their_former_address(case: Case, symptom: Finding) -> bool:
    """Explain an address of the cluster file at which a leader listened in the previous snapshot."""
    held = (row for row in case.view.addresses_earlier if row.broker_id in _leaders(case))
    return symptom.resource.address in {address_text(row.host, row.port) for row in held}


def story(case: Case) -> Story:
    """Return the story: which brokers lack which listener, and how many partitions clients cannot use."""
    return told(
        case,
        "listeners/missing_listener missing",
        evidence=evidence_of((*case.explained, *case.besides)),
        leaders=_leaders(case) or "the leaders",
        listeners=_listeners(case),
        count=max(root.number("count") for root in case.roots),
        total=max(root.number("total") for root in case.roots),
    )


MISSING_LISTENER = Cause(
    codes=("KA103",),
    meaning="the leader of partitions lacks the listener on which clients ask for them",
    cases=cases,
    story=story,
    explains=(
        Explains(codes=("KA305",), where=missing_there),
        Explains(codes=("KA001",), where=at_their_former_address),
    ),
)
