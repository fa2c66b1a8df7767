"""KA003."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Sample


@check(
    code="KA003",
    severity=Severity.LOW,
    says={
        Status.FAIL: "The snapshot took too long: {why}; more checks may be inconclusive",
        Status.PASS: "The newest sample took {seconds} s, and the controller did not change",
        Status.UNKNOWN: "Cannot determine whether the snapshot is consistent in time ({error})",
    },
)
def snapshot_skewed(view: ClusterView) -> Iterator[Judgement]:
    """A sample of the cluster took too long, or the controller changed between two samples.

    ## Why it matters
    A sample is not a transaction. The first and the last read can show different states of the cluster, so more differences end
    as "in motion" than the cluster has.

    ## Fails when
    The time between the first and the last read of a sample exceeds `limits.skew_s`, or `/controller` was written between two
    samples.

    ## Not known when
    The snapshot does not record when it was taken, or `/controller` in ZooKeeper was not read.

    ## Passes only when
    Every sample was taken within the limit, and the controller did not change.

    ## What to do
    Run the audit again when the cluster is quiet. If every audit is slow, look for brokers that time out: each costs
    `limits.read_s` (KA001 names them). If the controller changes repeatedly, search for the reason: `grep -E 'Session
    expired|Resigned' server.log controller.log`.

    ## References
    `limits` in `clusters.example.yaml`.
    """
    samples = view.of(Sample)
    info = view.info
    if not samples or info is None:
        yield view.judge("KA003", "cluster", Status.UNKNOWN, error="no timestamps were recorded", needs="another audit")
        return
    longest = max((sample.finished_ms - sample.started_ms) / 1000 for sample in samples)
    controllers = {state.controller_version for state in (view.state, view.state_before) if state is not None}
    why = []
    if longest > info.skew_s:
        why.append(f"a sample took {longest:.1f} s, the limit is {info.skew_s:g} s")
    if len(controllers) > 1:
        why.append("the controller changed between two samples")
    gap = None if view.kraft else view.gap("controller")
    if gap is not None and not why:
        yield view.judge("KA003", "cluster", Status.UNKNOWN, error=gap.error, needs=gap.needs)
        return
    seconds = f"{longest:.1f}"
    status = Status.FAIL if why else Status.PASS
    yield view.judge(
        "KA003",
        "cluster",
        status,
        seconds=seconds,
        limit=f"{info.skew_s:g}",
        samples=_count(view),
        why="; ".join(why),
    )


def _count(view: ClusterView) -> str:
    return str(sum(number is not None for number in view.samples))
