from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.cluster.quorum import seconds
from kafka_audit.faults.facts import facts_of


@check(code="KA210", severity=Severity.HIGH)
def broker_lags_quorum(view: ClusterView) -> Judgements:
    """A broker answers clients but does not follow the controllers' metadata log."""
    quorum = view.quorum
    yield from no_quorum(view, "a broker")
    now = quorum.now
    if now.newest is None:
        return
    answering = {broker for broker in now.answering if broker >= 0}
    for broker in sorted(answering | {broker for broker, row in now.replicas.items() if not row.voter}):
        fetched = facts_of(view).edges.fetched(broker)
        evidence = {"broker": broker, "who": f"broker {broker}", "leader": now.newest.leader_id}
        resource = f"broker/{broker}"
        if broker not in answering and _answers(view, broker):
            error, needs = "it answers, and its view was not read", f"an answer of broker {broker} to Metadata"
            yield view.unknown(resource, error, needs, evidence)
        elif broker not in answering:
            yield view.not_applicable(resource, "it returns no view", evidence)
        elif fetched.state == "unknown":
            yield view.unknown(resource, fetched.error, fetched.needs, evidence)
        else:
            offsets = f"at offset {now.replicas[broker].log_end_offset} of {now.newest.high_watermark}"
            evidence |= {"behind": seconds(now.behind_ms[broker]), "offsets": offsets, "applied": quorum.unapplied.get(broker)}
            if fetched.state == "works" and broker in quorum.unapplied:
                end = now.newest.high_watermark
                why = f"it fetches records and applies nothing after offset {quorum.unapplied[broker]} of {end}"
                yield view.judge(resource, Status.FAIL, evidence, why=why)
            elif fetched.state == "works":
                yield view.judge(resource, Status.PASS, evidence)
            elif fetched.state == "missing" and quorum.before is not None and broker in quorum.before.answering:
                why = f"leader {now.newest.leader_id} saw it caught up {evidence['behind']}, {offsets}"
                yield view.judge(resource, Status.FAIL, evidence, why=why)
            else:
                yield view.judge(resource, Status.UNKNOWN, evidence | ONCE)


def _answers(view: ClusterView, broker: int) -> bool:
    return any(read.observer == f"broker:{broker}" and read.outcome == "answered" for read in view.last_reads)
