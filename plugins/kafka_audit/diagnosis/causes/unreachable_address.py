"""The address that a broker advertises cannot be resolved or reached."""

from collections.abc import Iterator

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.diagnosis.cause import ADDRESS, EdgeObservation, cause, fails, unknown, works
from kafka_audit.diagnosis.edges import CONTROL, REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts
from kafka_audit.model.text import brokers


@cause(kind=ADDRESS, layer=1, edges=(CONTROL, REPLICATE), decided_by="`nc -vz -w 3 {host} {port}` on {where}")
def unreachable_address(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """A probe from the source's own host, or its log, shows it. Only the same two speak against it: routes differ by host."""
    if edge.effect.state == "works":
        yield works(f"broker {edge.target}", edge.effect.text, direct=True)
    if edge.listener is None:
        return
    found = facts.paths(edge.target, edge.listener.name)
    sources = set(edge.sources)
    closed = sources & set(found.closed)
    for source in sorted(closed):
        layer = found.failed.get(source)
        how = "" if layer is None else f" at {layer.layer}: {layer.error or 'an unknown error'}"
        yield fails(f"probe from broker {source}'s host", f"fails{how}", direct=True)
    if sources and sources <= set(found.open):
        yield works(
            f"probe from the host of {brokers(edge.sources)}", f"a probe from the host of {edge.who} connects", direct=True
        )
    elif sources and not closed:
        tried = facts.view.probes_of(edge.target, edge.listener.name)
        asked = any(probe.role == "broker" and probe.from_broker in sources for probe in tried)
        where = f"from the host of {edge.who}"
        once = "fails in one sample only" if sources & set(found.moving) else "has no result"
        yield unknown("vantages", f"the probe {where} {once}" if asked else f"no probe ran {where}")
    for line in facts.lines(edge, "KA302")[:1]:
        yield fails(f"log of broker {line.broker_id}", says(line), direct=True)
    if not closed:
        for line in (*facts.lines(edge, "KA412"), *facts.lines(edge, "KA401"))[:1]:
            yield works(f"log of broker {line.broker_id}", f"{says(line)}, so the connection opens", direct=True)
