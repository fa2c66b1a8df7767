"""KA216."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.controller_paths import controller_paths
from kafka_audit.diagnosis.vote_edges import VoteEdges
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.text import clean


@check(
    code="KA216",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "From the host of broker {broker}, {count} of {total} controllers {count:is|are} unreachable: "
        "{addresses} ({error})",
        Status.PASS: "The host of broker {broker} reaches {total:# controller|# controllers}",
        Status.UNKNOWN: "Cannot determine whether the host of broker {broker} reaches the controllers ({error})",
        Status.NOT_APPLICABLE: "Connections from brokers to controllers are not probed: {reason}",
    },
)
def controller_unreachable_from_broker(view: ClusterView) -> Iterator[Judgement]:
    """A broker's host does not reach a KRaft controller that others reach.

    ## Why it matters
    A broker fetches the metadata from the active controller and sends its heartbeats there. If it does not reach that controller,
    the controllers fence it after `broker.session.timeout.ms` (9 seconds) and its view of the cluster is stale. If it does not
    reach one of the others, this happens when that one becomes the active controller.

    ## Fails when
    The probe from the broker's host to a controller fails at the same layer (dns, tcp, tls, sasl, api) in two samples, and this
    worker or another host reaches the address: of a voter, as the quorum reports it (Kafka 3.9 and later) or most brokers are set
    to, or under `controllers` in the cluster file. CRITICAL if the broker's host reaches no controller. Suspected if nothing
    shows that the vantage is on that host: it reaches the leader of the quorum, or the broker lags.

    ## Not known when
    The command of the vantage did not run, the probe failed in one sample only, or no host reaches any of the addresses. Or the
    vantage does not reach the leader of the quorum, from which the broker fetches all the same: it is not on that host.

    ## Passes only when
    The broker's host reaches all controllers that another host reaches. The check does not apply if the cluster file has no
    vantage with `role: broker`. KA211 and KA218 report controllers that do not answer.

    ## What to do
    On the host of broker {broker}, repeat the probe of {addresses}: `nc -vz CONTROLLER 9093`. If there is no answer, allow the
    connection in the firewall, security group or NetworkPolicy between them. If the name is not resolved, compare `/etc/hosts`
    and DNS of this host with another broker's host. The broker registers again by itself when the connection is restored.

    ## References
    `controller.quorum.voters`, `controller.quorum.bootstrap.servers`, `broker.session.timeout.ms`; KIP-631.
    """
    paths = view.derived(controller_paths)
    alive = {path.address for path in paths if path.reaches}
    hosts = sorted({path.source for path in paths if path.role == "broker" and path.source is not None})
    if not hosts:
        reason = "no vantage with role broker probed a controller"
        yield view.judge("KA216", "cluster", Status.NOT_APPLICABLE, reason=reason)
    for broker in hosts:
        own = [path for path in paths if path.role == "broker" and path.source == broker]
        reached = {path.address for path in own if path.state == "open"}
        missed = [path for path in own if path.address in alive - reached]
        lasting = [path for path in missed if path.state == "closed"]
        addresses = sorted({clean(path.address) for path in lasting})
        errors = sorted({f"{path.layer}: {clean(path.error)}" for path in lasting or missed})
        evidence: dict[str, object] = {"broker": broker, "total": len(alive)}
        there = view.derived(VoteEdges).begins_at(broker, own)
        if lasting and there is False:
            error = f"broker {broker} fetches from the leader of the quorum, which this vantage does not reach"
            needs = f"a vantage on the host of broker {broker}"
            yield view.judge("KA216", f"broker/{broker}", Status.UNKNOWN, evidence, error=error, needs=needs)
        elif lasting:
            evidence |= {"addresses": addresses, "count": len(addresses), "error": ", ".join(errors)}
            severity = Severity.HIGH if len(addresses) < len(alive) else Severity.CRITICAL
            confidence = Confidence.MEASURED if there else Confidence.SUSPECTED
            yield view.judge("KA216", f"broker/{broker}", Status.FAIL, evidence, severity=severity, confidence=confidence)
        elif not alive:
            unknown = {"error": "no host reaches a controller", "needs": "a controller that answers (KA211)"}
            yield view.judge("KA216", f"broker/{broker}", Status.UNKNOWN, evidence | unknown)
        elif missed:
            needs = next((path.needs for path in missed if path.needs), "another audit")
            yield view.judge("KA216", f"broker/{broker}", Status.UNKNOWN, evidence, error=", ".join(errors), needs=needs)
        else:
            yield view.judge("KA216", f"broker/{broker}", Status.PASS, evidence)
