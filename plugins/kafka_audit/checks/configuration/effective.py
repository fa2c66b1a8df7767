"""Settings in effect: DescribeConfigs; otherwise dynamic settings in ZooKeeper, then server.properties, then Kafka's default."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import TypeVar

from kafka_audit.checks import ClusterView, Judgement, Judgements
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.configuration.definitions import VERSIONS, definitions
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.tables import DynamicConfig
from kafka_audit.model.tables.views import DEFAULT_SOURCE

_T = TypeVar("_T")

_FINER: Mapping[str, tuple[tuple[str, int], ...]] = MappingProxyType(
    {"log.retention.hours": (("log.retention.ms", 1), ("log.retention.minutes", 60_000), ("log.retention.hours", 3_600_000))}
)
"""Keys that say the same in several units, the one that wins first."""


@dataclass(frozen=True, kw_only=True)
class Value:
    """A setting in effect. `text` is None if it is not set and has no default; `known` is False if no source reports it."""

    key: str
    known: bool
    text: str | None = None
    explicit: bool = False  # set; otherwise Kafka's default applies
    source: str = "unknown"

    @property
    def number(self) -> int | None:
        """The value as a whole number, None where it is none."""
        return integer(self.text or "", 64)

    @property
    def true(self) -> bool:
        """Return whether a boolean is true."""
        return (self.text or "").lower() == "true"


class Effective:
    """Settings in effect at every broker of a snapshot; controllers without the role of a broker are left out."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the snapshot; rows are indexed when first asked for."""
        self.view = view
        self.between = view.inter_broker
        self.settings = self.between.settings

    @cached_property
    def brokers(self) -> tuple[int, ...]:
        """Every broker that is registered, answered or has a file that was read."""
        return self.between.brokers

    def was_read(self, broker: int) -> bool:
        """Return whether anything of a broker's settings was read."""
        return broker in self.settings.answers or broker in self.settings.files

    def get(self, broker: int, key: str) -> Value:
        """Return a setting in effect; of keys that say the same in several units the one that wins, in the finest unit."""
        for name, unit in _FINER.get(key, ()):
            value = self._one(broker, name)
            if value.known and value.number is not None and (value.explicit or name == key):
                scaled = value.number if value.number < 0 else value.number * unit
                return Value(key=name, known=True, text=str(scaled), explicit=value.explicit, source=value.source)
            if not value.known:
                return value
        return self._one(broker, key)

    def _one(self, broker: int, key: str) -> Value:
        reported = self.settings.answers.get(broker, {}).get(key)
        if reported is not None and (reported.value or not reported.sensitive):
            explicit = reported.source != DEFAULT_SOURCE
            text = (reported.value or "").strip() or None
            return Value(key=key, known=True, text=text, explicit=explicit, source="DescribeConfigs")
        dynamic = self.dynamic.get((broker, key)) or self.dynamic.get((None, key))
        if dynamic is not None and broker not in self.settings.answers:
            return Value(key=key, known=dynamic.value is not None, text=dynamic.value, explicit=True, source="/config/brokers")
        setting = self.settings.get(broker, key)
        if not setting.known or self.dynamic_unread(broker):
            return Value(key=key, known=False)
        text = setting.value.strip() if setting.value else next(iter(defaults(key)), None)
        return Value(key=key, known=True, text=text, explicit=bool(setting.value), source=setting.source)

    def dynamic_unread(self, broker: int) -> bool:
        """Return whether a file alone describes the broker, and the dynamic settings that win over it could not be read."""
        return broker not in self.settings.answers and self._dynamic_failed

    @cached_property
    def _dynamic_failed(self) -> bool:
        failed = (read.operation for read in self.view.last_reads if read.outcome == "failed" and read.observer == "zookeeper")
        return any(operation.startswith("zookeeper /config/brokers") for operation in failed)

    @cached_property
    def dynamic(self) -> Mapping[tuple[int | None, str], DynamicConfig]:
        """Dynamic settings in ZooKeeper by broker (None: of all) and key."""
        return {(row.broker_id, row.key): row for row in self.view.of(DynamicConfig)}


@lru_cache(maxsize=4096)  # keys are the brokers'
def defaults(key: str) -> tuple[str | None, ...]:
    """Return what the judged releases take where a key is not set, the newest one's first; None for no value."""
    found = [definition.default for version in reversed(VERSIONS) if (definition := definitions(version).get(key)) is not None]
    return tuple(dict.fromkeys(map(_text, found)))


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else None if value is None else str(value)


@lru_cache(maxsize=4096)
def _type(key: str) -> str:
    reported = (definitions(version).get(key) for version in reversed(VERSIONS))
    return next((config.type for config in reported if config is not None), "STRING")


def plain(key: str, text: str | None) -> str:
    """Return a value in the notation that all spellings of it share."""
    if text is None:
        return "not set"
    match _type(key):
        case "LIST":
            return ",".join(sorted({part.strip() for part in text.split(",")} - {""}))
        case "BOOLEAN":
            return text.lower()
        case "INT" | "LONG" | "SHORT" if (number := Value(key=key, known=True, text=text).number) is not None:
            return str(number)
        case _:
            return text


def comparable_values(key: str, values: Mapping[int, Value]) -> Mapping[int, str]:
    """Return each broker's value in one notation, so that what means the same is equal.

    A file does not contain the release of the broker: if only some files set a key, and to the default of a release, the others
    have the same value.
    """
    values_set = {plain(key, value.text) for value in values.values() if value.explicit}
    usual = next((default for default in map(partial(plain, key), defaults(key)) if default in values_set), None)
    return {
        broker: usual if usual and not value.explicit and value.text in defaults(key) else plain(key, value.text)
        for broker, value in values.items()
    }


def commonest(values: Mapping[int, _T]) -> _T:
    """Return what most brokers have; of equals the first in order."""
    kinds = Counter(values.values())
    return min(kinds, key=lambda kind: (-kinds[kind], repr(kind)))


def each_broker(
    effective: Effective, judged: Callable[[int], Iterable[Judgement]], *keys: str, together: bool = False
) -> Judgements:
    """Yield what is judged of each broker whose settings were read, and whose settings of these keys are known.

    The others are UNKNOWN, and so is the cluster where no broker is known. `together`: the same fault of brokers is one finding.
    """
    found = (judgement for broker in effective.brokers for judgement in _unread(effective, broker, keys) or judged(broker))
    yield from one_finding(effective.view, found) if together else found
    yield from no_brokers(effective.view)


def _unread(effective: Effective, broker: int, keys: Iterable[str]) -> tuple[Judgement, ...]:
    if not effective.was_read(broker):
        return (unknown_judgement(effective, broker, "its settings were not read"),)
    hidden = next((key for key in keys if not effective.get(broker, key).known), None)
    return (unknown_judgement(effective, broker, f"{hidden} is unknown"),) if hidden else ()


def unknown_judgement(effective: Effective, broker: int, error: str, needs: str | None = None) -> Judgement:
    """Return the judgement for a broker with unknown settings, with the required data; by default any source of settings."""
    if needs is None and broker in effective.settings.files and effective.dynamic_unread(broker):
        needs = "DescribeConfigs on Cluster, or read on /config/brokers in ZooKeeper"
    needs = needs or f"DescribeConfigs on Cluster, or server.properties of broker {broker} (`properties` in the cluster file)"
    return effective.view.unknown(f"broker/{broker}", error, needs, broker=broker, who=f"broker {broker}")
