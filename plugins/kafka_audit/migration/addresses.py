"""Addresses that a change gives to brokers: as the plan has them, and their probes before a broker advertises them. Pure.

The mistake that costs most is an address that resolves where it was typed and nowhere else. It can be tried before the change.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare import addresses as hosts_and_ports
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.migration.items import GateItem, HeadedItem
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import Probe, RegisteredBroker, RegisteredEndpoint, Registry, SnapshotInfo
from kafka_audit.model.text import clean, listing

BROKER = "{broker_id}"
"""The placeholder for the id of each broker."""

_LINE = re.compile(r"(?:(?P<broker>\d{1,10})\s*:\s+)?(?P<entries>\S.*)")
_ENTRY = re.compile(
    r"(?P<listener>[A-Za-z0-9_.-]{1,100})://(?P<host>\[[0-9A-Fa-f:.%]+\]|(?:[A-Za-z0-9_.-]|\{broker_id\}){1,255}):(?P<port>\d{1,5})"
)
_LAST_PORT = 65535
_FORM = f"N: LISTENER://HOST:PORT, or LISTENER://HOST:PORT for every broker, with {BROKER} in the host"
SOURCE = "proposed addresses"


@dataclass(frozen=True, kw_only=True)
class Wording:
    """One address of one line; `broker_id` is None where the line is about every broker."""

    broker_id: int | None
    listener: str
    host: str
    port: int


def parse_addresses(lines: Iterable[str]) -> tuple[Wording, ...]:
    """Return the addresses of lines like `0: CLIENT://kafka-0.example.com:9092`.

    Raises:
        UsageError: a line that is none of these, or one that gives all brokers the same address.
    """
    wordings: list[Wording] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text:
            wordings += _parsed(text, f"advertised addresses, line {number}: {clean(text, 160)!r}")
    for (broker, listener), times in Counter((wording.broker_id, wording.listener) for wording in wordings).items():
        if times > 1:
            whose = "every broker" if broker is None else f"broker {broker}"
            msg = f"advertised addresses: {whose} has two addresses for listener {listener}"
            raise UsageError(msg)
    return tuple(wordings)


def _parsed(text: str, where: str) -> Iterator[Wording]:
    line = _LINE.fullmatch(text)
    for entry in (line["entries"] if line else "").split(","):
        match = _ENTRY.fullmatch(entry.strip())
        if line is None or match is None or not 0 < int(match["port"]) <= _LAST_PORT:
            msg = f"{where} must have the form {_FORM}"
            raise UsageError(msg)
        if line["broker"] is None and BROKER not in match["host"]:
            msg = f"{where} sets one address for all brokers; begin with a broker id (0: …), or use {BROKER} in the host"
            raise UsageError(msg)
        broker = None if line["broker"] is None else int(line["broker"])
        host = match["host"].strip("[]")
        yield Wording(broker_id=broker, listener=canonical_listener(match["listener"]), host=host, port=int(match["port"]))


def proposed_registrations(
    wordings: Iterable[Wording], everyone: Iterable[int], view: ClusterView
) -> tuple[RegisteredEndpoint, ...]:
    """Return what each node would advertise; a line about one node counts more than one about `everyone`."""
    between = view.inter_broker
    found: dict[tuple[int, str], RegisteredEndpoint] = {}
    for wording in sorted(wordings, key=lambda wording: wording.broker_id is not None):
        for broker in everyone if wording.broker_id is None else [wording.broker_id]:
            found[broker, wording.listener] = RegisteredEndpoint(
                sample=0,
                broker_id=broker,
                listener=wording.listener,
                protocol=between.protocol(broker, wording.listener) or "",
                host=wording.host.replace(BROKER, str(broker)),
                port=wording.port,
            )
    return tuple(found[key] for key in sorted(found))


def new_endpoints(proposed: Iterable[RegisteredEndpoint], view: ClusterView) -> tuple[RegisteredEndpoint, ...]:
    """Return those that are not known to be advertised."""
    now = advertised_by_broker(view)
    return tuple(endpoint for endpoint in proposed if not _is_held(endpoint, now))


def _is_held(endpoint: RegisteredEndpoint, now: Mapping[int, tuple[AdvertisedEndpoint, ...]]) -> bool | None:
    """Return whether a broker advertises an address; None if its addresses are unknown."""
    reported = now.get(endpoint.broker_id)
    return (
        None
        if reported is None
        else comparable_address(endpoint)
        in {comparable_address(other) for other in reported if other.listener == endpoint.listener}
    )


def comparable_address(endpoint: RegisteredEndpoint | AdvertisedEndpoint) -> tuple[int, str, int]:
    """Return what makes an address of a broker the same."""
    return endpoint.broker_id, *hosts_and_ports.canonical_address(endpoint.host, endpoint.port)


def advertised_by_broker(view: ClusterView) -> Mapping[int, tuple[AdvertisedEndpoint, ...]]:
    """Return what each broker advertises: as registered; in KRaft by its settings."""
    if view.kraft:
        return view.endpoints.by_settings
    found: dict[int, tuple[AdvertisedEndpoint, ...]] = {}
    for endpoint in view.endpoints.all:
        found[endpoint.broker_id] = (*found.get(endpoint.broker_id, ()), endpoint)
    return found


def view_with_proposed(proposed: Iterable[RegisteredEndpoint], trials: Iterable[Probe], view: ClusterView) -> ClusterView:
    """Return the cluster as registrations would be, with the probes of the new ones.

    In KRaft, it becomes a cluster with registrations, so that proposed addresses are judged like registered ones.
    """
    between, (now, before) = view.inter_broker, view.samples
    added = {(endpoint.broker_id, endpoint.listener): endpoint for endpoint in proposed}
    stay = [_registered_as(endpoint) for endpoint in view.endpoints.all if (endpoint.broker_id, endpoint.listener) not in added]
    probes_now = [replace(row, sample=now or 0) for row in trials]
    rows = [row for row in view.snapshot.rows if not (isinstance(row, RegisteredEndpoint) and row.sample == now)]
    if between.kraft:
        there = {*between.brokers, *(endpoint.broker_id for endpoint in (*stay, *added.values()))}
        rows = [replace(row, mode="zookeeper") if isinstance(row, SnapshotInfo) else row for row in rows]
        rows += [row for sample in {now or 0, before or 0} for row in _registered(there, sample)]
    return view.with_rows((*rows, *probes_now, *(replace(endpoint, sample=now or 0) for endpoint in (*stay, *added.values()))))


def _registered_as(endpoint: AdvertisedEndpoint) -> RegisteredEndpoint:
    return RegisteredEndpoint(
        sample=0,
        broker_id=endpoint.broker_id,
        listener=endpoint.listener,
        protocol=endpoint.protocol or "",
        host=endpoint.host,
        port=endpoint.port,
    )


def _registered(brokers: Iterable[int], sample: int) -> list[Registry | RegisteredBroker]:
    registry = Registry(
        sample=sample,
        kafka_cluster_id=None,
        controller_id=None,
        controller_epoch=None,
        controller_mzxid=None,
        brokers_pzxid=None,
        zxid_before=0,
        zxid_after=0,
    )
    return [
        registry,
        *(
            RegisteredBroker(sample=sample, broker_id=broker, rack=None, ephemeral_owner=0, registered_ms=0, czxid=0, mzxid=0)
            for broker in brokers
        ),
    ]


def afterwards(proposed: Iterable[RegisteredEndpoint], view: ClusterView) -> tuple[list[str], list[dict[str, str]]]:
    """Return a sentence for each planned address that is not advertised, and a finding for each that is unknown."""
    now = advertised_by_broker(view)
    not_done, not_known = [], []
    for endpoint in proposed:
        is_held, meant = _is_held(endpoint, now), f"{clean(endpoint.listener)}://{endpoint_text(endpoint)}"
        if is_held is None:
            message = f"Cannot determine whether broker {endpoint.broker_id} advertises the proposed {meant}"
            remedy = f"Needed: DescribeConfigs on Cluster at broker {endpoint.broker_id}"
            evidence = {
                "code": "KA301",
                "resource": endpoint_resource(endpoint),
                "severity": "HIGH",
                "message": message,
                "remedy": remedy,
            }
            not_known.append(evidence)
        elif not is_held:
            not_done.append(f"Broker {endpoint.broker_id} does not advertise the proposed {meant}.")
    return not_done, not_known


def misplaced(endpoints: Iterable[RegisteredEndpoint], view: ClusterView) -> Iterator[HeadedItem]:
    """Yield addresses of lines for brokers that are not there, and for listeners that a broker does not have."""
    between = view.inter_broker
    for endpoint in endpoints:
        offered = between.offered(endpoint.broker_id) or {endpoint.listener}
        if endpoint.broker_id not in between.brokers:
            message = f"Broker {endpoint.broker_id} is not in the cluster and cannot advertise {endpoint_text(endpoint)}"
            remedy = f"The cluster has brokers {listing(between.brokers, 6)}"
        elif endpoint.listener not in offered:
            known = listing(sorted(offered), 6)
            message = (
                f"Broker {endpoint.broker_id} advertises {known}, not {endpoint.listener}; "
                "its file must define that listener first"
            )
            remedy = "Propose its complete server.properties, because advertised.listeners must be a subset of listeners"
        else:
            continue
        item = GateItem(source=SOURCE, code="KA310", resource=f"broker/{endpoint.broker_id}", message=message, remedy=remedy)
        yield HeadedItem("blockers", item)


def contradictions(proposed: Iterable[RegisteredEndpoint]) -> Iterator[HeadedItem]:
    """Yield listeners of a broker that lines and files give different addresses."""
    found: dict[tuple[int, str], dict[tuple[int, str, int], RegisteredEndpoint]] = {}
    for endpoint in proposed:
        found.setdefault((endpoint.broker_id, endpoint.listener), {})[comparable_address(endpoint)] = endpoint
    for (broker, listener), own in found.items():
        if len(own) > 1:
            message = f"Broker {broker} has {len(own)} addresses for {listener}: {listing(map(endpoint_text, own.values()), 4)}"
            remedy = "Use one line or one file for each listener of a broker"
            name = f"broker/{broker}/listener/{listener}"
            yield HeadedItem("blockers", GateItem(source=SOURCE, code="KA310", resource=name, message=message, remedy=remedy))


def endpoint_resource(endpoint: RegisteredEndpoint) -> str:
    """Return the name that findings have for an endpoint."""
    return f"broker/{endpoint.broker_id}/listener/{endpoint.listener}"


def endpoint_text(endpoint: RegisteredEndpoint) -> str:
    """Return HOST:PORT for a sentence."""
    return clean(hosts_and_ports.address_text(endpoint.host, endpoint.port))
