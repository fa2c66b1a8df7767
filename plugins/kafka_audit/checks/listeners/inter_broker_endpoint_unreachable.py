"""KA302."""

from collections.abc import Iterator
from typing import Any

from kafka_audit.checks import check
from kafka_audit.checks.listeners.cut_evidence import CutEvidence, Cuts
from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.cluster.listeners.principals import file_of
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerView,
    LogLine,
    Probe,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    ViewPartition,
    ViewTopic,
)
from kafka_audit.model.text import brokers


@check(
    code="KA302",
    severity=Severity.CRITICAL,
    needs=(
        RegisteredBroker,
        RegisteredEndpoint,
        RegisteredTopic,
        RegisteredPartition,
        Probe,
        BrokerConfig,
        BrokerView,
        LogLine,
        ViewPartition,
        ViewTopic,
    ),
    parts=("brokers",),
    says={
        Status.FAIL: "Broker {broker} is cut off: {who} {cannot} reach {host}:{port}, its inter-broker address ({listener}): "
        "{why}",
        Status.PASS: "Every broker reaches broker {broker} at {host}:{port} ({listener}): tcp open from {open}",
        Status.UNKNOWN: "Cannot determine whether the other brokers reach {target}: {error}",
        Status.NOT_APPLICABLE: "No registered inter-broker endpoints: {reason}",
    },
)
def inter_broker_endpoint_unreachable(view: ClusterView) -> Iterator[Judgement]:
    """A broker cannot reach the address that another broker, or it itself, advertises for inter-broker traffic.

    ## Why it matters
    The controller sends leader information to every broker through this address. If it cannot, the broker is up and registered
    but unusable: its view is empty, `controller_id` is -1 and it has no topics, while ZooKeeper reports a full ISR. A follower
    that cannot reach its leader falls out of the ISR.

    ## Fails when
    Measured: a probe from a broker's own host fails at dns or tcp in two samples, or the broker's log reports it, newer than
    the start of both brokers and still repeated. CRITICAL if the controller cannot reach the broker or something is broken;
    otherwise HIGH.

    Inferred, if no probe was made from the controller's host: the broker's own view is empty or stale, or a follower that
    replicates other partitions is in no ISR of this broker's partitions (in KRaft, which does not report restarts: no follower
    is). A missing right (KA401) and a failed login (KA412) are ruled out. Suspected: one of these could not be ruled out; the
    finding names it.

    ## Not known when
    No probe was made and no symptom was found, KA401 or KA412 explains the symptom, or the symptom was seen once.

    ## Passes only when
    Probes from the hosts of all registered brokers opened a tcp connection.

    ## What to do
    On the host of {who}, run `nc -vz -w 3 {host} {port}` and `grep '(id: {broker} rack.*unsuccessful' controller.log`. Do not
    rely on `kafka-topics.sh --zookeeper` (up to Kafka 2.8): it does not read from brokers.

    Quick: set an address in `advertised.listeners` of broker {broker} that clients and every possible controller resolve and
    reach (`/etc/hosts` of the brokers, a hairpin rule at the port forward). This requires a restart of that broker.

    Lasting: a listener for brokers only (`inter.broker.listener.name`), with addresses that every broker reaches. First add it
    to `listeners` and `advertised.listeners` on all brokers, then switch to it and remove `security.inter.broker.protocol`
    (Kafka accepts only one of the two). This requires two rolling restarts.

    ## References
    KIP-103 (listeners for different traffic); `kafka.controller.RequestSendThread`.
    """
    cuts = Cuts(view)
    for broker in view.brokers:
        yield _judged(view, cuts, cuts.of(broker))


def _judged(view: ClusterView, cuts: Cuts, cut: CutEvidence) -> Judgement:
    if cut.endpoint is None:
        return _unknown(view, cut, **_no_endpoint(cut))
    if cut.sides.closed:
        return _measured(view, cut)
    if cut.answered and _symptom(cut) is not None:
        return _inferred(view, cuts, cut)
    if cut.sides.moving or (cut.symptom is not None and not cut.symptom.settled):
        needs = "another audit: this was seen once, or the cluster changed between two samples"
        return _unknown(view, cut, error="in motion", needs=needs)
    if not cut.unmeasured:
        return view.judge("KA302", cut.resource, Status.PASS, _evidence(cut))
    if not cut.sides.open:
        error, needs = "no symptom was found, and no probe was made", "a vantage with role broker"
    else:
        error = f"tcp was probed from {brokers(cut.sides.open)} only"
        needs = f"a probe from {brokers(cut.unmeasured)}"
    return _unknown(view, cut, error=error, needs=cut.sides.needs or needs)


