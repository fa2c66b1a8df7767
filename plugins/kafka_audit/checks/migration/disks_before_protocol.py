from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.checks.configuration.effective import Effective, each_broker
from kafka_audit.checks.configuration.versions import KEY
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.configuration.starts.protocol_versions import version


@gate_check(code="KA902", severity=Severity.HIGH, mode="zookeeper")
def disks_before_protocol(view: ClusterView) -> Judgements:
    """A broker has several log dirs (JBOD), and the inter-broker protocol is older than 3.7-IV2."""
    effective = Effective(view)

    def judged(broker: int) -> Judgements:
        value = effective.get(broker, KEY)
        dirs, known = _dirs(view, effective, broker), bool(value.known and value.text)
        evidence = {"broker": broker, "who": f"broker {broker}", "version": value.text or "unknown", "dirs": dirs}
        if dirs == 0 or (dirs > 1 and not known):
            error = f"{KEY if dirs else 'log.dirs'} is unknown"
            yield view.unknown(
                f"broker/{broker}", error, f"Describe and DescribeConfigs on Cluster, answered by broker {broker}", evidence
            )
        else:
            old = dirs > 1 and version(value.text or "") < version(behaviour("several_disks_migrate").first)
            yield view.judge(f"broker/{broker}", Status.FAIL if old else Status.PASS, evidence)

    yield from each_broker(effective, judged)


def _dirs(view: ClusterView, effective: Effective, broker: int) -> int:
    named = effective.settings.get(broker, "log.dirs").value or ""
    return max(len(view.log_dirs(broker)), len({part.strip() for part in named.split(",")} - {""}))
