"""KA712."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import NO_QUORUM
from kafka_audit.cluster.features import METADATA_VERSION, metadata_release
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA712",
    severity=Severity.LOW,
    says={
        Status.FAIL: "An upgrade was not finalized: metadata.version is {finalized} ({level}), and every broker supports "
        "{supported} ({highest})",
        Status.PASS: "metadata.version is {finalized} ({level}), {why}",
        Status.UNKNOWN: "Cannot determine whether an upgrade was finalized ({error})",
        Status.NOT_APPLICABLE: "No features to finalize: {reason}",
    },
)
def features_not_finalized(view: ClusterView) -> Iterator[Judgement]:
    """The cluster still uses the metadata.version of an earlier release.

    ## Why it matters
    New software alone enables nothing: formats, fixes and features of a release take effect when its `metadata.version` is
    finalized. Below 3.6 the controller raises leader epochs whenever an ISR shrinks, and clients refresh their metadata each
    time. Kafka 4.0 and later do not start with a metadata.version below 3.3.

    ## Fails when
    In KRaft mode the finalized `metadata.version` is below the highest level that every broker supports. `kraft.version` 0 (a
    static quorum) is not a fault.

    ## Not known when
    No broker reported its features: ApiVersions was not answered, or the brokers are older than 3.3. The check does not apply
    with ZooKeeper, where `inter.broker.protocol.version` has this role (KA703).

    ## Passes only when
    The finalized level was read and is the highest that every broker supports, or brokers support different levels, because an
    upgrade is in progress (KA703).

    ## What to do
    First make sure that every broker and controller runs the new release without errors, and that no downgrade is planned: a
    later downgrade of `metadata.version` is refused if a level in between changed the metadata. See the levels with
    `kafka-features.sh --bootstrap-server BROKER:9092 describe`. With `--dry-run` at its end, the next command only validates the
    upgrade (Kafka 3.6 and later; earlier tools ignore the option and upgrade). Then run it without: `kafka-features.sh
    --bootstrap-server BROKER:9092 upgrade --feature metadata.version={target}`.

    Do not use `--release-version`, unless you want all features of that release: it also raises others, such as
    `kraft.version`, `transaction.version` and eligible leader replicas.

    ## References
    KIP-584 (features), KIP-778 (metadata.version), KIP-1022; KAFKA-15021.
    """
    if not view.kraft:
        yield view.judge("KA712", "cluster", Status.NOT_APPLICABLE, reason=NO_QUORUM)
        return
    found = view.features.get(METADATA_VERSION)
    if found is None or found.finalized is None or (found.supported is None and not found.differs):
        error = "no broker reported a finalized metadata.version"
        needs = "an answer to ApiVersions from a broker of Kafka 3.3 or later"
        yield view.judge("KA712", "cluster", Status.UNKNOWN, error=error, needs=needs)
        return
    evidence: dict[str, object] = {"finalized": metadata_release(found.finalized), "level": f"level {found.finalized}"}
    if found.differs:
        why = "brokers support different levels, an upgrade is in progress"
        yield view.judge("KA712", "cluster", Status.PASS, evidence, why=why)
    elif found.supported is not None and found.finalized < found.supported:
        evidence |= {"supported": metadata_release(found.supported), "highest": f"level {found.supported}"}
        yield view.judge("KA712", "cluster", Status.FAIL, evidence, target=found.supported)
    else:
        yield view.judge("KA712", "cluster", Status.PASS, evidence, why="the highest level that every broker supports")
