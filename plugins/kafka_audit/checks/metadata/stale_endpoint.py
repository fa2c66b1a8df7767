"""KA106."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import judgement
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredEndpoint, ViewBroker


@check(
    code="KA106",
    severity=Severity.HIGH,
    needs=(RegisteredEndpoint, BrokerView, ViewBroker),
    parts=("brokers",),
    says={
        Status.FAIL: "Clients of broker {broker} are sent to an old address of broker {subjects}: registered is {zookeeper}, it "
        "says {said} (listener {listeners})",
        Status.PASS: "Broker {broker} gives the registered address of every broker that it lists ({listeners})",
        Status.UNKNOWN: "Cannot determine whether {who} gives old addresses ({error})",
        Status.NOT_APPLICABLE: "No registrations to compare with: {reason}",
    },
)
def stale_endpoint(view: ClusterView) -> Iterator[Judgement]:
    """A broker gives another address for a broker than the one registered.

    ## Why it matters
    Clients connect where Metadata sends them. An old address times out, or, where it was given to somebody else, is answered by
    the wrong broker.

    ## Fails when
    Host or port of a broker in the answer to Metadata differ from its registration for the same listener, in two samples, with
    the registration unchanged in between. Letter case of host names does not count.

    ## Not known when
    The broker gave no view or an empty one, was asked on a listener that nobody registers, ZooKeeper was not read, or the
    difference was seen once or moved.

    ## Passes only when
    The broker answered on a registered listener, and every broker that it lists has the registered host and port.

    ## What to do
    Find the stale side: `zookeeper-shell.sh <zookeeper.connect> get /brokers/ids/{subjects}` against `advertised.listeners` on
    that broker. Where the registration is right, the controller could not tell the answering broker: see KA302 and KA401. A
    restart of the stale side registers or fetches anew.

    ## References
    KIP-103; KIP-226 (advertised addresses may change without a restart).
    """
    if view.kraft:
        reason = "the cluster runs in KRaft mode, without ZooKeeper"
        yield view.judge("KA106", "cluster", Status.NOT_APPLICABLE, who="any broker", reason=reason)
        return
    for observer in view.observers:
        difference = view.disagreement(observer.name, "endpoint")
        yield judgement(
            view,
            "KA106",
            observer,
            difference,
            error=observer.brokers_error,
            needs=observer.brokers_needs,
            count=difference and difference.count,
            total=len(view.brokers),
            subjects=difference and difference.brokers,
            zookeeper=difference and difference.reference,
            said=difference and difference.view,
            listeners=(observer.listeners if difference is None else difference.listeners) or None,
        )
