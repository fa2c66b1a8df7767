"""KA703."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, commonest, unknown_judgement
from kafka_audit.checks.configuration.versions import KEY, gap, offered_apis, protocol, unlike
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import brokers


@check(
    code="KA703",
    severity=Severity.MEDIUM,
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} runs a different version than {others}: {fault}",
        Status.PASS: "Broker {broker} runs the same version as the other brokers ({what})",
        Status.UNKNOWN: "Cannot determine whether {who} runs the same version as the others ({error})",
        Status.NOT_APPLICABLE: "No versions to compare: {reason}",
    },
)
def versions_differ(view: ClusterView) -> Iterator[Judgement]:
    """Brokers run different versions, or use different versions of the inter-broker protocol.

    ## Why it matters
    This is normal during an upgrade. If it remains, the upgrade is incomplete: clients see two kinds of brokers, fixed bugs
    return with a leader change, and the next upgrade starts from two versions.

    ## Fails when
    The APIs that the broker offers (ApiVersions), or their versions, differ from most brokers. Or
    `inter.broker.protocol.version` in effect differs; KRaft does not use that key.

    ## Not known when
    The broker did not answer ApiVersions, or no other broker did. If only server.properties were read: not all files set the
    key, because its default is the version of the software.

    ## Passes only when
    The broker offers the same APIs as most brokers and has the same protocol version. If only files were read, the protocol
    version was compared.

    ## What to do
    Complete the upgrade, one broker at a time: first the software on all brokers (broker {broker} differs from {others}), then
    `inter.broker.protocol.version` on all, if it is set. When the new protocol version is in use, a downgrade of the software
    is not possible.

    ## References
    Kafka documentation, "Upgrading".
    """
    effective = Effective(view)
    if len(effective.brokers) == 1:
        yield view.judge("KA703", "cluster", Status.NOT_APPLICABLE, reason="a single broker is known")
        return
    offers = offered_apis(view)
    software = commonest(offers) if offers else ()
    protocols = {broker: version for broker in effective.brokers if (version := protocol(effective, broker)) is not None}
    usual = commonest(named) if (named := {broker: version for broker, version in protocols.items() if version}) else ""
    alike = sorted(broker for broker, ranges in offers.items() if ranges == software)
    with_usual_protocol = sorted(other_broker for other_broker, version in protocols.items() if version == usual)
    for broker in effective.brokers:
        own, version = offers.get(broker), protocols.get(broker)
        faults = [unlike(dict(own), dict(software))] if own is not None and own != software else []
        others = alike if faults else with_usual_protocol
        if version and version != usual:
            faults.append(f"its {KEY} is {version}, not {usual}")
        evidence: dict[str, object] = {"broker": broker, "key": KEY, "others": brokers(others), "fault": " and ".join(faults)}
        evidence["other_brokers"] = tuple(others) or None
        if faults:
            yield view.judge("KA703", f"broker/{broker}", Status.FAIL, evidence)
        elif unread := gap(effective, broker, offers, protocols):
            yield unknown_judgement(effective, "KA703", broker, *unread)
        else:
            what = [f"{len(own)} APIs"] if own else []
            what += [f"{KEY} {version}"] if version else []
            yield view.judge("KA703", f"broker/{broker}", Status.PASS, evidence, what=", ".join(what))
    yield from no_brokers(view, "KA703")
