"""Servers of the ensemble: bounds, and the servers above them."""

from kafka_audit.model.addresses.voters import servers_named
from kafka_audit.model.tables import ZookeeperMember

AWAY = ("idle", "down")
LATENCY_MS, OUTSTANDING, BEHIND = 100.0, 100, 1000
"""Bounds of KA803: milliseconds on average, requests that wait, transactions."""


def named_servers(members: tuple[ZookeeperMember, ...]) -> str:
    """Return servers for a sentence, each with its error."""
    return ", ".join(f"{member.member}{f' ({member.error})' if member.error else ''}" for member in members) or "none"


def address_of(member: str) -> dict[str, object]:
    """Return the address of a server for a command."""
    return {name: value for found in servers_named(member) for name, value in zip(("host", "port"), found, strict=True)}


def is_late(member: ZookeeperMember) -> bool:
    """Return whether a server takes long to answer, on average."""
    return member.latency_avg_ms is not None and member.latency_avg_ms >= LATENCY_MS


def busy(members: tuple[ZookeeperMember, ...]) -> dict[tuple[str, str], str]:
    """Return what is above a bound and may pass, by server and kind."""
    zxids = [member.zxid for member in members if member.zxid is not None]
    found = {}
    for member in members:
        if (member.outstanding or 0) >= OUTSTANDING:
            found[member.member, "waiting"] = f"{member.outstanding} requests are waiting at {member.member}"
        ahead = max(
            (zxid - member.zxid for zxid in zxids if member.zxid is not None and zxid >> 32 == member.zxid >> 32), default=0
        )
        if ahead >= BEHIND:
            found[member.member, "behind"] = f"{member.member} is {ahead} transactions behind"
    return found
