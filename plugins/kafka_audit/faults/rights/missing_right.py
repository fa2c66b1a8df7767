"""A broker's authorizer denies ClusterAction to the principal of its controller or its followers."""

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.faults.edges import CONTROL, FOLLOW
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, unknown, works


@fault
def missing_right(facts: Facts, edge: Edge) -> Observations:
    """Super users and ACLs of the target decide; where a hidden setting could still allow it, they only suggest it."""
    broker, settings = edge.target, f"settings of broker {edge.target}"
    rejected = next(_at_controllers(facts, edge), None) if edge.kind == FOLLOW else None
    if rejected is not None:
        yield rejected
        return
    authorizer = facts.between.authorizer(broker)
    if authorizer.state == "unset":
        yield works(settings, f"broker {broker} runs no authorizer", direct=True)
        return
    if edge.kind == FOLLOW:
        yield unknown(settings, "the rights of brokers at their controllers are not read")
        return
    pairs = [pair for pair in facts.rights(broker) if not edge.sources or set(edge.sources) & set(pair.sources)]
    denied = [pair for pair in pairs if pair.allowed is False]
    if denied:
        yield fails(settings, denied[0].why, direct=denied[0].principal.certain)
    elif pairs and all(pair.allowed for pair in pairs):
        since = edge.effect.state != "works" and facts.let_in_again(broker)
        yield unknown(settings, f"now {pairs[0].why}") if since else works(settings, pairs[0].why, direct=True)
    elif any(pair.hidden for pair in pairs) and not _let_in_elsewhere(facts, edge):
        yield fails(settings, next(pair.why for pair in pairs if pair.hidden))
    elif authorizer.value:
        open_pairs = [pair.why for pair in pairs if pair.allowed is None]
        yield unknown(settings, f"an authorizer is set on broker {broker}" + "".join(f"; {why}" for why in open_pairs[:1]))
    else:
        yield unknown(settings, f"broker {broker} did not report whether an authorizer is set")


def _at_controllers(facts: Facts, edge: Edge) -> Observations:
    """Yield what logs report of requests of a broker that its controllers rejected."""
    for line in facts.view.logs.of_nodes("KA220"):
        if line.about_broker == edge.target:
            own = line.broker_id == edge.target
            party = f"{'broker' if own else 'controller'} {line.broker_id}"
            text = says(line) if own else f"{party} rejects its requests as {line.detail or 'an unknown principal'}"
            yield fails(f"log of {party}", text, direct=True)


def _let_in_elsewhere(facts: Facts, edge: Edge) -> bool:
    """Return whether another broker with an authorizer lets the others in: a hidden difference is less likely then."""
    others = (broker for broker in facts.between.brokers if broker != edge.target and facts.between.authorizer(broker).value)
    if edge.kind == CONTROL:
        return not {*facts.accepting}.isdisjoint(others)
    return any(facts.view.partitions.led_by((broker,)) and not facts.edges.behind(broker) for broker in others)
