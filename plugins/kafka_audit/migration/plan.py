"""What is to be done to a cluster."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from kafka_audit.configuration.starts import nearest_release
from kafka_audit.lint.versions import refuse_unsupported
from kafka_audit.migration import addresses
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import did_you_mean
from kafka_audit.report.gate import severity_of


class Kind(StrEnum):
    """Kinds of changes."""

    ZOOKEEPER_TO_KRAFT = "zookeeper-to-kraft"
    ROLLING_UPGRADE = "rolling-upgrade"
    LISTENERS = "listeners-or-security"
    EXPOSURE = "new-network"
    HOSTS = "moving-hosts"
    DYNAMIC_QUORUM = "dynamic-quorum"
    QUORUM_VOTERS = "quorum-voters"
    CONTROLLER_HOSTS = "controller-hosts"
    CONTROLLER_CERTIFICATES = "controller-certificates"


TITLES = {
    Kind.ZOOKEEPER_TO_KRAFT: "ZooKeeper to KRaft",
    Kind.ROLLING_UPGRADE: "rolling upgrade",
    Kind.LISTENERS: "listener or security change",
    Kind.EXPOSURE: "exposing to a new network",
    Kind.HOSTS: "moving hosts",
    Kind.DYNAMIC_QUORUM: "static to dynamic quorum",
    Kind.QUORUM_VOTERS: "adding or removing voters",
    Kind.CONTROLLER_HOSTS: "moving or renaming controllers",
    Kind.CONTROLLER_CERTIFICATES: "new certificates of controllers",
}
OF_QUORUM = frozenset({Kind.DYNAMIC_QUORUM, Kind.QUORUM_VOTERS, Kind.CONTROLLER_HOSTS, Kind.CONTROLLER_CERTIFICATES})
"""Changes of the metadata quorum, which have ordered steps."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A change, as its planner describes it.

    Attributes:
        kind: which kind.
        node_ids: of the KRaft controllers to be; for voters, of all that are to vote afterwards.
        proposed: paths of the server.properties that brokers are to run with, as `lint` takes them.
        advertised: addresses that brokers are to advertise, or controllers where these are moved: a line each, as
            `addresses.parse_addresses` takes them.
        version: the release that brokers are to run, by which proposed files are judged.
        oldest_client: the oldest Kafka release whose clients connect, as its planner knows it from the brokers' metrics.
        vantages: names in the cluster file from which every broker must be reached.
        strict: from which severity on a finding of the audit or of proposed files is a blocker.
    """

    kind: Kind
    node_ids: tuple[int, ...] = ()
    proposed: tuple[str, ...] = ()
    advertised: tuple[str, ...] = ()
    version: str | None = None
    oldest_client: str | None = None
    vantages: tuple[str, ...] = ()
    strict: str = "high"

    def as_dict(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> "Plan":
        """Read what `as_dict` returned."""
        return plan(
            raw["kind"],
            node_ids=raw["node_ids"],
            proposed=raw["proposed"],
            advertised=raw.get("advertised", ()),
            version=raw["version"],
            oldest_client=raw.get("oldest_client"),
            vantages=raw["vantages"],
            strict=raw["strict"],
        )


def plan(  # noqa: PLR0913 -- what a form asks
    kind: str,
    *,
    node_ids: Iterable[int | str] = (),
    proposed: Iterable[str] = (),
    advertised: Iterable[str] = (),
    version: str | None = None,
    oldest_client: str | None = None,
    vantages: Iterable[str] = (),
    strict: str = "high",
) -> Plan:
    """Return a plan that makes sense.

    Raises:
        UsageError: an unknown kind or severity, a release without rules, a node id that is no number, an address that is none, or
            a change of voters or of controllers' hosts that does not say which.
    """
    addresses.parse_addresses(lines := tuple(advertised))
    kinds = [str(known_kind) for known_kind in Kind]
    if kind not in kinds:
        msg = f"{kind!r} is not a kind of change; choose {', '.join(kinds)}{did_you_mean(kind, kinds)}"
        raise UsageError(msg)
    severity_of(strict)
    try:
        numbers = tuple(int(node_id) for node_id in node_ids)
    except ValueError as error:
        msg = f"node ids: {error}"
        raise UsageError(msg) from None
    if kind == Kind.QUORUM_VOTERS and not numbers:
        msg = f"{kind} requires the node ids of all voters after the change, such as 3000,3001,3003"
        raise UsageError(msg)
    if kind == Kind.CONTROLLER_HOSTS and not any(line.strip() for line in lines):
        msg = f"{kind} requires the new addresses, such as 3000: CONTROLLER://kafka-c0.example.com:9093"
        raise UsageError(msg)
    try:
        if version:
            refuse_unsupported(version)
        if oldest_client:
            nearest_release(oldest_client)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return Plan(
        kind=Kind(kind),
        node_ids=numbers,
        proposed=tuple(proposed),
        advertised=lines,
        version=version,
        oldest_client=oldest_client,
        vantages=tuple(vantages),
        strict=strict.lower(),
    )
