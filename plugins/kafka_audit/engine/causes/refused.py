"""KA401, KA403, KA412: a broker is reached, and does not accept who must talk to it."""

from kafka_audit.engine.causes.candidates import log_name
from kafka_audit.engine.causes.repair import do_not, prove
from kafka_audit.engine.causes.rule import Case, Story, bootstrap_in_vain, changed_before, evidence_of
from kafka_audit.model.finding import Confidence, Step
from kafka_audit.model.text import brokers, fitting, start_upper

_CANNOT = {
    "KA401": "has no ClusterAction there",
    "KA403": "is denied ClusterAction there",
    "KA412": "cannot log in there",
}


def tell(case: Case) -> Story:
    """Tell that brokers refuse the controller, for want of a right or of a login."""
    code = case.roots[0].code
    who, one = case.brokers, len(case.brokers) == 1
    actor = "the controller" if case.facts.controller is None else f"controller {case.facts.controller}"
    hedge = {Confidence.MEASURED: "", Confidence.INFERRED: "most likely ", Confidence.SUSPECTED: "possibly "}[case.confidence()]
    empty = [b for b in who if case.facts.is_empty(b)]
    subject = start_upper(brokers(who)) if who else "The cluster"
    state = f"{'is' if one or not who else 'are'} cut off" if empty or case.facts.kraft else "will be cut off by the next change"
    return Story(
        headline=fitting([f"{subject} {state}: {hedge}{actor} {_CANNOT[code]}", f"{subject} {state}: {hedge}{actor} is refused"]),
        impact=(bootstrap_in_vain(empty) if empty else "What the controller decides next will not get there."),
        confidence=case.confidence(),
        why=f"The evidence of {code}; that the controller gets a connection is not in question.",
        speaks_for=(
            *evidence_of(case.roots),
            *evidence_of([f for f in case.explained if f not in case.roots], 5),
            *changed_before(case, {"config": "setting", "acl": "ACL", "endpoint": "address"}),
        ),
        steps=(
            Step(
                kind="see",
                text=f"See it yourself (reads only): {log_name(case)}.",
                commands=(
                    "grep -E 'CLUSTER_AUTHORIZATION_FAILED|Authentication failed|SSL handshake failed' controller.log | tail -3",
                ),
            ),
            *(
                Step(kind="quick", text=text)
                for text in dict.fromkeys(root.remediation for root in case.roots if root.remediation)
            ),
            prove(case),
            do_not("set allow.everyone.if.no.acl.found: it opens the cluster to everybody."),
        ),
    )
