"""Settings of topics and brokers that are changed while brokers run: whether Kafka takes them, and what they lose."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from kafka_audit.cluster.cordons import cordoned
from kafka_audit.cluster.given import capped
from kafka_audit.cluster.unclean import UNCLEAN
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.definitions import ConfigError, definitions
from kafka_audit.configuration.definitions.values import Value, integer
from kafka_audit.differences.tables import DefaultFactor, TopicOwnSetting
from kafka_audit.model.package_yaml import package_yaml
from kafka_audit.model.tables import BrokerApi
from kafka_audit.model.text import brokers, clean, counted, did_you_mean
from kafka_audit.what_if.steps.objections import (
    Objection,
    costs,
    keeper,
    missing_topic,
    never,
    not_now,
    placements,
    released,
    unknown_whether,
    unread,
)

_POLICY, _MIN_ISR, _TIERED, _LARGEST = "cleanup.policy", "min.insync.replicas", "remote.storage.enable", "max.message.bytes"
_SEGMENT, _LAGS = "segment.bytes", ("min.compaction.lag.ms", "max.compaction.lag.ms")
_RETENTION = {"retention.ms": "ms", "retention.bytes": "bytes"}
_DECIDES = frozenset({_POLICY, _MIN_ISR, UNCLEAN, _LARGEST, *_RETENTION})
"""Settings of topics of which a change is compared with what holds now."""
_UNLIMITED, _HOUR_MS, _MINUTE_MS = -1, 3_600_000, 60_000
_CONFIGS, _ELIGIBLE = "DescribeConfigs on Cluster", "eligible.leader.replicas.version"
_BY_TIME = "message.timestamp."
_RATE, _REPLICAS = re.compile(r"[0-9]{1,18}"), re.compile(r"\*|(?:[0-9]+:[0-9]+(?:, ?[0-9]+:[0-9]+)*)?")


@cache
def _keys() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = package_yaml(__package__, "settings.yaml")
    return found


@dataclass(frozen=True, kw_only=True)
class _SettingChange:
    """One key of a topic as its rules read it, or a broker's default of it. `before` is None where it is unset everywhere."""

    key: str
    where: str
    before: Value
    after: Value
    internal: str | None = None


def topic_setting(view: ClusterView, topic: str, key: str, text: str) -> Iterator[Objection]:
    """Yield what stands against a setting of a topic."""
    release, name = released(view), clean(topic)
    yield from missing_topic(view, topic)
    if release is None:
        yield unknown_whether("which release the brokers run", "an answer to ApiVersions from a broker")
        return
    known, own = _keys()["of_topics"], _keys()["topics_alone"]
    defined = definitions(release)
    if (key not in known and key not in own) or (key in known and known[key] not in defined):
        near = did_you_mean(key, [*known, *own])
        yield not_now(f"Kafka {release} has no setting {clean(key)} of topics{near}: it refuses it", "a setting that exists")
        return
    if key in own:
        yield from _of_topics_alone(view, key, text)
        return
    broker_key = known[key]
    try:
        after = defined[broker_key].value(text)
    except ConfigError as error:
        yield not_now(f"Kafka refuses the value: {clean(error.message, 200)}", "a value that Kafka takes")
        return
    if key.startswith(_BY_TIME) and isinstance(after, int):
        beyond = f"records further than {after} ms from now, which would be refused"
        yield unknown_whether(f"whether producers write to {name} {beyond}", "their clocks")
    elif key in {*_DECIDES, *_LAGS, _SEGMENT}:
        yield from _compared(view, release, topic, key, after)


