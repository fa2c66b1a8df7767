from collections.abc import Collection

from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.incident import Case, StoryFacts, evidence_of
from kafka_audit.checks.metadata.view_differences import shown_by_each
from kafka_audit.compare.addresses import address_text
from kafka_audit.model.finding import Finding
from kafka_audit.model.text import named_nodes


@check(code="KA103", severity=Severity.HIGH, parts=("brokers", "topics", "views"))
def leader_lacks_listener(view: ClusterView) -> Judgements:
    """A partition's leader does not have the listener that clients use."""
    for shown in shown_by_each(view, "listener"):
        difference = shown.difference
        leaders = () if difference is None else difference.brokers
        if difference is not None and not leaders:  # no view names the leader with error 72
            leaders = tuple(sorted(set().union(*(view.lacking.get(listener, ()) for listener in difference.listeners))))
        yield shown.judgement(
            **shown.partitions("newest_epoch"),
            total=shown.observer.partitions,
            leaders=leaders or ("whose id is unknown" if difference else None),
            who_lacks=_who_lacks(leaders),
            listeners=shown.listeners,
        )


def _who_lacks(leaders: Collection[int]) -> str:
    return f"{named_nodes('leader', leaders)} {'has' if len(leaders) == 1 else 'have'}" if leaders else "their leaders have"


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


def leaders_and_listeners(case: Case) -> StoryFacts:
    """Return which brokers lack which listener, and how many partitions clients cannot use."""
    facts = {
        "leaders": _leaders(case) or "the leaders",
        "listeners": _listeners(case),
        "count": max(root.number("count") for root in case.roots),
        "total": max(root.number("total") for root in case.roots),
    }
    return StoryFacts(facts=facts, evidence=evidence_of((*case.explained, *case.besides)))
