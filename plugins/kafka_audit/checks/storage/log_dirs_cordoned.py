from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.cordons import cordoned
from kafka_audit.model.text import clean, counted, listing

_KEY = "cordoned.log.dirs"


@check(code="KA509", severity=Severity.LOW)
def log_dirs_cordoned(view: ClusterView) -> Judgements:
    """Log directories are cordoned, so that they get no new replica."""
    brokers = sorted(view.brokers)
    states = {broker: view.settings.running(broker, _KEY) for broker in brokers}
    if brokers and all(_KEY not in view.settings.reported(broker) for broker in brokers if view.settings.reported(broker)):
        answered = [broker for broker in brokers if view.settings.reported(broker)]
        if len(answered) == len(brokers):
            yield view.not_applicable("cluster", "no broker has the setting cordoned.log.dirs (Kafka 4.3)")
            return
    whole: list[int] = []
    for broker in brokers:
        evidence: dict[str, object] = {"broker": broker}
        dirs, closed = view.log_dirs(broker), cordoned(view, broker)
        if not states[broker].known:
            yield view.unknown(f"broker/{broker}", f"{_KEY} was not read", "DescribeConfigs on Cluster", evidence)
        elif not states[broker].value:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
        elif not dirs:
            yield view.unknown(
                f"broker/{broker}", "its log dirs were not read", "Describe on Cluster, for DescribeLogDirs", evidence
            )
        elif closed >= dirs.keys():
            whole.append(broker)
            every = {"places": "every log dir", "which": tuple(sorted(dirs))}
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence | every, severity=Severity.MEDIUM)
        else:
            some = sorted(closed & dirs.keys()) or sorted(closed)
            places = f"{counted(len(some), 'log dir')} ({listing(map(clean, some), 5)})"
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence | {"places": places, "which": tuple(some)})
    if not brokers:
        yield view.unknown("cluster", "no broker was read", "a broker that answers", broker="any")
    elif whole == brokers:
        places = "every log dir of every broker"
        yield view.judge("cluster", Status.FAIL, {"broker": "each", "places": places}, severity=Severity.HIGH)