def _compared(view: ClusterView, release: str, topic: str, key: str, after: Value) -> Iterator[Objection]:
    """Yield what stands against a value by what holds for the topic now."""
    name, known = clean(topic), _keys()["of_topics"]
    others = {_LARGEST} if key == _SEGMENT else {*_LAGS} if key in _LAGS else {key}
    gap, keys = view.min_isr_gap, () if view.info is None else view.info.topic_keys
    if not others <= {*keys}:
        yield unknown_whether(f"what {name} sets now: the snapshot is of an earlier version", "a new snapshot")
        return
    if gap is not None and gap.topics_unread:
        yield unknown_whether(f"what {name} sets now: {gap.error}", gap.needs)
        return
    own = _own(view, topic)
    held: dict[str, Value | _UnreadDefault] = {
        one: _value(release, known[one], own[one]) if one in own else _broker_value(view, release, known[one]) for one in others
    }
    if open_ones := [one for one, value in held.items() if isinstance(value, _UnreadDefault)]:
        yield unknown_whether(f"{known[open_ones[0]]} of the brokers, which holds for {name} now", _CONFIGS)
        return
    if key in _LAGS:
        low, high = ((held | {key: after})[one] for one in _LAGS)
        if isinstance(low, int) and isinstance(high, int) and low > high:
            why = f"{_LAGS[0]} would be {low}, above {_LAGS[1]}, {high}: Kafka refuses it"
            yield not_now(why, f"{_LAGS[0]} below {_LAGS[1]}")
        return
    before = next(value for value in held.values() if not isinstance(value, _UnreadDefault))
    change = _SettingChange(key=key, where=name, before=before, after=after, internal=keeper(topic))
    yield from _effects(change, _policy(view, release, topic))
    if key == _MIN_ISR:
        rows = placements(view, topic)
        factor = min((len(row.replicas) for row in rows), default=0)
        fewest = min((len(row.isr or ()) for row in rows), default=0)
        yield from _min_isr(view, change, factor, fewest)


class _UnreadDefault:
    """Brokers differ, or were not read."""


_UNREAD = _UnreadDefault()


def _own(view: ClusterView, topic: str) -> Mapping[str, str]:
    return {row.key: row.value for row in view.differences.of(TopicOwnSetting) if row.topic == topic}


def _value(release: str, key: str, text: str) -> Value:
    try:
        return definitions(release)[key].value(text)
    except ConfigError:
        return None


def _broker_value(view: ClusterView, release: str, key: str, only: Sequence[int] = ()) -> Value | _UnreadDefault:
    """Return what brokers have for a key; retention by hours or minutes counts. `_UNREAD` where they differ or were not read."""
    found = set()
    for broker in only or view.brokers:
        own = view.settings.answers.get(broker)
        if own is None:
            return _UNREAD
        texts = {name: own[name].value for name in (key, "log.retention.minutes", "log.retention.hours") if name in own}
        value = _value(release, key, texts[key] or "") if texts.get(key) else None
        if key == "log.retention.ms" and value is None:
            minutes, hours = texts.get("log.retention.minutes"), texts.get("log.retention.hours")
            value = int(minutes) * _MINUTE_MS if minutes else int(hours or 168) * _HOUR_MS
            value = _UNLIMITED if value < 0 else value
        found.add(value)
    return found.pop() if len(found) == 1 else _UNREAD


def _policy(view: ClusterView, release: str, topic: str | None) -> frozenset[str]:
    """Return the cleanup policies that hold; both where that is not known."""
    text = None if topic is None else _own(view, topic).get(_POLICY)
    value = _broker_value(view, release, "log.cleanup.policy") if text is None else _value(release, "log.cleanup.policy", text)
    return frozenset(value) if isinstance(value, tuple) else frozenset({"delete", "compact"})


def _effects(change: _SettingChange, policy: frozenset[str]) -> Iterator[Objection]:
    where, before, after = change.where, change.before, change.after
    if change.key in _RETENTION and "delete" in policy and isinstance(before, int) and isinstance(after, int):
        if after != _UNLIMITED and (before == _UNLIMITED or after < before):
            unit, now = _RETENTION[change.key], "without limit" if before == _UNLIMITED else str(before)
            beyond = f"records of {where} beyond {after} {unit}, in remote storage too"
            yield never(f"{change.key} falls to {after} ({now} now): Kafka deletes at once what is beyond it", beyond)
    elif change.key == _POLICY and isinstance(before, tuple) and isinstance(after, tuple) and {*after} - {*before}:
        for added in sorted({*after} - {*before}):
            if change.internal is not None:
                yield never(f"{where} would be cleaned up by {added}", change.internal)
            elif added == "compact":
                lost = f"all but the newest record of each key of {where}"
                yield never("compaction removes older records, and refuses those without a key", lost)
            else:
                yield never(f"records of {where} would be deleted by age and size", f"records of {where} beyond its retention")
    elif change.key == UNCLEAN and after is True and before is not True:
        lost = f"acknowledged records of {where}, whenever no in-sync replica runs"
        yield never("a replica that lacks records may become the leader", lost)
    elif change.key in {_LARGEST, _SEGMENT} and isinstance(before, int) and isinstance(after, int) and after < before:
        yield unknown_whether(
            f"whether producers write to {where} batches above {after} bytes, which would be refused", "their batch.size"
        )


