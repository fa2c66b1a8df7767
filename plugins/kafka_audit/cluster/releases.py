"""The release whose rules apply to the file of a broker: its own if known, otherwise the supported releases around it."""

from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from kafka_audit.cluster.features import METADATA_VERSION
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.behaviour import behaviour, metadata_release
from kafka_audit.configuration.definitions import VERSIONS, definitions, version_numbers
from kafka_audit.configuration.inter_broker_requests import sent_requests
from kafka_audit.configuration.starts.protocol_versions import version as protocol_version
from kafka_audit.model.tables import BrokerApi, BrokerFeature, FileRelease

_DEFAULT = 5  # ConfigSource of a default: the software's own version
_FETCH, _DESCRIBE_TRANSACTIONS = 1, 65
_FETCH_OF_2, _FETCH_OF_4 = 8, 4


def releases(view: ClusterView, broker: int) -> tuple[str, ...]:
    """Return the oldest and the newest judged release that a broker may have; one alone is the broker's own, none is not known.

    The default of `inter.broker.protocol.version` is the software's version. Where it is overridden or gone (Kafka 4), the APIs
    on offer show the major version: DescribeTransactions came with 3.0, the oldest Fetch versions went with 4.0. A key that
    only newer releases of Kafka 4 define shows the first of those. Lint gives the release of each file.
    """
    given = view.derived(_given).get(broker)
    return (given,) if given else _running(view, broker)


def minor_releases(view: ClusterView, broker: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the oldest and the newest minor release that a broker may run, e.g. (3, 9) twice; None if nothing shows it.

    The highest metadata.version that a broker of a KRaft cluster supports is that of its release (Kafka 3.3 and later). With
    ZooKeeper, where `inter.broker.protocol.version` is set, the newest Fetch distinguishes releases, except neighbours.
    """
    level = view.derived(_metadata_levels).get(broker)
    if level is not None and (exact := version_numbers(metadata_release(level))):
        return exact, exact
    known = releases(view, broker)
    if not known:
        return None
    oldest, newest = (version_numbers(version)[:2] for version in (known[0], known[-1]))
    fetch = view.derived(_offered).get(broker, {}).get(_FETCH)
    minors = [numbers for version in VERSIONS if oldest <= (numbers := version_numbers(version)[:2]) <= newest]
    fits = [minor for minor in minors if fetch is not None and _sent_fetch(minor) == fetch.max_version]
    return (fits[0], fits[-1]) if fits else (oldest, newest)


def does(view: ClusterView, node: int, name: str) -> bool | None:
    """Return whether the software of a node does what a row of `behaviour.yaml` names; None where its release decides."""
    row = behaviour(name)
    if not view.kraft and node not in view.derived(_given) and behaviour("kraft_only").holds(row.since):
        return False
    if row.shown_by is not None:
        supported, feature = view.derived(_metadata_levels).get(node), view.features.get(METADATA_VERSION)
        if supported is not None:
            return supported >= row.shown_by
        if feature is not None and (feature.finalized or 0) >= row.shown_by:
            return True  # every node supports what is finalized
    known = minor_releases(view, node)
    if known is None:
        return None
    between = (minor for version in VERSIONS if known[0] < (minor := version_numbers(version)[:2]) < known[1])
    return row.holds_in((*known, *between))


def finalized(view: ClusterView, name: str) -> bool | None:
    """Return whether metadata.version is at the level of a row of `behaviour.yaml`; None if it was not read (KRaft)."""
    feature, level = view.features.get(METADATA_VERSION), behaviour(name).level
    return None if level is None or feature is None or feature.finalized is None else feature.finalized >= level


def _metadata_levels(view: ClusterView) -> Mapping[int, int]:
    """Return the highest metadata.version that each broker supports."""
    found: dict[int, int] = {}
    for row in view.of(BrokerFeature):
        if row.feature == METADATA_VERSION and row.max_supported is not None:
            found[row.broker_id] = max(row.max_supported, found.get(row.broker_id, 0))
    return found


@cache
def _sent_fetch(minor: tuple[int, ...]) -> int | None:
    """Return the version of Fetch that brokers of a release send to each other, the newest that it has; below 4.0."""
    sent = sent_requests(protocol_version(".".join(map(str, minor))))
    return next((request.version for request in sent if request.api_key == _FETCH and minor < (4,)), None)


def _given(view: ClusterView) -> Mapping[int, str]:
    return {row.node_id: row.version for row in view.of(FileRelease)}


def _offered(view: ClusterView) -> Mapping[int, Mapping[int, BrokerApi]]:
    found: dict[int, dict[int, BrokerApi]] = {}
    for row in view.of(BrokerApi):
        found.setdefault(row.broker_id, {})[row.api_key] = row
    return found


def _running(view: ClusterView, broker: int) -> tuple[str, ...]:
    """Return the same of a running broker, by its own answers."""
    answers = view.settings.answers.get(broker, {})
    reported = answers.get("inter.broker.protocol.version")
    if reported is not None and reported.value and reported.source == _DEFAULT:
        minor = reported.value.partition("-")[0]
        exact = [version for version in VERSIONS if version.startswith(f"{minor}.")]
        return tuple(exact) or _around(version_numbers(minor))
    offered = view.derived(_offered).get(broker, {})
    fetch = offered.get(_FETCH)
    if fetch is None:
        return ()
    if fetch.min_version >= _FETCH_OF_4:
        of_4 = [version for version in VERSIONS if version_numbers(version) >= (4,)]
        for before, after in reversed([*pairwise(of_4)]):
            if answers.keys() & (definitions(after).keys() - definitions(before).keys()):
                return (after,)
        return _of_major(4)
    if _DESCRIBE_TRANSACTIONS in offered:
        return _of_major(3)
    return _of_major(2 if fetch.max_version >= _FETCH_OF_2 else 1)


def _of_major(major: int) -> tuple[str, ...]:
    found = [version for version in VERSIONS if version_numbers(version)[0] == major]
    return (found[0], found[-1])


def _around(target: tuple[int, ...]) -> tuple[str, ...]:
    below = [version for version in VERSIONS if version_numbers(version) < target]
    above = [version for version in VERSIONS if version_numbers(version) > target]
    return (*below[-1:], *above[:1])
