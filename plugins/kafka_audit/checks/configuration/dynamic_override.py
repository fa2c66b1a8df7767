import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, plain, unknown_judgement
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.model.text import brokers

_SOURCES: Mapping[int, str] = MappingProxyType({2: "broker", 3: "all"})  # Kafka's ConfigSource
# What is one broker's own by nature: addresses, key stores, and throttles that a reassignment sets and takes away.
_OWN = re.compile(
    r"(?:advertised\.)?listeners|listener\..*|ssl\..*|.*throttled\.(?:rate|replicas)|.*\.io\.max\.bytes\.per\.second"
)


@dataclass(frozen=True, kw_only=True)
class _Override:
    """A dynamic setting of one broker; `scope` "broker" where it is that broker's own, "all" where it is every broker's."""

    key: str
    value: str | None  # None: hidden
    scope: str
    source: str


@check(code="KA702", severity=Severity.MEDIUM, by_files=True)
def dynamic_override(view: ClusterView) -> Judgements:
    """A dynamic setting contradicts server.properties, or is set on some brokers only."""
    effective = Effective(view)
    asked = any(read.operation == "zookeeper /config/brokers" and read.outcome == "answered" for read in view.last_reads)
    found = {
        broker: _dynamic_overrides(effective, broker)
        for broker in effective.brokers
        if asked or effective.dynamic or broker in effective.settings.answers
    }
    for broker in effective.brokers:
        if broker not in found:
            needs = f"DescribeConfigs on Cluster, answered by broker {broker}"
            needs += "" if view.kraft else ", or read on /config/brokers in ZooKeeper"
            yield unknown_judgement(effective, broker, "dynamic settings were not read", needs)
            continue
        faults = [
            judgement for override in found[broker].values() for judgement in _faults_of(effective, found, broker, override)
        ]
        yield from faults
        if found[broker] and broker not in effective.settings.files and not faults:
            needs = f"server.properties of broker {broker} (`properties` in the cluster file)"
            yield unknown_judgement(effective, broker, "it has dynamic settings, and its file was not read", needs)
        elif not faults:
            count = len(found[broker]) or "no"
            yield view.judge(f"broker/{broker}", Status.PASS, broker=broker, count=count)
    yield from no_brokers(view)


def _dynamic_overrides(effective: Effective, broker: int) -> Mapping[str, _Override]:
    """Return a broker's dynamic settings by key, its own before those of all: as ZooKeeper holds them, else by its word."""
    dynamic_now = {
        key: _Override(key=key, value=row.value, scope=_SOURCES[row.source], source="DescribeConfigs")
        for key, row in effective.settings.answers.get(broker, {}).items()
        if row.source in _SOURCES
    }
    held = {
        key: _Override(key=key, value=row.value, scope="all" if scope is None else "broker", source="/config/brokers")
        for (scope, key), row in sorted(effective.dynamic.items(), key=lambda item: item[0][0] is not None)
        if scope in {None, broker}
    }
    return dynamic_now | held


def _faults_of(
    effective: Effective, found: Mapping[int, Mapping[str, _Override]], broker: int, own_override: _Override
) -> Judgements:
    """Yield what is wrong with one dynamic setting of one broker: at most one judgement."""
    line = effective.settings.files.get(broker, {}).get(own_override.key)
    wrong = [_against(own_override, line.value)] if line is not None and line.value and own_override.value is not None else []
    unlike: list[int] = []
    if own_override.scope == "broker" and not _OWN.fullmatch(own_override.key):
        text, unlike = _on_some(
            own_override, {owner: overrides.get(own_override.key) for owner, overrides in found.items() if owner != broker}
        )
        wrong.append(text)
    if any(wrong):
        scope = "all brokers" if own_override.scope == "all" else f"broker {broker} alone"
        evidence: dict[str, object] = {
            "broker": broker,
            "key": own_override.key,
            "value": "hidden" if own_override.value is None else own_override.value,
            "scope": scope,
        }
        evidence |= {
            "fault": " and ".join(filter(None, wrong)),
            "source": own_override.source,
            "other_brokers": tuple(sorted(unlike)) or None,
        }
        yield effective.view.judge(f"broker/{broker}/config/{own_override.key}", Status.FAIL, evidence)


def _against(own_override: _Override, line: str) -> str:
    return (
        ""
        if plain(own_override.key, own_override.value) == plain(own_override.key, line.strip())
        else f"its server.properties says {line.strip()}"
    )


def _on_some(own_override: _Override, others: Mapping[int, _Override | None]) -> tuple[str, list[int]]:
    """Return what is wrong with a setting of some brokers, "" for nothing, and the brokers that differ."""
    lacking = [broker for broker, other in others.items() if other is None]
    if lacking:
        return f"{brokers(lacking)} {'has' if len(lacking) == 1 else 'have'} none", lacking
    unlike = [other_broker for other_broker, other in others.items() if other is not None and other.value != own_override.value]
    if 2 * len(unlike) <= len(others):
        return "", []
    return f"{brokers(unlike)} {'has' if len(unlike) == 1 else 'have'} another one", unlike
