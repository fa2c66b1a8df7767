"""A broker does not offer the SASL mechanism with which the others log in."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works


@fault
def mechanism_not_offered(facts: Facts, edge: Edge) -> Observations:
    """What a probe heard of the running broker, or its settings, which may be newer than what runs."""
    if edge.listener is None or not edge.listener.logs_in:
        return
    side, name = f"broker {edge.target}", edge.listener.name
    offered = facts.view.logins.offered_mechanisms(edge.target, name)
    wanted: dict[str, list[int]] = {}
    for source in facts.users(edge):
        wanted.setdefault(facts.between.mechanism(source).value or "", []).append(source)
    if not offered or not wanted:
        return
    heard = bool(facts.view.logins.probed_mechanisms(edge.target, name))
    for mechanism, sources in wanted.items():
        if mechanism and mechanism not in offered:
            text = f"it offers {', '.join(sorted(offered))}, not {mechanism}"
            yield fails(side, text, direct=heard, sources=sources, mechanism=mechanism)
    if wanted.keys() <= offered:
        yield works(side, f"it offers {', '.join(sorted(wanted))}", direct=True)
