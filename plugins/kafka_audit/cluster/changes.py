"""What changed since the previous snapshot: facts for the timeline, and for "what changed before it broke"."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.cluster.quorum import QuorumSample
from kafka_audit.cluster.registry import ClusterState, RegisteredAddress
from kafka_audit.cluster.samples import Samples
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text, is_among, same_address
from kafka_audit.configuration.authorization import acl_phrase
from kafka_audit.differences.tables import LeaderMove, MovedPartition, TopicChange
from kafka_audit.model.finding import Address, Change
from kafka_audit.model.tables import Acl, AclHolder, BrokerConfig

_DEFAULT = 5
"""Kafka's ConfigSource of a default."""


def changes(view: ClusterView) -> tuple[Change, ...]:
    """Return the facts that differ from the previous snapshot; what either snapshot did not read is left out."""
    if view.previous is None:
        return ()
    kinds = (_brokers, _endpoints, _voters, _configs, _acls, _controller, _topics, _leaders)
    return tuple(change for kind in kinds for change in kind(view))


def _brokers(view: ClusterView) -> Iterator[Change]:
    if view.gap("brokers") or view.gap_earlier("brokers"):
        return
    now, earlier = _by_broker(view.addresses), _by_broker(view.addresses_earlier)
    for broker in sorted(view.brokers.keys() ^ view.brokers_earlier.keys()):
        came = broker in view.brokers
        addresses = (now if came else earlier).get(broker, ())
        text = ", ".join(sorted(map(_text, addresses))) or "no endpoint"
        yield Change(
            kind="broker_came" if came else "broker_went",
            resource=f"broker/{broker}",
            before=None if came else text,
            after=text if came else None,
            addresses_before=() if came else _places(addresses),
            addresses_after=_places(addresses) if came else (),
        )


def _by_broker(addresses: Iterable[RegisteredAddress]) -> Mapping[int, list[RegisteredAddress]]:
    found: dict[int, list[RegisteredAddress]] = defaultdict(list)
    for address in addresses:
        found[address.broker_id].append(address)
    return found


def _text(address: RegisteredAddress) -> str:
    place = address_text(address.host, address.port)
    return f"{address.protocol}://{place}" if address.protocol else place


def _places(addresses: Iterable[RegisteredAddress]) -> tuple[Address, ...]:
    return tuple(Address(host=address.host, port=address.port) for address in sorted(addresses, key=_text))


def _endpoints(view: ClusterView) -> Iterator[Change]:
    now, earlier = _by_broker(view.addresses), _by_broker(view.addresses_earlier)
    for broker in sorted(view.brokers.keys() & view.brokers_earlier.keys()):
        after = {address.listener: address for address in now.get(broker, ())}
        before = {address.listener: address for address in earlier.get(broker, ())}
        for listener in sorted(after.keys() | before.keys()):
            if _is_other_endpoint(listener, after, before):
                was, becomes = before.get(listener), after.get(listener)
                yield Change(
                    kind="endpoint",
                    resource=f"broker/{broker}/listener/{listener}" if listener else f"broker/{broker}",
                    before=None if was is None else _text(was),
                    after=None if becomes is None else _text(becomes),
                    addresses_before=_places(() if was is None else (was,)),
                    addresses_after=_places(() if becomes is None else (becomes,)),
                )


def _voters(view: ClusterView) -> Iterator[Change]:
    """Yield voters that the leader of the metadata quorum has others reach at another address."""
    samples = Samples(view.previous)
    now, earlier = view.quorum.now.addresses, QuorumSample(samples, samples.numbers[0]).addresses
    before = {(row.voter_id, row.listener): row for row in earlier}
    for row in now:
        was = before.get((row.voter_id, row.listener))
        if was is not None and not same_address((row.host, row.port), (was.host, was.port)):
            yield Change(
                kind="voter_address",
                resource=f"controller/{row.voter_id}",
                before=address_text(was.host, was.port),
                after=address_text(row.host, row.port),
                addresses_before=(Address(host=was.host, port=was.port),),
                addresses_after=(Address(host=row.host, port=row.port),),
            )


def _is_other_endpoint(listener: str, after: Mapping[str, RegisteredAddress], before: Mapping[str, RegisteredAddress]) -> bool:
    """Return whether a listener came, went or changed.

    Without ZooKeeper listeners have no names: over a migration the address decides, and names are not missed.
    """
    if listener in after and listener in before:
        now, then = after[listener], before[listener]
        return now.protocol != then.protocol or not same_address((now.host, now.port), (then.host, then.port))
    if "" not in after and "" not in before:
        return True
    own, others = (after, before) if listener in after else (before, after)
    place = own[listener].host, own[listener].port
    return not listener and not is_among(place, ((address.host, address.port) for address in others.values()))


