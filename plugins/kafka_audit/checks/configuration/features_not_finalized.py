from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import NO_QUORUM
from kafka_audit.cluster.features import METADATA_VERSION
from kafka_audit.configuration.behaviour import metadata_release
from kafka_audit.model.text import brokers, listing


_FIRST = "Make sure that every broker and controller runs the new release without errors, and that no downgrade is planned"


def _refused(view: ClusterView) -> str:
    """Return why Kafka refuses the command today, and what comes first; "" where nothing is known to be in its way."""
    now = view.quorum.now
    if now.left:
        who = listing(sorted(now.left), 5)
        return f"Kafka refuses it while controller {who}, which left, is registered with an older release: repair KA224 first"
    if now.fenced:
        down = brokers(sorted(now.fenced))
        return f"Kafka may refuse it for {down}, registered and out of service: start it with the new release, or unregister it, first"
    return ""


@check(code="KA712", severity=Severity.LOW)
def features_not_finalized(view: ClusterView) -> Judgements:
    """The cluster still uses the metadata.version of an earlier release."""
    if not view.kraft:
        yield view.not_applicable("cluster", NO_QUORUM)
        return
    found = view.features.get(METADATA_VERSION)
    if found is None or found.finalized is None or (found.supported is None and not found.differs):
        error = "no broker reported a finalized metadata.version"
        yield view.unknown("cluster", error, "an answer to ApiVersions from a broker of Kafka 3.3 or later")
        return
    evidence: dict[str, object] = {"finalized": metadata_release(found.finalized), "level": f"level {found.finalized}"}
    if found.differs:
        why = "brokers support different levels, an upgrade is in progress"
        yield view.judge("cluster", Status.PASS, evidence, why=why)
    elif found.supported is not None and found.finalized < found.supported:
        evidence |= {"supported": metadata_release(found.supported), "highest": f"level {found.supported}"}
        refused = _refused(view)
        yield view.judge("cluster", Status.FAIL, evidence, target=None if refused else found.supported, first=refused or _FIRST)
    else:
        yield view.judge("cluster", Status.PASS, evidence, why="the highest level that every broker supports")
