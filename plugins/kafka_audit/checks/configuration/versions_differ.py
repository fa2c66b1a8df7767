"""KA703."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, commonest, unknown
from kafka_audit.checks.configuration.versions import KEY, gap, offered, protocol, unlike
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerApi, BrokerConfig, BrokerProperty, RegisteredBroker
from kafka_audit.model.text import brokers


@check(
    code="KA703",
    severity=Severity.MEDIUM,
    needs=(BrokerApi, BrokerConfig, BrokerProperty, RegisteredBroker),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} is of another version than {others}: {fault}",
        Status.PASS: "Broker {broker} speaks as others do ({what})",
        Status.UNKNOWN: "Cannot determine whether {who} is of the version of the others ({error})",
        Status.NOT_APPLICABLE: "No versions to compare: {reason}",
    },
)
def versions_differ(view: ClusterView) -> Iterator[Judgement]:
    """Brokers are of several versions, or speak several versions of the inter-broker protocol.

    ## Why it matters
    In the middle of an upgrade that is as it must be. Left so, it is an upgrade that nobody finished: clients meet two kinds of
    brokers, fixed faults come back with every change of leader, and the next upgrade begins from two versions.

    ## Fails when
    The APIs that the broker offers (ApiVersions), or their versions, are not those that most brokers offer. Or
    `inter.broker.protocol.version` in effect differs; KRaft does without that key.

    ## Not known when
    The broker did not answer ApiVersions, or no other did. By server.properties alone: where not all set the key, for its
    default is the version of the software.

    ## Passes only when
    It offers what most offer, and says the same protocol version; of files alone, the protocol version was compared.

    ## What to do
    Finish the upgrade, a broker at a time: first the software on all (broker {broker} is unlike {others}), then
    `inter.broker.protocol.version`, if it is set, on all. Once the new one is in use there is no way back to the old software.

    ## References
    Kafka documentation, "Upgrading".
    """
    effective = Effective(view)
    if len(effective.brokers) == 1:
        yield view.judge("KA703", "cluster", Status.NOT_APPLICABLE, reason="a single broker is known")
        return
    offers = offered(view)
    software = commonest(offers) if offers else ()
    spoken = {broker: version for broker in effective.brokers if (version := protocol(effective, broker)) is not None}
    usual = commonest(named) if (named := {broker: version for broker, version in spoken.items() if version}) else ""
    alike = brokers(one for one, ranges in offers.items() if ranges == software)
    speaking = brokers(one for one, version in spoken.items() if version == usual)
    for broker in effective.brokers:
        own, version = offers.get(broker), spoken.get(broker)
        faults = [unlike(dict(own), dict(software))] if own is not None and own != software else []
        others = alike if faults else speaking
        if version and version != usual:
            faults.append(f"its {KEY} is {version}, not {usual}")
        words = {"broker": broker, "key": KEY, "others": others, "fault": " and ".join(faults)}
        if faults:
            yield view.judge("KA703", f"broker/{broker}", Status.FAIL, words)
        elif unread := gap(effective, broker, offers, spoken):
            yield unknown(effective, "KA703", broker, *unread)
        else:
            what = [f"{len(own)} APIs"] if own else []
            what += [f"{KEY} {version}"] if version else []
            yield view.judge("KA703", f"broker/{broker}", Status.PASS, words, what=", ".join(what))
    yield from no_brokers(view, "KA703")
