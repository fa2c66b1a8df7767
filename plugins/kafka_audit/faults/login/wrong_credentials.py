"""A broker does not know the user of the others, or knows another password."""

from kafka_audit.faults.edges import FOLLOW
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works
from kafka_audit.model.text import brokers


@fault
def wrong_credentials(facts: Facts, edge: Edge) -> Observations:
    """Files of both sides show it, and the log of the refused side; no probe does, and a SCRAM password is seen nowhere."""
    if edge.kind == FOLLOW or edge.listener is None or not edge.listener.logs_in:
        return
    side, name, logins = f"file of broker {edge.target}", edge.listener.name, facts.view.logins
    users, wrong = {*facts.users(edge)}, False
    for (mechanism, username, digest), clients in facts.between.logins.get(name, {}).items():
        known, sources = logins.known_users(edge.target, name, mechanism), sorted({*clients} & users)
        if known is None or not sources:
            continue
        if username not in known:
            wrong, text = True, f"it does not know user {username} ({mechanism})"
            scram = {"user": username, "mechanism": mechanism} if mechanism.startswith("SCRAM-") else {}
            yield fails(side, text, direct=True, sources=sources, **scram)
        elif known[username] not in {None, digest}:
            wrong, text = True, f"it has a different password for user {username} ({mechanism})"
            yield fails(side, text, direct=True, sources=sources)
    known = logins.known_users(edge.target, name, "PLAIN") if name in facts.between.plain else None
    plain = all(facts.between.mechanism(source).value == "PLAIN" for source in users)
    if known and plain and users and not wrong:
        yield works(side, f"it has the user and password of {brokers(sorted(users))}", direct=True)
