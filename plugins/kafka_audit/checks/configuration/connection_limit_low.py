from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, each_broker, unknown_judgement
from kafka_audit.compare.addresses import canonical_host
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, entries
from kafka_audit.model.text import brokers, counted

_NOWHERE = "the host of broker "
_MOST = 2**31 - 1
_LIMIT, _OVERRIDES, _FETCHERS = "max.connections.per.ip", "max.connections.per.ip.overrides", "num.replica.fetchers"


@check(code="KA718", severity=Severity.HIGH, by_files=True)
def connection_limit_low(view: ClusterView) -> Judgements:
    """A broker accepts fewer connections from one address than the brokers at that address open."""
    effective = Effective(view)
    read = [broker for broker in effective.brokers if effective.was_read(broker)]
    fetchers = {broker: effective.get(broker, _FETCHERS) for broker in read}
    by_host: defaultdict[str, list[int]] = defaultdict(list)
    for broker in read:
        for host in _hosts(view, broker) or {f"{_NOWHERE}{broker}"}:
            by_host[host].append(broker)
    unread = [broker for broker in effective.brokers if broker not in read]

    def judged(broker: int) -> Judgements:
        limit, overrides = effective.get(broker, _LIMIT), effective.get(broker, _OVERRIDES)
        evidence: dict[str, object] = {"broker": broker, "who": f"broker {broker}"}
        is_limited = not limit.known or not overrides.known or bool(overrides.text) or (limit.number or 0) < _MOST
        hidden = next((value.key for value in (limit, overrides, *fetchers.values()) if not value.known), None)
        if not is_limited:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
        elif hidden:
            yield unknown_judgement(effective, broker, f"{hidden} is unknown")
        else:
            numbers = {other: value.number or 1 for other, value in fetchers.items()}
            limits = _AddressLimits(limit.number or 0, _by_host(overrides.text or ""))
            found = _limited(view, evidence, limits, by_host, numbers)
            lacks = unread and found.status is Status.PASS
            error = f"how many connections {brokers(unread)} open{'s' if len(unread) == 1 else ''}, and from where, is unknown"
            yield unknown_judgement(effective, broker, error) if lacks else found

    yield from each_broker(effective, judged, together=True)


@dataclass(frozen=True)
class _AddressLimits:
    """How many connections a broker accepts from one address, and from some."""

    usual: int
    by_host: Mapping[str, int]


def _limited(
    view: ClusterView,
    evidence: dict[str, object],
    limits: _AddressLimits,
    by_host: Mapping[str, list[int]],
    fetchers: Mapping[int, int],
) -> Judgement:
    """Judge a broker that has limits by the host from which the other brokers open most above them."""
    broker = evidence["broker"]
    resource, nowhere = f"broker/{broker}", [host for host in by_host if host.startswith(_NOWHERE) and by_host[host] != [broker]]
    for host in sorted(by_host):
        sources = [other for other in by_host[host] if other != broker]
        count, allowed = sum(fetchers[other] for other in sources), limits.by_host.get(host, limits.usual)
        if allowed < count:
            key = _OVERRIDES if host in limits.by_host else _LIMIT
            facts: dict[str, object] = {"limit": counted(allowed, "connection"), "key": key, "host": host, "count": count}
            facts["source_brokers"] = tuple(sources)
            return view.judge(resource, Status.FAIL, evidence | facts)
    every = sum(number for other, number in fetchers.items() if other != broker)
    if nowhere and min([limits.usual, *limits.by_host.values()]) < every:
        unknown = brokers(other for host in nowhere for other in by_host[host])
        facts = {"error": f"the host of {unknown} is unknown", "needs": "advertised.listeners of every broker"}
        return view.judge(resource, Status.UNKNOWN, evidence | facts)
    return view.judge(resource, Status.PASS, evidence)


def _hosts(view: ClusterView, broker: int) -> frozenset[str]:
    """Return the hosts that a broker advertises, as registered, else by its settings."""
    settings = {key: view.settings.get(broker, key).value for key in (KEY, INSTEAD, CONTROLLERS)}
    registered: list[str | None] = [endpoint.host for endpoint in view.inter_broker.endpoints.get(broker, {}).values()]
    hosts = registered or [listener.host for listener in entries(settings)]
    return frozenset(canonical_host(host) for host in hosts if host)


def _by_host(overrides: str) -> Mapping[str, int]:
    """Return limits by host, as `max.connections.per.ip.overrides` has them."""
    pairs = (part.strip().rpartition(":") for part in overrides.split(","))
    found = ((host, integer(count.strip())) for host, _, count in pairs)
    return {canonical_host(host): count for host, count in found if host and count is not None}
