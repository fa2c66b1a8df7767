"""KA901."""

from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.configuration.effective import Effective, commonest, unread_judgements
from kafka_audit.checks.configuration.versions import KEY, offered_apis, unlike
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status

_BEGINS, _DOCUMENTED = (3, 6), (3, 9)
"""Below 3.6-IV1 the KRaft controller does not begin the migration; the documentation of 3.9 asks for 3.9."""


@gate_check(code="KA901", severity=Severity.HIGH)
def protocol_too_old(view: ClusterView) -> Iterator[Judgement]:
    """Brokers run a version or use a protocol that cannot migrate to KRaft, or they run different versions."""
    if none := tuple(already_migrated(view)):
        yield from none
        return
    effective = Effective(view)
    offers = offered_apis(view)
    usual = commonest(offers) if offers else ()
    for broker in effective.brokers:
        value = effective.get(broker, KEY)
        if not effective.was_read(broker):
            continue
        evidence = {"broker": broker, "who": f"broker {broker}", "version": value.text or "of its software"}
        faults, severity = [], Severity.MEDIUM
        if value.known and value.text and _numbers(value.text) < _DOCUMENTED:
            begins = _numbers(value.text) >= _BEGINS and value.text != "3.6-IV0"
            faults.append(f"its {KEY} is {value.text}, below {'3.9' if begins else '3.6-IV1'}")
            severity = Severity.MEDIUM if begins else Severity.HIGH
        if broker in offers and offers[broker] != usual:
            faults.append(unlike(dict(offers[broker]), dict(usual)))
            severity = Severity.HIGH
        if faults:
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence, severity=severity, fault=" and ".join(faults))
        elif not value.known or not value.text:
            gap = {"error": f"{KEY} is unknown", "needs": f"DescribeConfigs on Cluster, answered by broker {broker}"}
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, evidence | gap)
        else:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
    yield from unread_judgements(effective)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("-")[0].split(".")[:2] if part.isdecimal())
