from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.replication.partitions import judge_partitions

_SEVERAL = 2


@check(code="KA611", severity=Severity.HIGH, parts=("brokers", "topics"))
def one_rack(view: ClusterView) -> Judgements:
    """All replicas of a partition are on one rack."""
    if len({registration.rack for registration in view.brokers.values() if registration.rack is not None}) < _SEVERAL:
        yield view.not_applicable("cluster", "brokers have fewer than two racks (KA708)")
    else:
        yield from judge_partitions(view, "one_rack", momentary=False, more=lambda state: {"rack": state.rack})
