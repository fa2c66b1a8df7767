"""KA401, KA403, KA412: a broker is reachable, but refuses other brokers."""

from collections import defaultdict
from collections.abc import Iterable

from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES
from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.candidates import candidates, login_log
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
    together,
)
from kafka_audit.incidents.causes.security import refused_broker_repair
from kafka_audit.model.finding import Confidence, Evidence, Finding, Severity, Status
from kafka_audit.model.text import brokers, clean, fitting, listing, start_upper

_HEDGE = {Confidence.MEASURED: "", Confidence.INFERRED: "most likely ", Confidence.SUSPECTED: "possibly "}
_LOGIN = {
    "certificate": "its certificate is not accepted",
    "clock": "their clock is wrong",
    "mechanism": "it does not offer the mechanism",
    "credential": "it does not accept user or password",
    "principal": "no mapping rule matches",
}


def reported(case: Case, key: str) -> tuple[str, ...]:
    """Return the texts of the roots under a key of their evidence, each of them once."""
    texts = (text for root in case.roots for text in (root.text(key), *root.texts(key)) if text)
    return tuple(dict.fromkeys(map(clean, texts)))


def _sources(case: Case) -> set[int]:
    """Return the brokers that are refused."""
    return {source for root in case.roots for source in root.numbers("from")}


def concerns_its_user(case: Case, symptom: Finding) -> bool:
    """Explain super users that differ in the very user that is refused, at whichever broker that was seen."""
    differ = {*symptom.texts("lacks"), *symptom.texts("more")}
    return any(principal in differ for root in case.roots for principal in root.texts("principal"))


def story(case: Case) -> Story:
    """Return the story: the refusing broker, the refused broker, its principal there, and the remedy."""
    return Story(
        headline=_headline(case),
        impact=_impact(case),
        confidence=case.confidence(),
        why=_why(case),
        speaks_for=(
            *evidence_of(case.roots),
            *evidence_of(refused_broker_repair.other_rules(case)),
            *log_quotes.evidence(case, _codes(case)),
            *_ways(case),
            *evidence_of([f for f in case.explained if f not in case.roots], 5),
            *_let_in_elsewhere(case),
            *changed_before(case, {"config": "setting", "acl": "ACL", "endpoint": "address"}),
        ),
        against=tuple(_registry_looks_whole(case)),
        not_known=tuple(_not_known(case)),
        steps=refused_broker_repair.refused_steps(case),
        candidates=candidates(case),
        cause="KA404" if refused_broker_repair.other_rules(case) else None,
    )


def _codes(case: Case) -> tuple[str, ...]:
    return ("KA412",) if case.roots[0].code == "KA412" else ("KA401",)


def _shows(case: Case) -> bool:
    """Return whether it is so now; a broker that was let in before is refused at the next connection or change only."""
    return any(root.severity is Severity.CRITICAL for root in case.roots)


def _whom(case: Case) -> str:
    single, controller = len(case.brokers) == 1, case.view.controller
    sources = _sources(case)
    if controller is not None and (controller in sources or not sources):
        if case.brokers == (controller,):
            return "itself, its controller"
        return "its controller" if single else "their controller"
    return "the other brokers" if case.view.kraft or not sources else brokers(sources)


def _headline(case: Case) -> str:
    code, single, hedge = case.roots[0].code, len(case.brokers) == 1, _HEDGE[case.confidence()]
    subject = start_upper(brokers(case.brokers)) if case.brokers else "The cluster"
    if code == "KA412":
        return _login_headline(case, subject, hedge)
    verb = f"{hedge}{'refuses' if single else 'refuse'}" if _shows(case) else f"{hedge}will refuse"
    principal = listing(reported(case, "principal"), 2) or "the inter-broker principal"
    why = f"{principal} has no ClusterAction" if code == "KA401" else f"an ACL denies {principal} ClusterAction"
    short = "no ClusterAction" if code == "KA401" else "an ACL denies ClusterAction"
    refuses = f"{subject} {verb} {_whom(case)}"
    if refused_broker_repair.other_rules(case):
        differ = f"{refuses}: {'its' if single else 'their'} {SSL_RULES} differ"
        return fitting([f"{differ} from the others'", differ, refuses])
    return fitting([f"{refuses}: {why} there", f"{refuses}: {why}", f"{refuses}: {short}", refuses])


def _login_headline(case: Case, subject: str, hedge: str) -> str:
    controller, sources = case.view.controller, _sources(case)
    by_controller = controller is not None and (controller in sources or not sources)
    actor = f"controller {controller}" if by_controller else "other brokers"
    shows = f"{'receives' if len(case.brokers) == 1 else 'receive'} no updates" if _shows(case) else "will receive no updates"
    kinds = reported(case, "kind")
    reasons = [*(reported(case, "why") if kinds else ()), *(_LOGIN.get(kind, "") for kind in kinds)]
    fails = f"{hedge}{actor} cannot log in"
    starts = (f"{subject} {shows}: {fails} there", f"{subject} {shows}: {fails}", f"{subject}: {fails} there")
    named = [f"{start}, {reason}" for reason in reasons if reason and len(case.brokers) == 1 for start in starts]
    return fitting([*named, starts[0], starts[2]])