def _min_isr(view: ClusterView, change: _SettingChange, factor: int, fewest: int) -> Iterator[Objection]:
    after, before = change.after, change.before
    if not isinstance(after, int) or not factor:
        return
    needed = min(after, factor) if capped(view.of(BrokerApi)) >= view.brokers.keys() else after
    if after > factor:
        why = f"{change.where} has {counted(factor, 'replica')}, fewer than {after}"
        yield not_now(
            f"{why}: acks=all is refused, always before Kafka 3.7, and from 3.7 on when one replica is missing",
            f"{counted(after, 'replica')} of each partition",
        )
    elif needed > fewest:
        why = (
            f"{fewest} of {counted(factor, 'replica')} of a partition of {change.where} are in sync: acks=all is refused at once"
        )
        yield not_now(why, f"{counted(needed, 'in-sync replica')} of each partition")
    elif after == factor > 1:
        yield costs(
            f"KA605 fails after this: each restart of a broker refuses acks=all writes to {change.where}",
            "those writes, and `kafka-audit may` says NOT NOW to each restart",
        )
    elif isinstance(before, int) and after < before:
        why = f"a record is acknowledged when {counted(after, 'replica has', 'replicas have')} it"
        yield costs(why, f"a record of {change.where} that no other has, if {'this one fails' if after == 1 else 'these fail'}")
    elif needed == fewest < factor:
        why = f"{fewest} of {counted(factor, 'replica')} of a partition of {change.where} are in sync, and all these are needed"
        yield costs(why, f"writes with acks=all to {change.where}, if one more is missing before the others are back")


def _of_topics_alone(view: ClusterView, key: str, text: str) -> Iterator[Objection]:
    if key != _TIERED:
        if key.endswith("throttled.replicas"):
            if not _REPLICAS.fullmatch(text):
                yield not_now("Kafka refuses the value: it names replicas as PARTITION:BROKER, or * for all", "such a list")
            return
        yield unknown_whether(f"what {clean(key)}={clean(text)} does to the topic", "`kafka-configs.sh --describe --all`")
    elif text.strip().lower() == "true":
        off = [
            broker
            for broker in view.brokers
            if (view.settings.running(broker, "remote.log.storage.system.enable").value != "true")
        ]
        if off:
            yield not_now(f"{brokers(off)} run without remote.log.storage.system.enable: Kafka refuses it", "it at every broker")
    else:
        yield unknown_whether("whether segments in remote storage are kept", "remote.log.delete.on.disable, remote.copy.disable")


def broker_setting(  # noqa: PLR0911 -- as above
    view: ClusterView, broker: int | None, key: str, text: str
) -> Iterator[Objection]:
    """Yield what stands against a setting of a broker, or of all where none is named."""
    release = released(view)
    asked = sorted(view.brokers) if broker is None else [broker]
    if gap := [*unread(view, "brokers", "which brokers there are")]:
        yield from gap
        return
    if unlisted := [one for one in asked if one not in view.brokers]:
        yield not_now(f"{brokers(unlisted)} {'is' if len(unlisted) == 1 else 'are'} not registered", "a broker that runs")
        return
    silent = [one for one in asked if one not in view.settings.answers]
    if release is None or silent:
        yield unknown_whether(f"settings of {brokers(silent or asked)}", _CONFIGS)
        return
    base = key.split(".", 3)[3] if key.startswith("listener.name.") and key.count(".") > 2 else key  # noqa: PLR2004 -- words before
    definition = definitions(release).get(base)
    if definition is None and base not in _keys()["brokers_alone"]:
        near = did_you_mean(base, definitions(release))
        yield not_now(f"Kafka {release} has no setting {clean(key)} of brokers{near}: it has no effect", "a setting that exists")
        return
    if base in _keys()["addresses"]:
        yield not_now(
            f"{clean(key)} may cut clients and brokers off", "`kafka-audit before-migration --kind listeners-or-security`"
        )
        return
    if base.startswith(("ssl.", "sasl.", "principal.")) or base in _keys()["connections"]:
        yield unknown_whether(
            f"whether all clients of {brokers(asked)} still connect", f"`kafka-audit lint` of a file with {clean(key)}"
        )
        return
    try:
        after = None if definition is None else definition.value(text)
    except ConfigError as error:
        yield not_now(f"Kafka refuses the value: {clean(error.message, 200)}", "a value that Kafka takes")
        return
    if definition is None and not _RATE.fullmatch(text):
        yield not_now("Kafka refuses the value: a rate is a number of bytes a second", "such a number")
    yield from _accepted(view, asked, base, after)
    yield from _defaults(view, release, asked, base, after, everywhere=broker is None)


