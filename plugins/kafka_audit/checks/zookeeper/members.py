"""Servers of the ensemble: bounds, and who is above one."""

from kafka_audit.model.tables import ZookeeperMember

AWAY = ("idle", "down")
LATENCY_MS, OUTSTANDING, BEHIND = 100.0, 100, 1000
"""Bounds of KA803: milliseconds on average, requests that wait, transactions."""


def named_servers(members: tuple[ZookeeperMember, ...]) -> str:
    """Return servers for a sentence, each with its error."""
    return ", ".join(f"{one.member}{f' ({one.error})' if one.error else ''}" for one in members) or "none"


def is_late(one: ZookeeperMember) -> bool:
    """Return whether a server takes long to answer, on average."""
    return one.latency_avg_ms is not None and one.latency_avg_ms >= LATENCY_MS


def busy(members: tuple[ZookeeperMember, ...]) -> dict[tuple[str, str], str]:
    """Return what is above a bound and may pass, by server and kind."""
    zxids = [one.zxid for one in members if one.zxid is not None]
    found = {}
    for one in members:
        if (one.outstanding or 0) >= OUTSTANDING:
            found[one.member, "waiting"] = f"{one.outstanding} requests are waiting at {one.member}"
        ahead = max((zxid - one.zxid for zxid in zxids if one.zxid is not None and zxid >> 32 == one.zxid >> 32), default=0)
        if ahead >= BEHIND:
            found[one.member, "behind"] = f"{one.member} is {ahead} transactions behind"
    return found
