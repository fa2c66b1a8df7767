"""KA111."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.identities import answering_brokers
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import SourceRead

_OPERATION = "DescribeConfigs identity"


@check(
    code="KA111",
    severity=Severity.CRITICAL,
    says={
        Status.FAIL: "Clients that connect to broker {broker} reach {answered_by} at {host}:{port} ({listener}), seen from "
        "{vantage}",
        Status.PASS: "Broker {broker} answers at {host}:{port} ({listener}), seen from {vantage}",
        Status.UNKNOWN: "Cannot determine which broker answers at {host}:{port} ({listener} of broker {broker}): {error}",
    },
)
def endpoint_answered_by_other(view: ClusterView) -> Iterator[Judgement]:
    """Another broker, or another cluster, answers at the endpoint that a broker advertises.

    ## Why it matters
    A port forward leads to the wrong broker, a host name moved, or a host kept an old address. The port is open, but every
    request for this broker's partitions fails with NOT_LEADER_OR_FOLLOWER or reads the data of another cluster.

    ## Fails when
    The process at the endpoint reports a different broker id than the broker that advertises the endpoint, or a different
    cluster id, in two samples. The auditor sends DescribeConfigs for broker 2147483647, an id that no broker has. Error 42 then
    names the broker that answers.

    ## Not known when
    The endpoint was not reached (KA301), the auditor lacks DescribeConfigs on Cluster, or the other broker was seen only once.
    Or the broker is not Apache Kafka (Redpanda, WarpStream): its error does not name an id.

    ## Passes only when
    The process at the endpoint reported the id of the broker that advertises it.

    ## What to do
    Run `kafka-configs.sh --bootstrap-server {host}:{port} --describe --entity-type brokers --entity-name {broker}`. It fails
    with `Unexpected broker id, expected …`, which names the broker that answers. Find the wrong hop: run `getent hosts {host}`
    on a client host, then check the forwarding or proxy table for port {port}. Direct it to broker {broker}; the command then
    succeeds.

    ## References
    Error 42 INVALID_REQUEST of `kafka.server.ConfigHelper`; KAFKA-14885.
    """
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
            "KA111",
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
