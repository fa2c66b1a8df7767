"""A broker closes connections above a limit; the inter-broker listener is not exempt from the limit of an address."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import LIMIT, EdgeObservation, cause, fails, let_in, works
from kafka_audit.diagnosis.edges import CONTROL, REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts

_KEYS = ("max.connections.per.ip", "max.connections.per.ip.overrides", "max.connections", "max.connection.creation.rate")
_NO_LIMIT = {None, "", "2147483647"}
_LOW = 100  # what brokers and the tools on their hosts reach


@cause(
    kind=LIMIT,
    layer=2,
    edges=(CONTROL, REPLICATE),
    rare=True,
    remedy="Raise max.connections.per.ip (or max.connections.per.ip.overrides, max.connections) of broker {target} above what a "
    "host needs: a connection of the controller, num.replica.fetchers of each broker there, and its clients.",
    decided_by="`Rejected connection from` in server.log of broker {target}, or `ss -tn` there",
)
def connection_limit(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """`max.connections.per.ip` counts connections of brokers as well (`SocketServer`): DescribeConfigs shows the limit."""
    yield from let_in(edge)
    settings, listener = facts.between.settings, "" if edge.listener is None else edge.listener.name
    read = {key: settings.running_at(edge.target, listener, key) for key in _KEYS}
    limits = {key: setting.value for key, setting in read.items() if setting.value not in _NO_LIMIT}
    if not limits and all(setting.known for setting in read.values()):
        yield works(f"settings of broker {edge.target}", "no limit on connections is set")
    low = {key: value for key, value in limits.items() if any(_is_low(part) for part in (value or "").split(","))}
    if low:
        named = ", ".join(f"{key}={value}" for key, value in low.items())
        yield fails(f"settings of broker {edge.target}", f"{named}, which also limits connections of brokers")


def _is_low(part: str) -> bool:
    number = part.rpartition(":")[2].strip()
    return number.isdecimal() and int(number) <= _LOW
