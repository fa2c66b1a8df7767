"""KA003."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Sample, SnapshotInfo


@check(
    code="KA003",
    severity=Severity.LOW,
    needs=(Sample, SnapshotInfo),
    says={
        Status.FAIL: "Parts of the snapshot are of different moments: {why}; more than usual may end as in motion",
        Status.PASS: "The newest look took {seconds} s, and the controller did not change",
        Status.UNKNOWN: "Not known: whether all of the snapshot is of one moment ({error})",
    },
)
def snapshot_skewed(view: ClusterView) -> Iterator[Judgement]:
    """One look at the cluster took too long, or the controller changed between two looks.

    ## Why it matters
    A look is no transaction. What was read first and what was read last may be of different moments, so more differences end as
    "in motion" than the cluster has.

    ## Fails when
    The first and the last read of one look lie further apart than `limits.skew_s`, or `/controller` was written between two
    looks.

    ## Not known when
    The snapshot does not tell when it was taken.

    ## Passes only when
    Every look was taken within the limit, with one controller throughout.

    ## What to do
    Audit again in a quiet minute. If it is slow each time: brokers that time out cost `limits.read_s` each (KA001 names them).
    If the controller keeps changing, look there: `grep -E 'Session expired|Resigned' server.log controller.log`.

    ## References
    `limits` in `clusters.example.yaml`.
    """
    samples = view.of(Sample)
    info = view.info
    if not samples or info is None:
        yield view.judge("KA003", "cluster", Status.UNKNOWN, error="no times were kept", needs="another audit")
        return
    longest = max((sample.finished_ms - sample.started_ms) / 1000 for sample in samples)
    controllers = {state.controller_version for state in (view.state, view.state_before) if state is not None}
    why = []
    if longest > info.skew_s:
        why.append(f"one look took {longest:.1f} s, the limit is {info.skew_s:g} s")
    if len(controllers) > 1:
        why.append("the controller changed between two looks")
    seconds = f"{longest:.1f}"
    status = Status.FAIL if why else Status.PASS
    yield view.judge(
        "KA003",
        "cluster",
        status,
        seconds=seconds,
        limit=f"{info.skew_s:g}",
        looks=_count(view),
        why="; ".join(why),
    )


def _count(view: ClusterView) -> str:
    return str(sum(number is not None for number in view.samples))
