from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, each_broker, unknown_judgement
from kafka_audit.checks.gaps import NO_QUORUM

_KEY = "process.roles"


@check(code="KA215", severity=Severity.LOW, by_files=True)
def combined_roles(view: ClusterView) -> Judgements:
    """A node is a broker and a controller in one process."""
    effective = Effective(view)
    roles = {broker: effective.settings.get(broker, _KEY) for broker in view.inter_broker.brokers}
    if roles and not any(setting.value for setting in roles.values()) and not view.kraft:
        yield view.not_applicable("cluster", NO_QUORUM)
        return
    if len({*roles, *view.settings.controllers}) == 1 and view.inter_broker.asked:
        yield view.not_applicable("cluster", "the cluster has one node")
        return

    def judged(broker: int) -> Judgements:
        if not roles[broker].value:
            yield unknown_judgement(effective, broker, f"{_KEY} is unknown")
            return
        both = {"broker", "controller"} <= {role.strip() for role in (roles[broker].value or "").split(",")}
        evidence = {"broker": broker, "who": f"broker {broker}", "key": _KEY}
        yield view.judge(f"broker/{broker}", Status.FAIL if both else Status.PASS, evidence)

    yield from each_broker(effective, judged, together=True)
