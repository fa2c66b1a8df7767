"""A follower copies what it lacks: after a restart, behind a throttle, or because it was slower than its leader for a while."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, unknown, works


@fault
def catching_up(facts: Facts, edge: Edge) -> Observations:
    """What a follower lacks is copied, which takes hours for large partitions; until the last of them it is out of the ISR."""
    absent = {*facts.edges.absent(edge.target)}
    for source in edge.sources:
        lag = facts.edges.lag(edge.target, source)
        if source not in absent:
            yield works("partitions", f"broker {source} is in sync with broker {edge.target}")
        else:
            yield {"passing": fails, "unknown": unknown, "missing": works}[lag.state]("partitions", lag.text)
    if not edge.sources:
        yield works("partitions", "no follower is out of all ISRs")
