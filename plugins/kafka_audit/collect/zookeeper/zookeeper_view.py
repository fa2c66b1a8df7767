"""Ask ZooKeeper: registrations, controller, topics and partition states, each set of znodes with a deadline."""

import time
from collections.abc import Mapping
from dataclasses import replace

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.read_error import ReadError, any_answer, clean_line
from kafka_audit.clients.tls import TlsAccess
from kafka_audit.clients.zookeeper.session import Session, open_session
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.zookeeper import ensemble
from kafka_audit.collect.zookeeper.decoded_znodes import DecodedZnodes
from kafka_audit.collect.zookeeper.earlier_topics import EarlierTopics
from kafka_audit.collect.zookeeper.znode_sample import IDS, PLANNED, ZnodeSample
from kafka_audit.model.cluster import ZookeeperAccess
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import Registry, Row

_SESSION_SHARE = 0.8
_HINTS = 50  # children of / that are searched for a Kafka chroot if the chroot is wrong


def read_zookeeper(  # noqa: PLR0913 -- one of them where there is an audit
    access: ZookeeperAccess,
    sample: int,
    secrets: Mapping[str, str],
    *,
    read_s: float,
    deadline: float,
    budget: Budget | None = None,
    earlier: DecodedZnodes | None = None,
    tls: TlsAccess | None = None,
    topics: EarlierTopics | None = None,
) -> Collected:
    """Return all data of ZooKeeper, and a `SourceRead` row for each set of znodes and each failure.

    Args:
        access: connection string, with chroot.
        sample: number of this sample.
        secrets: environment that holds the password named by `access`.
        read_s: bound of the connection and of each request, in seconds.
        deadline: bound of the whole sample, including the last read of each server, of `time.monotonic()`.
        budget: the audit's.
        earlier: what earlier samples of the audit decoded.
        tls: how TLS is opened, where `access` says that it is used.
        topics: of the earlier sample, if only some are to be read again.

    Raises:
        UsageError: ZooKeeper answers, but there is no /brokers/ids below the chroot.
    """
    asking = Asking(sample=sample, observer="zookeeper", target=access.connect)
    whole = (budget or Budget()).part(max(0.0, deadline - time.monotonic()))
    # The servers are asked one by one afterwards: some of the time is theirs, whatever the session took.
    own_budget = whole.part(max(whole.left() - read_s - 1, whole.left() * _SESSION_SHARE))
    try:
        with any_answer(), open_session(access, read_s, secrets, own_budget, tls) as session:
            _demand_kafka(session, access, own_budget.demand_time(read_s))
            collected = ZnodeSample(session, asking, read_s, own_budget.deadline, own_budget, earlier, topics).take()
    except ReadError as error:
        collected = Collected(rows=tuple(asking.failed(f"zookeeper {path}", error) for path in PLANNED))
    known = any(isinstance(row, Registry) for row in collected.rows)
    members = ensemble.read_servers(access, sample, read_s, known=known, budget=whole, tls=tls)
    return replace(collected, rows=(*collected.rows, *members))


def read_control(
    access: ZookeeperAccess, secrets: Mapping[str, str], *, read_s: float, budget: Budget, tls: TlsAccess | None
) -> tuple[Row, ...]:
    """Return brokers, controller, cluster id and the reads of them, and nothing that grows with topics. See `read_zookeeper`.

    Raises:
        ReadError: there is no session.
        UsageError: the connection string cannot be read.
    """
    asking = Asking(sample=1, observer="zookeeper", target=access.connect)
    with any_answer(), open_session(access, read_s, secrets, budget, tls) as session:
        return ZnodeSample(session, asking, read_s, budget.deadline, budget).control()


def _demand_kafka(session: Session, access: ZookeeperAccess, read_s: float) -> None:
    """Raise UsageError if no Kafka has ever registered: a wrong chroot has the symptoms of a cluster without brokers."""
    client = session.client
    try:
        if client.exists_async(IDS).get(timeout=read_s) is not None:
            return
    except (KazooException, KazooTimeoutError) as error:
        raise session.as_read_error(error, IDS) from error
    chroot = client.chroot or "/"
    hint = _kafkas(client, access.connect.partition("/")[0], read_s)
    msg = f"zookeeper {access.connect}: there is no {IDS} below the chroot {chroot}{hint}"
    raise UsageError(msg)


def _kafkas(client: KazooClient, hosts: str, read_s: float) -> str:
    """Name the chroots, at most one level deep, that do hold a Kafka."""
    client.chroot, until = "", time.monotonic() + read_s
    try:
        roots = ["", *(f"/{name}" for name in sorted(client.get_children_async("/").get(timeout=read_s))[:_HINTS])]
        found = [
            root for root in roots if client.exists_async(root + IDS).get(timeout=max(0.01, until - time.monotonic())) is not None
        ]
    except (KazooException, KazooTimeoutError):
        return ""  # the hint is a courtesy
    return f"; did you mean {' or '.join(clean_line(hosts + root) for root in found)}?" if found else ""
