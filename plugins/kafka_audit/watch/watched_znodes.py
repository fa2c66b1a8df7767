"""What a watch reads from ZooKeeper.

It is read by kazoo, which needs threads of its own: one worker thread waits for it, within a deadline. A client of our own would
have to repeat kazoo's TLS and SASL.
"""

import threading
import time
from collections.abc import Iterable, Mapping

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.protocol.async_conversation import in_thread
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.zookeeper.session import open_session
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.zookeeper.znode_sample import IDS, ZnodeSample
from kafka_audit.collect.zookeeper.znodes import parse_broker_id
from kafka_audit.model.cluster import Cluster, ZookeeperAccess
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import RegisteredEndpoint, Row, SourceRead
from kafka_audit.watch.failed_reads import failed_answer
from kafka_audit.watch.reading import ANSWERED, WatchAnswer, ZookeeperReading

Endpoints = Mapping[int, tuple[RegisteredEndpoint, ...]]


class WatchedZnodes:
    """The few znodes of one cluster."""

    def __init__(self, cluster: Cluster, secrets: Mapping[str, str], read_s: float) -> None:
        """Take the cluster, where passwords are looked up, and the seconds of a reading."""
        self._cluster = cluster
        self._secrets = secrets
        self._read_s = read_s
        self._turn = threading.Lock()

    async def read(self, logins: ClusterLogins) -> tuple[ZookeeperReading | None, Endpoints]:
        """Return what ZooKeeper holds, and where registered brokers listen; None where the cluster file names none."""
        access = self._cluster.zookeeper
        if access is None:
            return None, {}
        try:
            rows = await in_thread(lambda: self._control(access, logins), self._read_s + 1)
        except ReadError as error:
            return ZookeeperReading(answer=failed_answer(error)), {}
        unreadable, failed = _failed_znodes(row for row in rows if isinstance(row, SourceRead))
        if failed is not None:
            return ZookeeperReading(answer=failed), {}
        endpoints: dict[int, tuple[RegisteredEndpoint, ...]] = {}
        for row in rows:
            if isinstance(row, RegisteredEndpoint):
                endpoints[row.broker_id] = (*endpoints.get(row.broker_id, ()), row)
        return ZookeeperReading(answer=ANSWERED, rows=rows, unreadable=unreadable), endpoints

    def _control(self, access: ZookeeperAccess, logins: ClusterLogins) -> tuple[Row, ...]:
        """Read ZooKeeper; runs on a thread, never on two at a time. Raises ReadError."""
        if not self._turn.acquire(blocking=False):
            raise ReadError(ReadFailure.TIMEOUT, "the reading before still waits for ZooKeeper")
        try:
            budget = Budget(self._cluster, time.monotonic() + self._read_s)
            asking = Asking(sample=1, observer="zookeeper", target=access.connect)
            with open_session(access, self._read_s, self._secrets, budget, logins.zookeeper_tls) as session:
                return ZnodeSample(session, asking, self._read_s, budget.deadline, budget).control()
        finally:
            self._turn.release()


def _failed_znodes(reads: Iterable[SourceRead]) -> tuple[Mapping[int, WatchAnswer], WatchAnswer | None]:
    """Return the brokers whose registrations could not be read, and what became of another znode that could not be read.

    Whoever can write one znode below /brokers/ids must not end what the others say; the audit has a row for each.
    """
    unreadable, prefix = {}, f"zookeeper {IDS}/"
    for read in reads:
        if read.outcome == "failed":
            answer = failed_answer(ReadError(read.failure, error=read.error))
            if not read.operation.startswith(prefix):
                return {}, answer
            broker = parse_broker_id(read.operation.removeprefix(prefix))
            if broker is not None:
                unreadable[broker] = answer
    return unreadable, None