def _configs(view: ClusterView) -> Iterator[Change]:
    """Yield settings of brokers that were read in both snapshots.

    A version that only knows more settings is no change of settings: defaults are passed over unless either snapshot set them.
    """
    now = _settings(view.of(BrokerConfig))
    earlier = _settings(() if view.previous is None else view.previous.of(BrokerConfig))
    for broker in sorted(now.keys() & earlier.keys()):
        for key in sorted(now[broker].keys() | earlier[broker].keys()):
            after, before = now[broker].get(key), earlier[broker].get(key)
            same = (before is None) == (after is None) and (before and before.value) == (after and after.value)
            if not same and any(row is not None and row.source != _DEFAULT for row in (before, after)):
                resource = f"broker/{broker}/config/{key}"
                yield Change(kind="config", resource=resource, before=_value(before), after=_value(after))


def _settings(rows: Iterable[BrokerConfig]) -> Mapping[int, Mapping[str, BrokerConfig]]:
    found: dict[int, dict[str, BrokerConfig]] = defaultdict(dict)
    for row in rows:
        found[row.broker_id][row.key] = row
    return found


def _value(row: BrokerConfig | None) -> str | None:
    if row is None:
        return None
    return "hidden" if row.value is None else row.value


def _acls(view: ClusterView) -> Iterator[Change]:
    """Yield the ACLs that came and went, by a holder that both snapshots asked: ZooKeeper, else the broker with the lowest id."""
    held = [
        {-1 if row.broker_id is None else row.broker_id: row.acls_digest for row in sorted(rows, key=lambda row: row.sample)}
        for rows in (Samples(view.previous).of(AclHolder), view.of(AclHolder))
    ]
    holder = min(held[0].keys() & held[1].keys(), default=None)
    if holder is None or held[0][holder] == held[1][holder]:
        return
    before, after = (
        {_acl(acl) for acl in snapshot.of(Acl) if acl.acls_digest == digests[holder]}
        for snapshot, digests in zip((view.previous, view.snapshot), held, strict=True)
        if snapshot is not None
    )
    for text in sorted(before ^ after):
        came = text in after
        yield Change(kind="acl", resource="cluster", before=None if came else text, after=text if came else None)


def _acl(acl: Acl) -> str:
    return f"{acl_phrase(acl)}{' (prefix)' * (acl.pattern_type == 'PREFIXED')}"


def _controller(view: ClusterView) -> Iterator[Change]:
    if view.state is None or view.state_earlier is None or view.gap("controller") or view.gap_earlier("controller"):
        return
    if view.state_earlier.controller_epoch is None and view.state_earlier.controller_id is None:
        return  # ZooKeeper was not asked then
    before, after = _controller_text(view.state_earlier), _controller_text(view.state)
    if before != after:
        yield Change(kind="controller", resource="cluster", before=before, after=after)


def _controller_text(state: ClusterState) -> str:
    controller, epoch = ("none" if number is None else number for number in (state.controller_id, state.controller_epoch))
    return f"{controller} (epoch {epoch})"


def _topics_incomparable(view: ClusterView) -> bool:
    """Return whether either snapshot did not read the topics; single znodes do not matter."""
    gaps = (view.previous_gap, view.gap("topics"), view.gap_earlier("topics"))
    return any(gap is not None and gap.whole for gap in gaps)


def _topics(view: ClusterView) -> Iterator[Change]:
    if _topics_incomparable(view):
        return
    reads = (*view.last_reads, *view.last_reads_earlier)
    failed = {read.operation for read in reads if read.outcome == "failed"}
    for row in view.differences.of(TopicChange):
        if f"zookeeper /brokers/topics/{row.topic}" not in failed:
            yield Change(kind=f"topic_{row.kind}", resource=f"topic/{row.topic}", before=row.before, after=row.after)


def _leaders(view: ClusterView) -> Iterator[Change]:
    """Yield each partition whose leader is another one; where there are too many, the brokers that lost them."""
    if _topics_incomparable(view):
        return
    partitions = view.differences.of(MovedPartition)
    for row in partitions:
        before, after = (None if leader is None else str(leader) for leader in (row.before, row.after))
        resource = f"topic/{row.topic}/partition/{row.partition}"
        yield Change(kind="leader_moved", resource=resource, before=before, after=after)
    for move in () if partitions else view.differences.of(LeaderMove):
        if move.moved:
            before = f"led {move.moved} partitions that other brokers lead now"
            yield Change(kind="leader_moved", resource=f"broker/{move.broker_id}", before=before, after=None)
