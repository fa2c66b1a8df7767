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


@gate_check(
    code="KA901",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Broker {broker} is not ready to migrate to KRaft: {fault}",
        Status.PASS: "Broker {broker} uses inter-broker protocol {version} and runs the same version as the others",
        Status.UNKNOWN: "Cannot determine whether the version of {who} can migrate ({error})",
        Status.NOT_APPLICABLE: "No migration to prepare: {reason}",
    },
)
def protocol_too_old(view: ClusterView) -> Iterator[Judgement]:
    """Brokers run a version or use a protocol that cannot migrate to KRaft, or they run different versions.

    ## Why it matters
    Kafka's documentation requires software and inter-broker protocol 3.9 on all brokers before the migration. Below 3.6-IV1 a
    KRaft controller of 3.9 does not begin it. Below 3.4 a broker does not start with `zookeeper.metadata.migration.enable`. The
    protocol must not change during the migration. A low protocol does not migrate everything: SCRAM users need 3.5-IV2,
    delegation tokens 3.6-IV2.

    ## Fails when
    `inter.broker.protocol.version` in effect is below 3.9 (HIGH; MEDIUM from 3.6-IV1 on, because the controller begins the
    migration), or a broker offers different APIs than most: an upgrade is incomplete.

    ## Not known when
    A broker did not report its protocol version, or no broker is known.

    ## Passes only when
    The protocol in effect was read and is 3.9, and the broker offers the same APIs as the others. The check does not apply in
    KRaft mode.

    ## What to do
    Upgrade all brokers to 3.9, one at a time. After `inter.broker.protocol.version=3.9` a downgrade of the software is not
    possible: set it on all brokers (broker {broker}: {fault}), again one at a time, only when all of them run without errors.

    ## References
    KIP-866; Kafka 3.9 documentation, "ZooKeeper to KRaft Migration", "Preparing for migration".
    """
    if none := tuple(already_migrated(view, "KA901")):
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
            yield view.judge("KA901", f"broker/{broker}", Status.FAIL, evidence, severity=severity, fault=" and ".join(faults))
        elif not value.known or not value.text:
            gap = {"error": f"{KEY} is unknown", "needs": f"DescribeConfigs on Cluster, answered by broker {broker}"}
            yield view.judge("KA901", f"broker/{broker}", Status.UNKNOWN, evidence | gap)
        else:
            yield view.judge("KA901", f"broker/{broker}", Status.PASS, evidence)
    yield from unread_judgements(effective, "KA901")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("-")[0].split(".")[:2] if part.isdecimal())
