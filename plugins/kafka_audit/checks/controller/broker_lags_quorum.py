from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.cluster.quorum import seconds
from kafka_audit.faults.facts import facts_of
from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.tables import BrokerFeature
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.words import how_far


@check(code="KA210", severity=Severity.HIGH)
def broker_lags_quorum(view: ClusterView) -> Judgements:
    """A broker answers clients but does not follow the controllers' metadata log."""
    quorum = view.quorum
    yield from no_quorum(view, "a broker")
    now = quorum.now
    if now.newest is None:
        return
    late = {row.parties[0]: row for row in progress_of(view).of_kind("metadata")}
    offered = {row.broker_id for row in view.of(BrokerFeature) if row.finalized_epoch is not None}
    answering = {broker for broker in now.answering if broker >= 0}
    for broker in sorted(answering | {broker for broker, row in now.replicas.items() if not row.voter}):
        fetched = facts_of(view).edges.fetched(broker)
        evidence = {"broker": broker, "who": f"broker {broker}", "leader": now.newest.leader_id}
        resource = f"broker/{broker}"
        if broker not in answering and view.reads.answered(broker):
            error, needs = "it answers, and its view was not read", f"an answer of broker {broker} to Metadata"
            yield view.unknown(resource, error, needs, evidence)
        elif broker not in answering:
            yield view.not_applicable(resource, "it returns no view", evidence)
        elif fetched.state == "unknown":
            yield view.unknown(resource, fetched.error, fetched.needs, evidence)
        else:
            offsets = f"at offset {now.replicas[broker].log_end_offset} of {now.newest.high_watermark}"
            evidence |= {"behind": seconds(now.behind_ms[broker]), "offsets": offsets, "applied": quorum.unapplied.get(broker)}
            if fetched.state == "works" and resource in late:
                why, severity = _why(late[resource], now.newest.high_watermark)
                yield view.judge(resource, Status.FAIL, evidence, why=why, severity=severity)
            elif fetched.state == "works" and offered and broker not in offered:
                error = "it did not report up to which offset it has applied the metadata log, as others did"
                yield view.unknown(resource, error, f"an answer of broker {broker} to ApiVersions 3", evidence)
            elif fetched.state == "works":
                yield view.judge(resource, Status.PASS, evidence)
            elif fetched.state == "missing" and quorum.before is not None and broker in quorum.before.answering:
                why = f"leader {now.newest.leader_id} saw it caught up {evidence['behind']}, {offsets}"
                yield view.judge(resource, Status.FAIL, evidence, why=why)
            else:
                yield view.judge(resource, Status.UNKNOWN, evidence | ONCE)


def _why(row: ProgressRow, end: int | None) -> tuple[str, Severity | None]:
    """Return how a broker applies the log; one that goes on does so late, which needs no step yet."""
    if row.state == "moving":
        return f"it applies records late, at offset {row.measure} of {end}, {how_far(row)}", Severity.MEDIUM
    stands = f"; it {how_far(row)}" if row.state == "standing" else ""
    return f"it fetches records and applies nothing after offset {row.measure} of {end}{stands}", None
