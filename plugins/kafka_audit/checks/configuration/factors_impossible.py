from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, Value, each_broker, unknown_judgement
from kafka_audit.cluster.releases import does
from kafka_audit.differences.tables import InternalTopic
from kafka_audit.model.addresses.voters import VOTERS, named_voters
from kafka_audit.model.tables import BrokerProperty, SnapshotInfo
from kafka_audit.model.text import counted

_MIN_ISR, _DEFAULT = "min.insync.replicas", "default.replication.factor"


@dataclass(frozen=True, kw_only=True)
class _CreatedTopic:
    """An internal topic that brokers create when it is first used."""

    name: str
    factor: str  # the key of its replicas
    min_isr: str  # the key of what its writes require in sync
    stops: str
    severity: Severity = Severity.HIGH


_TOPICS = (
    _CreatedTopic(
        name="__consumer_offsets",
        factor="offsets.topic.replication.factor",
        min_isr=_MIN_ISR,
        stops="Consumer groups",
    ),
    _CreatedTopic(
        name="__transaction_state",
        factor="transaction.state.log.replication.factor",
        min_isr="transaction.state.log.min.isr",
        stops="Transactions",
    ),
    _CreatedTopic(
        name="__share_group_state",
        factor="share.coordinator.state.topic.replication.factor",
        min_isr="share.coordinator.state.topic.min.isr",
        stops="Share groups",
        severity=Severity.MEDIUM,
    ),
)
_NEW = _CreatedTopic(
    name="new topics", factor=_DEFAULT, min_isr=_MIN_ISR, stops="Topics with default settings", severity=Severity.MEDIUM
)


@dataclass(frozen=True, kw_only=True)
class _Impossible:
    """What cannot be, and the line to look at."""

    topic: _CreatedTopic
    key: str
    text: str
    severity: Severity
    by_size: bool  # more replicas than brokers; otherwise more in sync than replicas, which release 3.7 takes for all of them


@check(code="KA717", severity=Severity.HIGH, by_files=True)
def factors_impossible(view: ClusterView) -> Judgements:
    """Internal or new topics require more replicas than there are brokers, or more in sync than they have."""
    effective = Effective(view)
    size, whole = _size(effective), _is_whole(effective)
    exist = {row.topic for row in view.differences.of(InternalTopic)}
    topics = [*(topic for topic in _TOPICS if topic.name not in exist), _NEW]

    def judged(broker: int) -> Judgements:
        reported = effective.settings.answers.get(broker, {})
        by_file = broker in effective.settings.files or not reported
        # A running broker reports its defaults as well: a key that it does not report, its release does not have.
        own = [topic for topic in topics if by_file or topic.factor in reported]
        keys = sorted({key for topic in own for key in (topic.factor, topic.min_isr)})
        values = {key: effective.get(broker, key) for key in keys}
        bounded = does(view, broker, "min_isr_bounded")
        found = [*_faults(own, values, size, whole=whole)]
        faults = sorted((one for one in found if one.by_size or bounded is False), key=lambda fault: -fault.severity)
        unknown = [key for key, value in values.items() if not value.known]
        unknown += ["its release"] if found and bounded is None else []
        if faults:
            first = faults[0]
            evidence = {"broker": broker, "who": f"broker {broker}", "key": first.key, "brokers_known": size}
            evidence |= {"stops": first.topic.stops, "fault": "; ".join(fault.text for fault in faults)}
            sure = Confidence.MEASURED if first.severity is first.topic.severity else Confidence.INFERRED
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence, severity=first.severity, confidence=sure)
        elif unknown:
            yield unknown_judgement(effective, broker, f"{', '.join(unknown)} unknown")
        elif not own:
            yield unknown_judgement(effective, broker, "it reports no factor")
        elif size is None:
            error, needs = "the number of brokers is unknown", "the files of the other brokers"
            yield unknown_judgement(effective, broker, error, needs)
        else:
            yield view.judge(f"broker/{broker}", Status.PASS, broker=broker)

    yield from each_broker(effective, judged, together=True)


def _size(effective: Effective) -> int | None:
    """Return how many brokers there are, as far as anything shows; None where files alone do not."""
    view, settings = effective.view, effective.settings
    # One that is down is known by what is assigned to it.
    ids = set(effective.brokers) | (set(view.known_brokers) if effective.between.asked else set())
    if not settings.combined.isdisjoint(effective.brokers):
        ids |= {voter for broker in effective.brokers for voter in named_voters(settings.get(broker, VOTERS).value)}
    size = max(len(ids), *(info.expect_brokers or 1 for info in view.of(SnapshotInfo)), 1)
    # A file without an id may be that of several brokers.
    named = all(any(settings.get(broker, key).value for key in ("node.id", "broker.id")) for broker in effective.brokers)
    return size if effective.between.asked or (size > 1 and named) or _is_expected(view) else None


def _is_expected(view: ClusterView) -> bool:
    """Return whether the number of brokers is given: by the cluster file, or by the one file that describes all nodes."""
    return any(info.expect_brokers is not None for info in view.of(SnapshotInfo))


def _is_whole(effective: Effective) -> bool:
    """Return whether there can be no further broker: a running cluster, one file for all, or all that the voters name."""
    own = effective.brokers
    sources = {row.source for row in effective.view.of(BrokerProperty) if row.broker_id in own}
    voters = {voter for broker in own for voter in named_voters(effective.settings.get(broker, VOTERS).value)}
    return effective.between.asked or _is_expected(effective.view) or len(sources) == 1 or voters == {*own}


def _faults(topics: list[_CreatedTopic], values: Mapping[str, Value], size: int | None, *, whole: bool) -> Iterator[_Impossible]:
    """Yield what cannot be; `size` is the number of brokers, None where it is not known, of the whole cluster or not."""
    count = counted(size or 0, "broker") if whole else f"the {size} brokers whose files were read"
    by_size = Severity.HIGH if whole else Severity.MEDIUM
    for topic in topics:
        factor, required = values[topic.factor], values[topic.min_isr]
        if factor.number is None or (topic.severity is Severity.MEDIUM and not factor.explicit and not required.explicit):
            continue
        if size is not None and factor.number > size:
            text = f"{topic.factor} is {factor.number}, with {count}"
            # A default hurts only clients with transactions.
            usual = topic.severity if factor.explicit or topic.name == "__consumer_offsets" else Severity.MEDIUM
            yield _Impossible(topic=topic, key=topic.factor, text=text, severity=min(usual, by_size), by_size=True)
        elif required.number is not None and required.number > factor.number:
            key = topic.min_isr if required.explicit else topic.factor
            text = f"{topic.min_isr} is {required.number}, with {counted(factor.number, 'replica')} ({topic.factor})"
            yield _Impossible(topic=topic, key=key, text=text, severity=topic.severity, by_size=False)
