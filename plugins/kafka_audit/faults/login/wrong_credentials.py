"""A broker does not know the user of the others, or knows another password."""

from collections.abc import Iterator

from kafka_audit.faults.cause import LOGIN, EdgeObservation, cause, fails, works
from kafka_audit.faults.edges import CONTROL, FOLLOW, REPLICATE, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.handshakes import WITH_LOGIN, login_lines
from kafka_audit.model.text import brokers


@cause(
    kind=LOGIN,
    protocols=WITH_LOGIN,
    layer=4,
    edges=(CONTROL, REPLICATE, FOLLOW),
    decided_by="`Authentication failed` in server.log of {sources}, or server.properties of broker {target} and of {sources}",
    words="an unknown user or password",
)
def wrong_credentials(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """Files of both sides show it, and the log of the refused side; no probe does, and a SCRAM password is seen nowhere."""
    yield from login_lines(facts.lines(edge, "KA412"), "credential")
    if edge.kind == FOLLOW or edge.listener is None or not edge.listener.logs_in:
        return
    faults = [fault for fault in facts.logins(edge.target, edge.listener) if fault.kind in {"credential", "scram_user"}]
    for fault in faults:
        yield fails(f"file of broker {edge.target}", fault.text, direct=True)
    between, name = facts.between, edge.listener.name
    known = facts.view.logins.known_users(edge.target, name, "PLAIN") if name in between.plain else None
    plain = all(between.mechanism(source).value == "PLAIN" for source in edge.sources)
    if known and plain and not faults:
        yield works(f"file of broker {edge.target}", f"it has the user and password of {brokers(edge.sources)}", direct=True)
