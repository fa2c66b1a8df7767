"""Two brokers have no TLS version, or no cipher, in common."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works
from kafka_audit.model.text import brokers

_VERSIONS, _CIPHERS = "ssl.enabled.protocols", "ssl.cipher.suites"


@fault
def tls_versions_differ(facts: Facts, edge: Edge) -> Observations:
    """Settings of both sides show it without any probe."""
    if edge.listener is None or not edge.listener.encrypted or not edge.sources:
        return
    compared = [(source, key, *_both(facts, edge, source, key)) for source in edge.sources for key in (_VERSIONS, _CIPHERS)]
    for source, key, there, here in compared:
        if there and here and not there & here:
            text = f"{key} is {_listed(there)} at broker {edge.target} and {_listed(here)} at broker {source}"
            yield fails("settings of both", text)
    if all((there is not None and here is not None) and (there & here or not (there and here)) for *_, there, here in compared):
        yield works(
            "settings of both", f"broker {edge.target} and {brokers(edge.sources)} have TLS versions and ciphers in common"
        )


def _both(facts: Facts, edge: Edge, source: int, key: str) -> tuple[frozenset[str] | None, frozenset[str] | None]:
    """Return the values of a key at both ends: None where it is unknown, empty where any is allowed."""
    return _values(facts, edge.target, edge, key), _values(facts, source, edge, key)


def _values(facts: Facts, broker: int, edge: Edge, key: str) -> frozenset[str] | None:
    name = "" if edge.listener is None else edge.listener.name
    setting = facts.between.settings.running_at(broker, name, key)
    if not setting.known:
        return None
    return frozenset(part.strip() for part in (setting.value or "").split(",") if part.strip())


def _listed(values: frozenset[str]) -> str:
    return ", ".join(sorted(values))
