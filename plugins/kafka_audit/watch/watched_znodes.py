"""What a watch reads from ZooKeeper."""

import threading
import time
from collections.abc import Iterable, Mapping

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect.zookeeper.znode_sample import IDS
from kafka_audit.collect.zookeeper.znodes import parse_broker_id
from kafka_audit.collect.zookeeper.zookeeper_view import read_control
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import RegisteredEndpoint, SourceRead
from kafka_audit.watch.reading import ANSWERED, WatchAnswer, ZookeeperReading, failed_answer

Endpoints = Mapping[int, tuple[RegisteredEndpoint, ...]]


class WatchedZnodes:
    """The few znodes of one cluster."""

    def __init__(self, cluster: Cluster, secrets: Mapping[str, str], read_s: float) -> None:
        """Take the cluster, where passwords are looked up, and the seconds of a reading."""
        self._cluster = cluster
        self._secrets = secrets
        self._read_s = read_s
        self._turn = threading.Lock()

    def read(self, logins: ClusterLogins) -> tuple[ZookeeperReading | None, Endpoints]:
        """Return what ZooKeeper holds, and where registered brokers listen; None where the cluster file names none.

        Never on two threads at a time: one that hangs in kazoo may outlast its reading.
        """
        access = self._cluster.zookeeper
        if access is None:
            return None, {}
        if not self._turn.acquire(blocking=False):
            waits = ReadError(ReadFailure.TIMEOUT, "the previous reading still waits for ZooKeeper")
            return ZookeeperReading(answer=failed_answer(waits)), {}
        try:
            budget = Budget(self._cluster, time.monotonic() + self._read_s)
            rows = read_control(access, self._secrets, read_s=self._read_s, budget=budget, tls=logins.zookeeper_tls)
        except ReadError as error:
            return ZookeeperReading(answer=failed_answer(error)), {}
        finally:
            self._turn.release()
        unreadable, failed = _failed_znodes(row for row in rows if isinstance(row, SourceRead))
        if failed is not None:
            return ZookeeperReading(answer=failed), {}
        endpoints: dict[int, tuple[RegisteredEndpoint, ...]] = {}
        for row in rows:
            if isinstance(row, RegisteredEndpoint):
                endpoints[row.broker_id] = (*endpoints.get(row.broker_id, ()), row)
        return ZookeeperReading(answer=ANSWERED, rows=rows, unreadable=unreadable), endpoints


def _failed_znodes(reads: Iterable[SourceRead]) -> tuple[Mapping[int, WatchAnswer], WatchAnswer | None]:
    """Return the brokers whose registrations could not be read, and what became of another znode that could not be read.

    A client that can write one znode below /brokers/ids must not suppress the registrations of other brokers; the audit has a row
    for each.
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