def _accepted(view: ClusterView, asked: Sequence[int], key: str, after: Value) -> Iterator[Objection]:
    """Yield why running brokers refuse the change."""
    if key in _keys()["brokers_alone"]:
        return
    rows = {broker: view.settings.answers[broker].get(key) for broker in asked}
    unknown = [broker for broker, row in rows.items() if row is None or row.read_only is None]
    fixed = [broker for broker, row in rows.items() if row is not None and row.read_only]
    if fixed:
        why = f"{clean(key)} is read-only at {brokers(fixed)}: Kafka refuses it while the broker runs"
        yield not_now(why, "a line in server.properties, and a restart (`kafka-audit lint FILE --against CLUSTER` first)")
    elif unknown:
        yield unknown_whether(f"whether {clean(key)} can be changed at {brokers(unknown)} without a restart", _CONFIGS)
    if key in _keys()["threads"] and isinstance(after, int):
        for broker, row in rows.items():
            now = integer(row.value or "") or 0 if row is not None else 0
            if now and not now // 2 <= after <= now * 2:
                yield not_now(
                    f"broker {broker} has {clean(key)}={now}: Kafka refuses less than half of it, and more than twice",
                    f"a value from {max(1, now // 2)} to {now * 2}",
                )
    if key == "cordoned.log.dirs":
        closed = frozenset(asked)
        open_ones = [
            broker for broker in view.brokers.keys() - closed if not cordoned(view, broker) >= view.log_dirs(broker).keys()
        ]
        whole = isinstance(after, tuple) and all("*" in after or {*view.log_dirs(broker)} <= {*after} for broker in asked)
        if whole and not open_ones:
            yield not_now("every log dir of every broker would be cordoned: no topic can be created", "a log dir that stays open")


def _defaults(  # noqa: PLR0913 -- whose setting it is, and which
    view: ClusterView, release: str, asked: Sequence[int], key: str, after: Value, *, everywhere: bool
) -> Iterator[Objection]:
    """Yield what topics without a setting of their own lose."""
    of_topics = {broker_key: topic_key for topic_key, broker_key in _keys()["of_topics"].items()}
    topic_key = of_topics.get(key)
    if topic_key not in {*_DECIDES, _SEGMENT}:
        return
    before = _broker_value(view, release, "message.max.bytes" if topic_key == _SEGMENT else key, asked)
    if isinstance(before, _UnreadDefault):
        yield unknown_whether(f"{key} of {brokers(asked)}, which holds now", f"the same value at each, or {_CONFIGS}")
        return
    where = "topics without a setting of their own"
    change = _SettingChange(key=str(topic_key), where=where, before=before, after=after)
    yield from _effects(change, _policy(view, release, None))
    if topic_key == _MIN_ISR:
        feature, gap = view.features.get(_ELIGIBLE), view.min_isr_gap
        if feature is not None and feature.finalized and not everywhere:
            why = f"{_ELIGIBLE} is finalized: Kafka refuses {_MIN_ISR} of one broker"
            yield not_now(why, "`set brokers`, for all of them")
        yield from unread(view, "topics", "which topics there are")
        if gap is not None and gap.topics_unread:
            yield unknown_whether(f"which topics set {_MIN_ISR} themselves: {gap.error}", gap.needs)
        for row in sorted(view.differences.of(DefaultFactor), key=lambda row: row.factor)[:1]:
            named = _SettingChange(key=_MIN_ISR, where=f"topic {clean(row.first)}", before=change.before, after=after)
            yield from _min_isr(view, named, row.factor, row.fewest)
    if not everywhere and topic_key in {_MIN_ISR, UNCLEAN} and len(view.brokers) > 1:
        yield costs("only this broker would apply it: set it for all brokers", "the same answer by every leader")
