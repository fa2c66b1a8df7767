"""The hook of the connection type `kafka_audit`: its button Test asks each broker and shows what was read."""

from collections import defaultdict
from collections.abc import Mapping

from airflow.sdk import BaseHook

from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.cluster.answers.reads import observer_name
from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect.brokers.broker_view import API_VERSIONS, METADATA
from kafka_audit.model.cluster import Cluster, Limits
from kafka_audit.model.errors import UsageError
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Snapshot, SourceRead
from kafka_audit.model.text import counted, listing, our_line, without_logins


def connection_result(snapshot: Snapshot) -> tuple[bool, str]:
    """Return whether all brokers answered every read that an audit counts, and a text on one line: brokers, reads and rights."""
    last = ClusterView.of_files(snapshot).last_reads
    reads = [read for read in last if read.observer.startswith(("broker:", "broker@"))]
    answering = {read.observer: read.target for read in reads if read.operation == METADATA and _answered(read)}
    silent: dict[str, str] = {}
    rights: defaultdict[str, set[str]] = defaultdict(set)
    failed: defaultdict[str, list[str]] = defaultdict(list)
    for read in reads:
        name = observer_name(read.observer)
        if _answered(read):
            continue
        if read.operation in {API_VERSIONS, METADATA} and read.observer not in answering:
            silent.setdefault(_at(name, read.target), f"{read.error}; it needs {read.needs}" if read.needs else str(read.error))
        elif read.failure is ReadFailure.NOT_AUTHORIZED:
            rights[read.needs or f"the right to {read.operation}"].add(name)
        elif read.observer in answering:
            failed[name].append(f"{read.operation}: {read.error}")
    asked = len(answering) + len(silent)
    shown = listing(_at(observer_name(observer), target) for observer, target in sorted(answering.items()))
    parts = [f"{len(answering)} of {counted(asked, 'broker')} answered{f': {shown}' if shown else ''}"]
    if silent:
        parts.append(f"No answer: {_by_reason(silent)}")
    if rights:
        parts.append(
            f"Missing rights: {listing(f'{right} ({listing(sorted(parties))})' for right, parties in sorted(rights.items()))}"
        )
    if failed:
        parts.append(f"Failed reads: {listing(f'{name} ({listing(sorted(errors))})' for name, errors in sorted(failed.items()))}")
    if not (silent or rights or failed):
        parts.append("No right is missing")
    return bool(answering) and not (silent or rights or failed), ". ".join(parts)


def _by_reason(silent: Mapping[str, str]) -> str:
    """Return brokers with the reason why they do not answer, each reason once."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for name, why in sorted(silent.items()):
        named[why].append(name)
    return "; ".join(f"{listing(names)} ({why})" for why, names in named.items())


def _answered(read: SourceRead) -> bool:
    return read.outcome == "answered"


def _at(name: str, address: str) -> str:
    """Return a broker with its address; a broker whose id is unknown is named after it."""
    return name if address in name else f"{name} at {address}"


_LIMITS = Limits(
    read_s=3.0, audit_s=15.0, settle_s=1.0, brokers=200, endpoints=1_000, probes=1_000, bytes=32 * 1024 * 1024, rows=50_000
)
"""The API server runs a test, and a user waits for it."""

_LONGEST = 4_000


class KafkaAuditHook(BaseHook):
    """Reads a cluster by its connection alone, without a cluster file.

    Args:
        kafka_conn_id: a connection of type `kafka_audit`, or one in the format of the Kafka provider.
    """

    conn_name_attr = "kafka_conn_id"
    default_conn_name = "kafka_audit_default"
    conn_type = cluster_connection.TYPE
    hook_name = "Kafka audit"

    def __init__(self, kafka_conn_id: str = default_conn_name) -> None:
        """Take the connection's id."""
        super().__init__()
        self.kafka_conn_id = kafka_conn_id

    def test_connection(self) -> tuple[bool, str]:
        """Ask each broker what an audit asks, for 15 seconds at most.

        Returns:
            Whether all brokers answer and no right is missing, and a text that names what does not answer and what is missing.
        """
        # The client libraries take a second to import, and every process imports this hook that lists hooks.
        from kafka_audit.airflow.hook import connection_result  # noqa: PLC0415
        from kafka_audit.collect.snapshot import take_snapshot  # noqa: PLC0415

        cluster = Cluster(name=self.kafka_conn_id, kafka_conn_id=self.kafka_conn_id, limits=_LIMITS)
        try:
            described, passwords = cluster_connection.with_airflow_connection(cluster)
            if not described.bootstrap:
                return False, "Bootstrap servers is empty: set at least one host:port"
            snapshot = take_snapshot(described, snapshot_id=self.kafka_conn_id, say=self.log.debug, secrets=passwords)
        except UsageError as error:
            text = str(error).removeprefix(f"{self.kafka_conn_id}: the Airflow connection {self.kafka_conn_id!r}: ")
            return False, our_line(without_logins(text), _LONGEST)
        passed, text = connection_result(snapshot)
        # Airflow tests a copy of the connection under a random id, which must not be in the text.
        text = text.replace(f", connection {self.kafka_conn_id})", ")")
        return passed, our_line(without_logins(text), _LONGEST)
