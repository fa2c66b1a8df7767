from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, commonest, unknown_judgement
from kafka_audit.checks.configuration.versions import KEY, gap, offered_apis, protocol, unlike
from kafka_audit.checks.gaps import no_brokers, tied
from kafka_audit.model.tables import Migration
from kafka_audit.model.text import brokers

_QUORUM = 55
"""DescribeQuorum, which brokers without ZooKeeper offer: on its way there, the same release has two sets of APIs."""


@check(code="KA703", severity=Severity.MEDIUM, by_files=True)
def versions_differ(view: ClusterView) -> Judgements:
    """Brokers run different versions, or use different versions of the inter-broker protocol."""
    effective = Effective(view)
    if len(effective.brokers) == 1:
        yield view.not_applicable("cluster", "a single broker is known")
        return
    offers = offered_apis(view)
    sides = {broker: bool(view.newest(Migration)) and any(key == _QUORUM for key, _ in own) for broker, own in offers.items()}
    of_side = {side: {broker: offers[broker] for broker in offers if sides[broker] is side} for side in set(sides.values())}
    usual_of_side = {side: commonest(own) for side, own in of_side.items()}
    alike = {side: sorted(broker for broker in own if own[broker] == usual_of_side[side]) for side, own in of_side.items()}
    protocols = {broker: version for broker in effective.brokers if (version := protocol(effective, broker)) is not None}
    usual = commonest(named) if (named := {broker: version for broker, version in protocols.items() if version}) else ""
    undecided = tied(protocols, len(effective.brokers))
    with_usual_protocol = sorted(other_broker for other_broker, version in protocols.items() if version == usual)
    for broker in effective.brokers:
        own, version = offers.get(broker), protocols.get(broker)
        side = sides.get(broker, False)
        software = usual_of_side.get(side, ())
        faults = [unlike(dict(own), dict(software))] if own is not None and own != software else []
        others = alike[side] if faults else with_usual_protocol
        if version and version != usual:
            faults.append(f"its {KEY} is {version}, not {usual}")
        evidence: dict[str, object] = {"broker": broker, "key": KEY, "others": brokers(others), "fault": " and ".join(faults)}
        evidence["other_brokers"] = tuple(others) or None
        if faults:
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence)
        elif undecided:
            yield unknown_judgement(effective, broker, "as many brokers use another protocol, and that of the others is unknown")
        elif unread := gap(effective, broker, offers, protocols):
            yield unknown_judgement(effective, broker, *unread)
        else:
            what = [f"{len(own)} APIs"] if own else []
            what += [f"{KEY} {version}"] if version else []
            yield view.judge(f"broker/{broker}", Status.PASS, evidence, what=", ".join(what))
    yield from no_brokers(view)
