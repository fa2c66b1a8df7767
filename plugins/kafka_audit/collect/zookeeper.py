"""Ask ZooKeeper: registrations, controller, topics and partition states, each set of znodes with a deadline."""

from collections.abc import Mapping

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from kafka_audit.collect import zookeeper_members
from kafka_audit.collect.reads import Asking, ReadError, any_answer, clean
from kafka_audit.collect.zookeeper_look import IDS, PLANNED, Look
from kafka_audit.collect.zookeeper_session import Session, open_session
from kafka_audit.model.cluster import ZookeeperAccess
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import Registry, Row

_HINTS = 50  # children of / that are looked into for a Kafka when the chroot is wrong


def read(access: ZookeeperAccess, sample: int, secrets: Mapping[str, str], *, read_s: float, deadline: float) -> tuple[Row, ...]:
    """Return everything that ZooKeeper tells, and a `SourceRead` row for each set of znodes and each failure.

    Args:
        access: connection string, with chroot.
        sample: number of this look.
        secrets: environment that holds the password named by `access`.
        read_s: bound of the connection and of each request, in seconds.
        deadline: bound of the whole look, of `time.monotonic()`.

    Raises:
        UsageError: ZooKeeper answers, but there is no /brokers/ids below the chroot.
    """
    asking = Asking(sample=sample, observer="zookeeper", target=access.connect)
    try:
        with any_answer(), open_session(access, read_s, secrets) as session:
            _demand_kafka(session, access, read_s)
            rows = Look(session, asking, read_s, deadline).take()
    except ReadError as error:
        rows = tuple(asking.failed(f"zookeeper {path}", error) for path in PLANNED)
    known = any(isinstance(row, Registry) for row in rows)
    return (*rows, *zookeeper_members.read(access, sample, read_s, known=known))


def registrations(access: ZookeeperAccess, secrets: Mapping[str, str], *, read_s: float, deadline: float) -> tuple[Row, ...]:
    """Return what brokers have registered and nothing else; nothing where ZooKeeper does not tell. Arguments as for `read`."""
    asking = Asking(sample=1, observer="zookeeper", target=access.connect)
    try:
        with any_answer(), open_session(access, read_s, secrets) as session:
            return Look(session, asking, read_s, deadline).registrations()
    except ReadError:  # the look that follows says so
        return ()


def _demand_kafka(session: Session, access: ZookeeperAccess, read_s: float) -> None:
    """Raise UsageError where no Kafka has ever registered: a wrong chroot looks like a cluster without brokers."""
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
    client.chroot = ""
    try:
        roots = ["", *(f"/{name}" for name in sorted(client.get_children_async("/").get(timeout=read_s))[:_HINTS])]
        found = [root for root in roots if client.exists_async(root + IDS).get(timeout=read_s) is not None]
    except (KazooException, KazooTimeoutError):
        return ""  # the hint is a courtesy
    return f"; did you mean {' or '.join(clean(hosts + root) for root in found)}?" if found else ""
