from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.answers.log_lines import says, when


@check(code="KA114", severity=Severity.HIGH)
def broker_id_taken(view: ClusterView) -> Judgements:
    """Two processes have the same broker id."""
    if not view.kraft:
        yield view.not_applicable("cluster", "with ZooKeeper the second process exits at its start")
        return
    reads = {read.observer.removeprefix("logs:"): read for read in view.last_reads if read.observer.startswith("logs:")}
    if not reads:
        yield view.not_applicable("cluster", "the cluster file names no `logs`")
        return
    for name, read in sorted(reads.items()):
        broker = int(name) if name.isdecimal() else None
        if broker is None or broker in view.controller_nodes:
            continue
        evidence = {"broker": broker, "who": f"broker {broker}"}
        lines = view.logs.counting("KA114", broker)
        if lines:
            why = f"{says(lines[0])}, last {when(lines[0])}"
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence, why=why)
        elif read.outcome == "failed":
            needs = read.needs or f"the log of broker {broker}"
            yield view.unknown(f"broker/{broker}", read.error or "not read", needs, evidence)
        else:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
