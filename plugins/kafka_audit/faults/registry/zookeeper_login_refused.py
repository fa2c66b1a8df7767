"""ZooKeeper refuses the SASL login of a broker."""

from collections.abc import Iterator

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.faults.cause import SESSION_LOGIN, EdgeObservation, cause, fails, works
from kafka_audit.faults.edges import COORDINATE, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.model.log_signatures import login_fault


@cause(
    kind=SESSION_LOGIN,
    layer=4,
    edges=(COORDINATE,),
    rare=True,
    decided_by="`SASL authentication` in server.log of {sources}",
    remedy="Correct the section `Client` of the JAAS file of {sources}, or its user in ZooKeeper, and restart the broker.",
)
def zookeeper_login_refused(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """Only the broker's log shows it: its login is in a JAAS file, which no file that is audited contains."""
    lines = facts.lines(edge, "KA412")
    if not lines and facts.log_was_read(edge.target):
        yield works(f"log of broker {edge.target}", "it reports no refused login, which a client repeats", direct=True)
    for line in lines[:1]:
        show = works if login_fault(line) == "certificate" else fails
        yield show(f"log of broker {line.broker_id}", says(line), direct=True)
    for line in facts.lines(edge, "KA401")[:1]:
        yield works(f"log of broker {line.broker_id}", f"{says(line)}, so it has a session", direct=True)
