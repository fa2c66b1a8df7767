"""Health of ZooKeeper by its znodes: write rights, unprocessed notifications, and znodes near the size limit."""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kazoo.exceptions import NoAuthError, NoNodeError

from kafka_audit.model.quorum import NOTICES, REQUESTS
from kafka_audit.model.tables import EnsembleServer, ZookeeperNode

HEALTH = "access and size of znodes"
GUARDED = (
    "/brokers", "/brokers/ids", "/brokers/topics", "/controller", "/controller_epoch", "/cluster/id", "/config", "/config/topics",
    "/config/brokers", "/admin", "/admin/delete_topics", "/kafka-acl",
)  # fmt: skip
"""Znodes with which a writer can take over or stop the cluster."""

LISTED = ("/config", "/consumers")
"""Their children are listed by name: a migration to KRaft does not copy unknown ones."""

MOST_LISTED = 200
LARGEST = 3
_LETTERS = ((4, "c"), (1, "r"), (2, "w"), (8, "d"), (16, "a"))
_ENSEMBLE = "/zookeeper/config"  # at the root, whatever the chroot
_SERVER = re.compile(r"server\.(\d{1,10})=(\[[^\s\]]{1,255}\]|[^\s:;|\[]{1,255}):([^\s;]{1,1000})(?:;\S{0,255})?")
_MOST_SERVERS = 100
_PER_NAME = 4  # bytes that ZooKeeper's answer takes for a name's length


def read_znode_health(
    client: Any,  # noqa: ANN401 -- kazoo's client is untyped
    sample: int,
    left: Callable[[], float],
    deleting: Sequence[str] = (),
) -> Iterator[ZookeeperNode]:
    """Yield the znodes by name; without the right to read its ACL, the rights are unknown; a missing znode has no row.

    `left` returns the time to wait for the next answer, in seconds; `deleting` names topics that are to be deleted.

    Raises the errors of kazoo if the session is lost.
    """
    requests = (*REQUESTS, *(f"{GUARDED[-2]}/{topic}" for topic in deleting[:MOST_LISTED]))
    asked = [(path, client.get_acls_async(path)) for path in (*GUARDED, *NOTICES, *requests)]
    listed = [(path, client.get_children_async(path, include_data=True)) for path in LISTED]
    for path, answer in asked:
        try:
            acls, stat = answer.get(timeout=left())
        except NoNodeError:
            continue
        except NoAuthError:
            continue  # closed to us, so it is not open to all the world
        letters = {letter for acl in acls if acl.id.scheme == "world" for bit, letter in _LETTERS if acl.perms & bit}
        yield ZookeeperNode(
            sample=sample,
            path=path,
            anyone=None if path in requests else "".join(letter for _, letter in _LETTERS if letter in letters),
            children=stat.numChildren,
            bytes=stat.dataLength,
            created_ms=stat.ctime if path in requests else None,
        )

    for path, answer in listed:
        with contextlib.suppress(NoNodeError, NoAuthError):
            names, stat = answer.get(timeout=left())
            if path not in GUARDED:
                yield _named(path, sample, stat.numChildren)
            reported = (f"{path}/{name}" for name in sorted(names)[:MOST_LISTED])
            yield from (_named(child, sample) for child in reported if child not in (*GUARDED, *NOTICES))


def read_ensemble(client: Any, sample: int, left: Callable[[], float]) -> Iterator[EnsembleServer]:  # noqa: ANN401 -- see above
    """Yield the servers of the ensemble; none of a standalone server, before ZooKeeper 3.5, and where it may not be read.

    Raises what kazoo raises where the session is lost.
    """
    chroot, client.chroot = client.chroot, ""
    try:
        answer = client.get_async(_ENSEMBLE)
    finally:
        client.chroot = chroot
    with contextlib.suppress(NoNodeError, NoAuthError):
        data, _ = answer.get(timeout=left())
        yield from parse_ensemble(data.decode(errors="replace"), sample)


def parse_ensemble(text: str, sample: int) -> Iterator[EnsembleServer]:
    """Yield the servers of a configuration as ZooKeeper writes it: server.1=host:2888:3888:participant;0.0.0.0:2181."""
    lines = filter(None, (_SERVER.fullmatch(line.strip()) for line in text.splitlines()))
    found = {int(match[1]): match for match in lines}
    for number, match in sorted(found.items())[:_MOST_SERVERS]:
        votes = not match[3].lower().endswith(":observer")
        yield EnsembleServer(sample=sample, server_id=number, host=match[2].strip("[]"), votes=votes)


def _named(path: str, sample: int, children: int = 0) -> ZookeeperNode:
    return ZookeeperNode(sample=sample, path=path, anyone=None, children=children, bytes=0)


def largest(sizes: Mapping[str, int], lists: Mapping[str, Iterable[str]], sample: int) -> Iterator[ZookeeperNode]:
    """Yield the largest of the znodes that were read, by their data and by the list of their children's names."""
    counted = {path: [*names] for path, names in lists.items()}
    whole = dict(sizes)
    for path, names in counted.items():
        whole[path] = max(whole.get(path, 0), sum(len(name.encode()) + _PER_NAME for name in names))
    for path, size in sorted(whole.items(), key=lambda entry: (-entry[1], entry[0]))[:LARGEST]:
        yield ZookeeperNode(sample=sample, path=path, anyone=None, children=len(counted.get(path, ())), bytes=size)
