from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.faults.controller_paths import controller_paths, reaches_nothing
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.vote_edges import VoteEdges
from kafka_audit.model.text import clean


@check(code="KA216", severity=Severity.HIGH)
def controller_unreachable_from_broker(view: ClusterView) -> Judgements:
    """A broker's host does not reach a KRaft controller that others reach."""
    paths = view.derived(controller_paths)
    alive = {path.address for path in paths if path.reaches}
    hosts = sorted({path.source for path in paths if path.role == "broker" and path.source is not None})
    if not hosts:
        yield view.not_applicable("cluster", "no vantage with role broker probed a controller")
    for broker in hosts:
        own = [path for path in paths if path.role == "broker" and path.source == broker]
        reached = {path.address for path in own if path.state == "open"}
        missed = [path for path in own if path.address in alive - reached]
        lasting = [path for path in missed if path.state == "closed"]
        addresses = sorted({clean(path.address) for path in lasting})
        errors = sorted({f"{path.layer}: {clean(path.error)}" for path in lasting or missed})
        evidence: dict[str, object] = {"broker": broker, "total": len(alive)}
        there = view.derived(VoteEdges).begins_at(broker, own)
        hurts = facts_of(view).edges.follow(broker).effect.state == "missing"
        lost = reaches_nothing(view, own)
        if lasting and lost and not hurts:
            error = f"this vantage reaches no address of any party, broker {broker}'s own among them"
            needs = f"a vantage on the host of broker {broker}: let its `command` run `hostname` and `ip route`"
            yield view.unknown(f"broker/{broker}", error, needs, evidence)
        elif lasting and there is False:
            error = f"broker {broker} fetches from the leader of the quorum, which this vantage does not reach"
            needs = f"a vantage on the host of broker {broker}"
            yield view.unknown(f"broker/{broker}", error, needs, evidence)
        elif lasting:
            evidence |= {"addresses": addresses, "count": len(addresses), "error": ", ".join(errors)}
            severity = Severity.CRITICAL if hurts and len(addresses) == len(alive) else Severity.HIGH
            confidence = Confidence.MEASURED if there and not lost else Confidence.SUSPECTED
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence, severity=severity, confidence=confidence)
        elif not alive:
            yield view.unknown(f"broker/{broker}", "no host reaches a controller", "a controller that answers (KA211)", evidence)
        elif missed:
            needs = next((path.needs for path in missed if path.needs), "another audit")
            yield view.unknown(f"broker/{broker}", ", ".join(errors), needs, evidence)
        else:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
