"""A broker's certificate is out of date, or does not name the address that the others connect to."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, unknown, works


@fault
def invalid_certificate(facts: Facts, edge: Edge) -> Observations:
    """The certificate that the broker presents shows its dates and names to every client.

    Whether brokers compare names is seldom known; where the controller was let in, they do not, or it is another certificate.
    """
    if edge.listener is None or not edge.listener.encrypted:
        return
    side, name, now = f"certificate of broker {edge.target}", edge.listener.name, facts.view.started_ms
    shown = facts.view.logins.certificate(edge.target, name)
    if shown is None:
        return
    if shown.not_after_ms < now:
        yield fails(side, "its certificate has expired", direct=True, dates="wrong")
    if shown.not_before_ms > now:
        yield fails(side, "its certificate is not valid yet", direct=True, dates="wrong")
    users = edge.sources or facts.between.users.get(name, ())
    compares = [facts.view.logins.checks_names(source, name) for source in users]
    if shown.name_matches or False in compares:
        if shown.not_before_ms <= now <= shown.not_after_ms:
            named = f"it is valid and names {shown.host}" if shown.name_matches else "it is valid, and names are not compared"
            yield works(side, named, direct=True)
        return
    text = f"its certificate does not name {shown.host} (it names {', '.join(shown.sans) or 'no host'})"
    if compares and None not in compares:
        yield fails(side, text, direct=facts.accepted(edge.target) is None, host=shown.host)
    elif facts.accepted(edge.target) is not None:
        yield fails(side, text, host=shown.host)
    elif _others_are_named(facts, edge.target, name):
        yield fails(side, f"{text}, but those of the other brokers name theirs", host=shown.host)
    else:
        yield unknown(side, text)


def _others_are_named(facts: Facts, broker: int, listener: str) -> bool:
    """Return whether the certificates of all other brokers name their hosts, as they must where names are compared."""
    others = [row for other, row in facts.certificates(listener).items() if other != broker]
    return bool(others) and all(row.name_matches for row in others)
