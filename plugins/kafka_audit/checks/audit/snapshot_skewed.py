from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.model.tables import Sample


@check(code="KA003", severity=Severity.LOW)
def snapshot_skewed(view: ClusterView) -> Judgements:
    """A sample of the cluster took too long, or the controller changed between two samples."""
    samples = view.of(Sample)
    info = view.info
    if not samples or info is None:
        yield view.unknown("cluster", "no timestamps were recorded", "another audit")
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
        yield view.unknown("cluster", gap.error, gap.needs)
        return
    seconds = f"{longest:.1f}"
    status = Status.FAIL if why else Status.PASS
    yield view.judge(
        "cluster",
        status,
        severity=None if longest > info.skew_s else Severity.INFO,
        seconds=seconds,
        limit=f"{info.skew_s:g}",
        samples=str(sum(number is not None for number in view.samples)),
        why="; ".join(why),
    )
