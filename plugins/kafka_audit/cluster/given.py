"""The small tables that the queries over partition-sized tables are given, for one judged snapshot."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kafka_audit.cluster.answers.gaps import broker_defaults, min_isr_gap, unread_znodes
from kafka_audit.cluster.features import ELIGIBLE_REPLICAS, cluster_features
from kafka_audit.cluster.quorum import Quorum
from kafka_audit.cluster.registry import RegistrySample
from kafka_audit.cluster.samples import Samples
from kafka_audit.cluster.settings import AUTHORIZER, Settings
from kafka_audit.cluster.unclean import default_of_topics, ignored_by_all
from kafka_audit.cluster.views import BEFORE, NOW, PREVIOUS, HeldViews, Moments
from kafka_audit.differences.tables import (
    ChosenSample,
    ElectionRule,
    FormerLeader,
    KnownBroker,
    KnownEligible,
    ListAge,
    LostBroker,
    LostDisk,
    ObserverView,
    Reassigned,
    ReferenceList,
)
from kafka_audit.model.tables import (
    BrokerApi,
    BrokerConfig,
    BrokerFeature,
    EligibleReplicas,
    FileRelease,
    LeadershipAnswer,
    Reassignment,
    Row,
    Snapshot,
)

_FETCH, _CAPPED_FROM = 1, 16


def capped(apis: Iterable[BrokerApi]) -> frozenset[int]:
    """Return brokers of Kafka 3.7 or later (Fetch version 16), where no topic needs more in sync than it has replicas."""
    return frozenset(row.broker_id for row in apis if row.api_key == _FETCH and row.max_version >= _CAPPED_FROM)


def reassigned(samples: Samples, sample: int | None, moment: str) -> tuple[Reassigned, ...]:
    """Return partitions under reassignment in a sample, from all observers, with all added and removed replicas."""
    found: dict[tuple[str, int], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for row in samples.at(Reassignment, sample):
        adding, removing = found[row.topic, row.partition]
        adding.update(row.adding)
        removing.update(row.removing)
    return tuple(
        Reassigned(
            moment=moment, topic=topic, partition=partition, adding=tuple(sorted(adding)), removing=tuple(sorted(removing))
        )
        for (topic, partition), (adding, removing) in sorted(found.items())
    )


_STORAGE_ERROR = 56
_NAMES_LISTENER_ERROR = 6  # Metadata version from which on a leader without the listener is error 72
_MINUTE_MS = 60_000


def ages_needed(snapshot: Snapshot, previous: Snapshot | None) -> bool:
    """Return whether brokers of a KRaft cluster hold different topics, so that `ListAge` must be asked for first.

    `given` without ages names the lists that are to be compared.
    """
    moments = Moments(snapshot, previous, ())
    return any(len({broker_list.topics_digest for broker_list in registry.lists}) > 1 for registry in moments.by_name.values())


def given(
    snapshot: Snapshot,
    previous: Snapshot | None,
    ages: Sequence[ListAge],
    losses: Iterable[LostBroker | LostDisk] | None = None,
) -> tuple[Row, ...]:
    """Return the rows of `differences.tables.GIVEN` for one judged snapshot.

    Args:
        snapshot: its small tables.
        previous: those of the snapshot that it is compared with.
        ages: what `ListAge` returned; empty where `ages_needed` says no.
        losses: the brokers and log dirs that go with each loss; each broker and each rack by default.
    """
    moments = Moments(snapshot, previous, ages)
    return (
        *_chosen(moments),
        *(row for moment, registry in moments.by_name.items() for row in _lists(registry, moment)),
        *_views(moments.views, NOW, moments),
        *_views(moments.views_before, BEFORE, moments),
        *_brokers(moments),
        *reassigned(moments.samples, moments.now.sample, NOW),
        *reassigned(moments.samples_earlier, moments.previous.sample, PREVIOUS),
        *_former_leaders(moments),
        *(single_losses(moments) if losses is None else losses),
        _election_rule(moments),
        *(
            KnownEligible(topic=row.topic, partition=row.partition, brokers=row.eligible)
            for row in moments.samples.at(EligibleReplicas, moments.now.sample)
            if row.leader is not None
        ),
    )


def single_losses(moments: Moments) -> Iterator[LostBroker]:
    """Yield the brokers that go with each broker and, where there are several, each rack."""
    brokers = moments.now.brokers
    racks: dict[str, list[int]] = {}
    for broker, row in brokers.items():
        if row.rack is not None:
            racks.setdefault(row.rack, []).append(broker)
    lost = {f"broker:{broker}": [broker] for broker in brokers}
    lost |= {f"rack:{rack}": gone for rack, gone in racks.items()} if len(racks) > 1 else {}
    yield from (LostBroker(loss=loss, broker_id=broker, margin=0) for loss, gone in lost.items() for broker in gone)


def _election_rule(moments: Moments) -> ElectionRule:
    samples, settings, brokers = moments.samples, Settings(moments.samples), moments.now.brokers
    eligible = cluster_features(samples.of(BrokerFeature)).get(ELIGIBLE_REPLICAS)
    return ElectionRule(
        unclean=default_of_topics(settings, brokers, Quorum(samples).now.voters, kraft=samples.kraft),
        unclean_used=not (samples.kraft and ignored_by_all(samples.of(FileRelease), settings.answers, brokers)),
        eligible=eligible is not None and bool(eligible.finalized),
    )


def _source(registry: RegistrySample) -> str:
    snapshot = registry.samples.snapshot
    return "" if snapshot is None else snapshot.snapshot_id


def _chosen(moments: Moments) -> Iterator[ChosenSample]:
    for moment, registry in moments.by_name.items():
        yield ChosenSample(
            moment=moment,
            source_id=_source(registry),
            sample=registry.sample or 0,
            kraft=registry.samples.kraft,
            steady=moment == NOW and moments.steady,
            minutes=_minutes(moments) if moment == NOW else None,
            controller_epoch=None if registry.state is None else registry.state.controller_epoch,
            first_zxid=None if registry.state is None else registry.state.first_zxid,
            unread_topics="topics" in unread_znodes(registry.samples.last_reads),
        )


def _minutes(moments: Moments) -> float | None:
    now, earlier = moments.samples.info, moments.samples_earlier.info
    return None if now is None or earlier is None else (now.started_ms - earlier.started_ms) / _MINUTE_MS


def _lists(registry: RegistrySample, moment: str) -> Iterator[ReferenceList]:
    """Yield lists of topics once each: brokers that list other brokers may hold the same topics."""
    places: dict[str, int] = {}
    for broker_list in registry.lists:  # the newest first
        places.setdefault(broker_list.topics_digest, broker_list.place)
    tied = sum(place == 1 for place in places.values())
    for digest, place in places.items():
        yield ReferenceList(moment=moment, source_id=_source(registry), topics_digest=digest, place=place, tied=tied)


def _views(views: HeldViews, moment: str, moments: Moments) -> Iterator[ObserverView]:
    source, settings = _source(moments.now), Settings(moments.samples)
    holders: dict[str, set[str]] = {}
    for view in views.all:
        holders.setdefault(view.row.topics_digest, set()).add(view.name)
    for view in views.all:
        if not view.foreign:
            yield ObserverView(
                moment=moment,
                source_id=source,
                name=view.name,
                listener=view.row.listener,
                topics_digest=view.row.topics_digest,
                filled=view.row.brokers_listed > 0,
                hides=not _without_authorizer(settings, view.broker_id),
                old_metadata=view.row.metadata_version < _NAMES_LISTENER_ERROR,
                registered_listener=view.known_listener,
                holders=len(holders[view.row.topics_digest]),
            )


def _without_authorizer(settings: Settings, broker: int) -> bool:
    """Return whether a broker is known to have no authorizer: its file or its own answer says so, and not by being silent."""
    answered = broker in settings.files or AUTHORIZER in settings.answers.get(broker, {})
    return answered and settings.get(broker, AUTHORIZER).state == "unset"


def _brokers(moments: Moments) -> Iterator[KnownBroker]:
    configs = moments.samples.of(BrokerConfig)
    gap = min_isr_gap(moments.samples.last_reads, configs, moments.now.brokers, kraft=moments.samples.kraft)
    known = {} if gap is not None and gap.whole else broker_defaults(configs, moments.now.brokers)
    limited = capped(moments.samples.of(BrokerApi))
    for moment, registry in moments.by_name.items():
        listeners: dict[int, set[str]] = {}
        for address in registry.addresses:
            listeners.setdefault(address.broker_id, set()).add(address.listener)
        for broker, row in registry.brokers.items():
            earlier = moments.previous.brokers.get(broker)
            yield KnownBroker(
                moment=moment,
                broker_id=broker,
                rack=row.rack,
                listeners=tuple(sorted(listeners.get(broker, ()))),
                min_isr=known.get(broker),
                capped=broker in limited,
                returned=moment == NOW and (earlier is None or earlier.version != row.version),
            )


def _former_leaders(moments: Moments) -> Iterator[FormerLeader]:
    for row in moments.samples.at(LeadershipAnswer, moments.now.sample):
        if row.asked_as == "former" and row.error == _STORAGE_ERROR:
            yield FormerLeader(broker_id=row.broker_id, topic=row.topic, partition=row.partition, preferred=row.preferred)
