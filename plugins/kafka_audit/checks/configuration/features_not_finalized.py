from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.features import METADATA_VERSION
from kafka_audit.configuration.behaviour import metadata_release

_FIRST = "Make sure that every broker and controller runs the new release without errors, and that no downgrade is planned"


def _first(view: ClusterView) -> str:
    """Return what comes before the command: Kafka refuses it while an older node is registered, whether it runs or not."""
    if view.quorum.now.left:
        return "Kafka refuses it while a removed controller is registered with an older release: repair KA225 first"
    if view.quorum.now.fenced:
        return "Kafka refuses it for a registered broker of an older release, though it is down: start or unregister it first"
    return _FIRST


@check(code="KA712", severity=Severity.LOW, mode="kraft")
def features_not_finalized(view: ClusterView) -> Judgements:
    """The cluster still uses the metadata.version of an earlier release."""
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
        first, now = _first(view), view.quorum.now
        evidence |= {"left": tuple(sorted(now.left)) or None, "down": tuple(sorted(now.fenced)) or None}
        yield view.judge("cluster", Status.FAIL, evidence, target=found.supported if first is _FIRST else "LEVEL", first=first)
    else:
        yield view.judge("cluster", Status.PASS, evidence, why="the highest level that every broker supports")
