"""Faults of ZooKeeper that two samples must show: servers that do not serve, unprocessed notifications. Pure."""

from collections.abc import Hashable, Iterable

from kafka_audit.clients.read_error import clean_line
from kafka_audit.model.ensemble import NOTICES
from kafka_audit.model.tables import ZookeeperMember, ZookeeperNode, ZookeeperProbe

_STATES = ("idle", "down")


def find_ensemble_differences(
    members: Iterable[ZookeeperMember], nodes: Iterable[ZookeeperNode], reasons: list[str]
) -> set[tuple[Hashable, ...]]:
    """Return the servers that do not serve and the znodes with many notifications, and add the reason as text."""
    away = [member for member in members if member.state in _STATES]
    if away:
        names = ", ".join(clean_line(member.member, 60) for member in away[:3])
        more = f" and {len(away) - 3} more" if len(away) > 3 else ""  # noqa: PLR2004 -- the same three
        reasons.append(f"ZooKeeper at {names}{more} does not serve")
    full = {znode.path: znode.children for znode in nodes if znode.children >= NOTICES.get(znode.path, znode.children + 1)}
    reasons.extend(f"{children} notifications wait in {path}" for path, children in full.items())
    return {("ZooKeeper's server", member.member, member.state) for member in away} | {("notices", path) for path in full}


def find_unreached_servers(probes: Iterable[ZookeeperProbe], reasons: list[str]) -> set[tuple[Hashable, ...]]:
    """Return the servers that hosts of brokers do not reach, and add the reason as text."""
    failed = [probe for probe in probes if probe.outcome == "failed"]
    reasons.extend(
        f"{probe.layer} from broker {probe.from_broker} to ZooKeeper at {clean_line(probe.address, 60)} failed ({probe.error})"
        for probe in failed
    )
    return {("from broker to ZooKeeper", probe.vantage, probe.from_broker, probe.address, probe.layer) for probe in failed}
