"""What each party says of the whole cluster, side by side: parties that said the same share a column."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import HostPort, address_text, canonical_address
from kafka_audit.model.report import ReportedViews, ViewColumn
from kafka_audit.model.tables import BrokerView
from kafka_audit.model.text import clean, listing, ranges

_MOST_ADDRESSES = 10
"""The number of brokers whose addresses are compared; the matrix shows all of them."""

NOTHING = "none"
"""The value of what a party does not list, or did not say."""

UNREPORTED = "not reported"
"""The cluster id of a party that did not say it."""

NOT_ASKED = "not asked"
"""The cell of a view of another listener; it differs from no other cell."""


def build_views(view: ClusterView) -> ReportedViews:
    """Return what each party says: the first column is the registry's, in KRaft what most brokers say."""
    disputed = _disputed(view)
    rows = _questions(view, disputed)
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    if view.zookeeper_read or view.in_zookeeper:
        found[tuple(_registered(view, disputed))].append("zookeeper")
    held = sorted(view.held_views, key=lambda held: (held.broker_id, held.row.listener))
    several = len({one.row.listener for one in held if one.broker_id >= 0}) > 1
    said: dict[tuple[object, ...], tuple[str, ...]] = {}  # most brokers say the same
    for one in held:
        row, broker = one.row, one.broker_id
        key = (row.listener, row.brokers_digest, row.topics_digest, row.controller_id, row.kafka_cluster_id)
        if key not in said:
            said[key] = tuple(_viewed(view, row, disputed))
        reported = said[key]
        name = f"broker {broker}" if broker >= 0 else f"broker at {clean(row.address)}"
        found[reported].append(f"{name} on {clean(row.listener)}" if several and disputed and broker >= 0 else name)
    columns = [ViewColumn(observers=tuple(dict.fromkeys(names)), values=values) for values, names in found.items()]
    first = [column for column in columns if "zookeeper" in column.observers]
    rest = sorted((column for column in columns if column not in first), key=lambda column: -len(column.observers))
    return ReportedViews(rows=tuple(rows), columns=(*first, *rest))


def _disputed(view: ClusterView) -> list[tuple[int, str]]:
    """Return broker and listener wherever a view lists another address than others do, or than is registered."""
    reported: dict[tuple[int, str], set[HostPort | None]] = defaultdict(set)
    for endpoint in view.endpoints.known:
        reported[endpoint.broker_id, endpoint.listener].add(canonical_address(endpoint.host, endpoint.port))
    by_listener: dict[str, list[int]] = defaultdict(list)
    for broker, listener in reported:
        by_listener[listener].append(broker)
    lists = {(held.listener, held.brokers_digest) for held in view.newest(BrokerView) if held.brokers_listed}
    for listener, digest in lists:  # one that lists no broker says so once, and not once for each broker
        places = {row.broker_id: canonical_address(row.host, row.port) for row in view.listed.get(digest, ())}
        for broker in by_listener.get(listener, ()):
            reported[broker, listener].add(places.get(broker))
    return sorted(key for key, addresses in reported.items() if len(addresses) > 1)[:_MOST_ADDRESSES]


def _questions(view: ClusterView, disputed: Sequence[tuple[int, str]]) -> list[str]:
    asked = ["brokers", *([] if view.kraft else ["controller"]), "topics", "partitions with a leader", "cluster id"]
    return [*asked, *(f"address of broker {broker}, {clean(listener)}" for broker, listener in disputed)]


def _registered(view: ClusterView, disputed: Sequence[tuple[int, str]]) -> Iterator[str]:
    count = view.partitions.count
    yield ranges(view.in_zookeeper) or NOTHING
    if not view.kraft:
        yield NOTHING if view.controller is None else str(view.controller)
    yield str(count.topics) if count.partitions else NOTHING
    yield f"{count.led} of {count.partitions}" if count.partitions else NOTHING
    yield clean(view.snapshot.cluster_id)
    for broker, listener in disputed:
        own = (endpoint.address for endpoint in view.endpoints.of(broker) if endpoint.listener == listener)
        yield clean(next(own, NOTHING))


def _viewed(view: ClusterView, held: BrokerView, disputed: Sequence[tuple[int, str]]) -> Iterator[str]:
    listed = {row.broker_id: address_text(row.host, row.port) for row in view.listed.get(held.brokers_digest, ())}
    yield ranges(listed) or NOTHING
    if not view.kraft:
        yield NOTHING if held.controller_id is None or held.controller_id < 0 else str(held.controller_id)
    yield str(held.topics_listed) if held.topics_listed else NOTHING
    count = view.partitions.lists.get(held.topics_digest)
    yield f"{count.led} of {count.partitions}" if count and count.partitions else NOTHING
    yield clean(held.kafka_cluster_id or UNREPORTED)
    for broker, listener in disputed:
        yield clean(listed.get(broker, NOTHING)) if held.listener == listener else NOT_ASKED


def who(observers: Sequence[str]) -> str:
    """Return who shares a column: brokers as ranges of ids, the rest by name."""
    ids = [int(name[7:]) for name in observers if _is_broker(name)]
    others = [name for name in observers if not _is_broker(name)]
    own = [f"{'broker' if len(ids) == 1 else 'brokers'} {ranges(ids)}"] if ids else []
    return clean(listing([*own, *others], 4), 200)


def _is_broker(name: str) -> bool:
    return name.startswith("broker ") and name[7:].isdecimal() and name.isascii()
