from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.cluster.features import METADATA_VERSION
from kafka_audit.configuration.behaviour import behaviour, metadata_release
from kafka_audit.model.text import listing

_NEEDS = "`controllers` in the cluster file, of Kafka 3.7 or later and without an authorizer"


@check(code="KA225", severity=Severity.MEDIUM, mode="kraft")
def controller_left_registered(view: ClusterView) -> Judgements:
    """A controller that left the quorum is still registered, and holds metadata.version down."""
    feature, now, before = view.features.get(METADATA_VERSION), view.quorum.now, view.quorum.before
    level = None if feature is None else feature.finalized
    if level is not None and level < (behaviour("controllers_register").level or 0):
        yield view.not_applicable("cluster", f"controllers do not register at metadata.version {metadata_release(level)}")
    elif not now.voters:
        error, needs = view.quorum.unread()
        yield view.unknown("cluster", error, needs)
    elif not now.registered:
        yield view.unknown("cluster", "no controller listed those that are registered", _NEEDS)
    elif not now.left:
        yield view.judge("cluster", Status.PASS, controllers=tuple(sorted(now.registered)))
    for node in sorted(now.left):
        evidence = {"node": node, "voters": now.voters, "following": listing(now.voters, 10)}
        seen = before is None or node in before.left
        confidence = Confidence.MEASURED if seen else Confidence.SUSPECTED
        yield view.judge(f"controller/{node}", Status.FAIL, evidence, confidence=confidence)