def _measured(view: ClusterView, cut: CutEvidence) -> Judgement:
    """Fail by probes from brokers' own hosts: HIGH where the controller gets there and nothing is broken yet."""
    failed = cut.sides.failed
    error = (failed and failed.error) or "an unknown error"
    idle = cut.controller not in cut.sides.closed and not cut.broken
    return _fail(
        view,
        cut,
        cut.sides.closed,
        severity=Severity.HIGH if idle else None,
        cannot="cannot",
        layer=failed and failed.layer,
        why=f"{failed and failed.layer} failed with {error}",
        error=error,
    )


def _inferred(view: ClusterView, cuts: Cuts, cut: CutEvidence) -> Judgement:
    """Fail by what shows elsewhere, unless another cause was found; a log of a side that is cut off measures it."""
    symptom = _symptom(cut)
    if cut.rivals.found:
        explained = f"{symptom}, which {' or '.join(cut.rivals.found)} explains"
        return _unknown(view, cut, error=explained, needs="a vantage with role broker")
    sources = cut.absent
    if cut.symptom is not None and cut.symptom.settled and cut.controller is not None:
        sources = (cut.controller,)
    line = cuts.logged(cut, sources)
    if line is not None:
        return _fail(view, cut, sources, cannot="cannot", layer="tcp", why=says(line))
    if cut.rivals.open:
        rivals = " or ".join(cut.rivals.open)
        why, suspected = f"{symptom}; not ruled out: {rivals}", Confidence.SUSPECTED
        return _fail(view, cut, sources, confidence=suspected, cannot="possibly cannot", why=why, rivals=cut.rivals.open)
    return _fail(view, cut, sources, confidence=Confidence.INFERRED, cannot="most likely cannot", why=symptom)


def _fail(view: ClusterView, cut: CutEvidence, sources: tuple[int, ...], **reported: Any) -> Judgement:  # noqa: ANN401
    """Return a failure; `sources` are the brokers that cannot reach this one."""
    subject = brokers(sources)
    if sources == (cut.controller,):
        subject = f"controller {cut.controller}"
    return view.judge("KA302", cut.resource, Status.FAIL, {**_evidence(cut), "from": sources, "who": subject}, **reported)


def _unknown(view: ClusterView, cut: CutEvidence, *, error: str, needs: str) -> Judgement:
    return view.judge("KA302", cut.resource, Status.UNKNOWN, _evidence(cut), error=error, needs=needs)


def _evidence(cut: CutEvidence) -> dict[str, object]:
    """Return what every judgement shows."""
    endpoint = cut.endpoint
    return {
        "target": f"broker {cut.broker}",
        "broker": cut.broker,
        "controller": cut.controller,
        "host": endpoint and endpoint.host,
        "port": endpoint and endpoint.port,
        "listener": endpoint and endpoint.listener,
        "protocol": endpoint and endpoint.protocol,
        "symptom": _symptom(cut),
        "vantage": cut.sides.vantage,
        "open": cut.sides.open,
    }


def _no_endpoint(cut: CutEvidence) -> dict[str, str]:
    if cut.listener is None:
        return {"error": "its inter-broker listener is unknown", "needs": "DescribeConfigs on Cluster"}
    return {
        "error": f"the address of its listener {cut.listener} is unknown",
        "needs": f"DescribeConfigs on Cluster, {file_of(cut.broker)}, or a bootstrap address of listener {cut.listener}",
    }


def _symptom(cut: CutEvidence) -> str | None:
    """Return what shows that something keeps other brokers away; None where nothing does, or it was seen once."""
    if cut.symptom is not None and cut.symptom.settled:
        if cut.symptom.empty:
            return f"broker {cut.broker} lists no broker and no controller"
        return f"broker {cut.broker} reports leaders that differ from ZooKeeper"
    return f"not in any ISR of partitions that broker {cut.broker} leads: {brokers(cut.absent)}" if cut.absent else None
