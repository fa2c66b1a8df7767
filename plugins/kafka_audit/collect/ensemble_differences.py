"""Servers of ZooKeeper that do not serve: one look does not tell a restart from an outage. Pure."""

from collections.abc import Hashable, Iterable

from kafka_audit.collect.reads import clean
from kafka_audit.model.tables import ZookeeperMember

_STATES = ("idle", "down")


def find(members: Iterable[ZookeeperMember], reasons: list[str]) -> set[tuple[Hashable, ...]]:
    """Return the servers that do not serve, and add a reason in words."""
    away = [one for one in members if one.state in _STATES]
    if away:
        names = ", ".join(clean(one.member, 60) for one in away[:3])
        more = f" and {len(away) - 3} more" if len(away) > 3 else ""  # noqa: PLR2004 -- the same three
        reasons.append(f"ZooKeeper at {names}{more} does not serve")
    return {("ZooKeeper's server", one.member, one.state) for one in away}
