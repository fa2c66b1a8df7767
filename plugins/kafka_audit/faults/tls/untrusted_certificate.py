"""The others do not trust the CA that signed a broker's certificate, as after a CA was replaced in the wrong order."""

from kafka_audit.faults.edges import CONTROL, FOLLOW
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works
from kafka_audit.model.text import brokers, clean


@fault
def untrusted_certificate(facts: Facts, edge: Edge) -> Observations:
    """Only the peers' truststores decide: that the auditor trusts a certificate, or does not, says nothing about them.

    A source that accepts another broker's certificate trusts the key that signed it.
    """
    if edge.kind == FOLLOW or edge.listener is None or not edge.listener.encrypted:
        return
    shown = facts.certificates(edge.listener.name)
    own = shown.get(edge.target)
    if own is None or not edge.sources:
        return
    accepted = [[other for other in _accepted(facts, edge, source) if other in shown] for source in edge.sources]
    if not all(accepted):
        return
    alike = {other: facts.are_signed_alike(own, shown[other]) for others in accepted for other in others}
    if all(any(alike[other] for other in others) for others in accepted):
        same = sorted(other for other, is_same in alike.items() if is_same)
        text = f"accepted by {edge.who}: {brokers(same)}, whose certificate has the same issuer"
        yield works(f"certificate of broker {edge.target}", text)
    elif set(alike.values()) == {False}:
        is_named_alike = any(shown[other].issuer == own.issuer for other in alike)
        issuer = f"{clean(own.issuer, 100)} with another key" if is_named_alike else clean(own.issuer, 100)
        others = f"{edge.who} is known to accept only certificates of other {'keys' if is_named_alike else 'issuers'}"
        yield fails(f"certificate of broker {edge.target}", f"its issuer is {issuer}; {others}")


def _accepted(facts: Facts, edge: Edge, source: int) -> list[int]:
    """Return the other brokers that a source is known to be connected with: the controller updates them, a follower follows."""
    if edge.kind == CONTROL:
        return [other for other in facts.accepting if other != edge.target]
    others = (other for other in facts.between.brokers if other not in {edge.target, source})
    return [other for other in others if facts.view.partitions.led_by((other,)) and source not in facts.edges.behind(other)]
