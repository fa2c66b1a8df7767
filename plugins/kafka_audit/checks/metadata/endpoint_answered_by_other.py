from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.faults.identities import answering_brokers
from kafka_audit.model.tables import SourceRead

_OPERATION = "DescribeConfigs identity"


@check(code="KA111", severity=Severity.CRITICAL)
def endpoint_answered_by_other(view: ClusterView) -> Judgements:
    """Another broker, or another cluster, answers at the endpoint that a broker advertises."""
    answering, refused, asked = view.derived(answering_brokers), _refused(view), _asked(view)
    for endpoint in view.advertised:
        answers = answering.get((endpoint.broker_id, endpoint.listener), ())
        others = [answer for answer in answers if answer.is_other]
        known = [answer for answer in answers if answer.answered_by is not None]
        unknown: dict[str, str | None] = {}
        if others and others[0].lasting:
            status = Status.FAIL
        elif others:
            status, unknown = Status.UNKNOWN, {"error": "in motion", "needs": "another audit: this was seen once"}
        elif known:
            status = Status.PASS
        else:
            read = refused.get(endpoint.broker_id)
            status = Status.UNKNOWN
            unknown["error"] = (read and read.error) or "the endpoint did not report a broker id"
            unknown["needs"] = (read and read.needs) or "an open connection to it, and DescribeConfigs on Cluster"
            if read is None and answers and endpoint.broker_id in asked:
                unknown["error"] = "the broker refuses an unknown id without naming its own, as Apache Kafka would"
                unknown["needs"] = "a broker of Apache Kafka"
        yield view.judge(
            endpoint.resource,
            status,
            unknown,
            broker=endpoint.broker_id,
            host=endpoint.host,
            port=endpoint.port,
            listener=endpoint.listener,
            answered_by=min((answer.name for answer in others), default=None),
            answering_brokers=tuple(sorted({other.answered_by for other in others if other.answered_by is not None})) or None,
            vantage=tuple(sorted({other.vantage for other in others or known})) or None,
        )


def _asked(view: ClusterView) -> frozenset[int]:
    """Return the brokers that answered the request for their id."""
    answered = (read for read in view.last_reads if read.outcome == "answered" and read.operation == _OPERATION)
    names = (read.observer.removeprefix("broker:") for read in answered)
    return frozenset(int(name) for name in names if name.isdecimal())


def _refused(view: ClusterView) -> Mapping[int, SourceRead]:
    """Return the reads of brokers' ids that failed, one for each broker."""
    failed = (read for read in view.last_reads if read.outcome == "failed" and "identity" in read.operation.lower())
    found: dict[int, SourceRead] = {}
    for read in sorted(failed, key=lambda read: (read.error or "", read.needs or ""), reverse=True):
        kind, _, name = read.observer.partition(":")
        if kind == "broker" and name.isdecimal():
            found[int(name)] = read
    return found