def _impact(case: Case) -> str:
    empty = [b for b in case.brokers if b in case.empty]
    subject, single = start_upper(brokers(case.brokers)), len(case.brokers) == 1
    if empty:
        led, of = case.view.partitions.led_by(case.brokers), case.view.partitions.count.partitions
        names = f" ZooKeeper names {brokers(case.brokers)} as leader of {led} of {of} partitions."
        return bootstrap_in_vain(empty) + (names if led and not case.view.kraft else "")
    if case.view.kraft:
        led_by, them = f"{subject[0].lower()}{subject[1:]}", "it" if single else "them"
        return f"Partitions led by {led_by} have no other in-sync replica. They become unavailable with {them}."
    if reported(case, "symptom"):
        return f"{subject} {'reports' if single else 'report'} stale leaders; clients that ask there receive wrong leaders."
    return f"{subject} {'works' if single else 'work'} as before until the controller sends an update; that update is refused."


def _why(case: Case) -> str:
    code, rivals = case.roots[0].code, reported(case, "rivals")
    match case.confidence():
        case Confidence.MEASURED:
            if log_quotes.counting_lines(case, _codes(case)):
                return "A broker's own log reports it, after the last start."
            seen = "A handshake, a probe or the brokers' files show it" if code == "KA412" else "super.users and ACLs show it"
            return f"{seen}, at the time of the read."
        case Confidence.INFERRED:
            return "It was not measured at the failing side. The reads match this cause, and no read points to another one."
        case Confidence.SUSPECTED:
            named = f" ({' or '.join(rivals)})" if rivals else ""
            return f"The reads match this cause, but another cause has the same symptoms and was not ruled out{named}."


def _ways(case: Case) -> Iterable[Evidence]:
    """Return the listener, the address and the principal."""
    between, controller = case.view.inter_broker, case.view.controller
    for broker in case.brokers[:10]:
        source = controller if controller is not None else broker
        listener = between.listener(source) or between.listener(broker)
        if listener is None:
            continue
        endpoint = next((e for e in case.view.endpoints.of(broker) if e.listener == listener.name), None)
        where = f" at {clean(endpoint.address)}" if endpoint else ""
        subject = "brokers" if case.view.kraft or controller is None else f"controller {controller}"
        connect = "connect" if subject == "brokers" else "connects"
        principal = between.principal(source, broker)
        names = f", with principal {' or '.join(map(clean, principal.names))}" if principal.names else ""
        text = (
            f"{subject} {connect} to broker {broker} on its inter-broker listener {clean(listener.name)} "
            f"({clean(listener.protocol or 'protocol not known')}){where}{names}: {clean(principal.why)}"
        )
        yield Evidence(observer=f"by {clean(listener.source)}", text=text)


def _let_in_elsewhere(case: Case) -> Iterable[Evidence]:
    code = case.roots[0].code
    passed = [f for f in case.findings if f.code == code and f.status is Status.PASS]
    ids = sorted({f.resource.broker for f in passed if f.resource.broker is not None} - set(case.brokers))
    if ids:
        yield Evidence(observer=brokers(ids), text=f"{code} passes there, for example: {clean(passed[0].message)}")


def _registry_looks_whole(case: Case) -> Iterable[Evidence]:
    if case.view.zookeeper_read and not case.empty.isdisjoint(case.brokers):
        text = f"{brokers(case.brokers)} registered; this is no proof: a broker registers itself even if it refuses others"
        yield Evidence(observer="zookeeper", text=text)


def _not_known(case: Case) -> Iterable[str]:
    if case.roots[0].code == "KA412" and not reported(case, "kind"):
        files = f"server.properties of {brokers(case.brokers)} and of the others"
        where = f"`Authentication failed` or `SSL handshake failed` in {login_log(case)}"
        yield f"Not known: whether it is the certificate, the mechanism, the user or the password. To know: {files}, or {where}."
    hidden: dict[str, list[int]] = defaultdict(list)
    for root in case.roots:
        if root.text("hidden") and root.resource.broker is not None:
            hidden[root.text("hidden")].append(root.resource.broker)
    for key, ids in hidden.items():
        yield f"Not known: the value of {key} of {brokers(ids)}; DescribeConfigs hides it. To know: its server.properties."


REFUSED = tuple(
    Cause(
        codes=(code,),
        meaning=meaning,
        cases=together,
        story=story,
        explains=(
            Explains(codes=(*VIEW, "KA302", *kin), where=at_the_broker),
            Explains(codes=("KA402",), where=concerns_its_user),
            LOST_REPLICAS,
        ),
    )
    for code, meaning, kin in (
        ("KA403", "an ACL denies the controller", ("KA401", "KA404")),
        ("KA401", "the controller has no right at a broker", ("KA404", "KA407")),
        # The auditor's own handshake fails at the same certificate.
        ("KA412", "the controller cannot log in to a broker", ("KA001", "KA301", "KA307", "KA404", "KA405", "KA406")),
    )
)
