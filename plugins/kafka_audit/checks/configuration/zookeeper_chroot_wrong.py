from collections import Counter

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import NO_ZOOKEEPER, no_brokers, tied
from kafka_audit.compare.connect_strings import chroot_of
from kafka_audit.model.text import brokers as names

_KEY = "zookeeper.connect"


@check(code="KA716", severity=Severity.HIGH, by_files=True)
def zookeeper_chroot_wrong(view: ClusterView) -> Judgements:
    """The chroot in zookeeper.connect is written after each address, or differs between brokers."""
    settings = view.settings
    brokers = [broker for broker in view.inter_broker.brokers if settings.get(broker, _KEY).state != "unset"]
    if view.kraft or (not brokers and view.inter_broker.brokers):
        yield view.not_applicable("cluster", NO_ZOOKEEPER if view.kraft else f"no broker sets {_KEY}")
        return
    found = {broker: settings.get(broker, _KEY) for broker in brokers}
    chroots = {broker: chroot_of(setting.value) for broker, setting in found.items() if setting.value}
    kinds = Counter(chroots.values())
    usual = min(kinds, key=lambda chroot: (-kinds[chroot], chroot), default="")
    undecided = tied(chroots, len(brokers))
    for broker in brokers:
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}", "key": _KEY}
        alone = len(chroots) == 1 < len(brokers)
        if broker not in chroots or (alone and "," not in chroots[broker]):
            error = f"{_KEY} of the other brokers is unknown" if broker in chroots else f"{_KEY} is unknown"
            needs = "DescribeConfigs on Cluster, or server.properties of every broker as it gets it"
            yield view.unknown(resource, error, needs, evidence)
            continue
        chroot = chroots[broker]
        others = [other for other, other_chroot in chroots.items() if other_chroot == usual]
        if "," in chroot:
            used = (found[broker].value or "").partition("/")[0]
            fault = f"it uses only {used} of its ZooKeeper servers: the rest is read as the path {chroot}"
            yield view.judge(resource, Status.FAIL, evidence, fault=fault)
        elif chroot == usual and undecided:
            error = "as many brokers have another chroot, and that of the others is unknown"
            needs = "DescribeConfigs on Cluster, or server.properties of every broker as it gets it"
            yield view.unknown(resource, error, needs, evidence)
        elif chroot == usual:
            yield view.judge(resource, Status.PASS, evidence, chroot=chroot or "/")
        else:
            fault = f"its data is below {chroot or '/'}, that of {names(others)} below {usual or '/'}"
            severity = None if view.inter_broker.asked else Severity.MEDIUM
            facts = evidence | {"fault": fault, "other_brokers": tuple(others)}
            yield view.judge(resource, Status.FAIL, facts, severity=severity)
    yield from no_brokers(view)
