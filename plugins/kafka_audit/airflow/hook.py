"""The hook of the connection type `kafka_audit`: its button Test asks each broker."""

from airflow.sdk import BaseHook

from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.model.cluster import Cluster, Limits
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import our_line, without_logins

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
        from kafka_audit.airflow.connections.connection_test import connection_result  # noqa: PLC0415
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
