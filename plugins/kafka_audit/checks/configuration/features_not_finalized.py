from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import NO_QUORUM
from kafka_audit.cluster.features import METADATA_VERSION
from kafka_audit.configuration.behaviour import metadata_release


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
        yield view.judge("cluster", Status.FAIL, evidence, target=found.supported)
    else:
        yield view.judge("cluster", Status.PASS, evidence, why="the highest level that every broker supports")
