"""The one module that Airflow's plugin loader may execute; `.airflowignore` keeps it out of the package next door."""

from airflow.plugins_manager import AirflowPlugin


class KafkaAuditPlugin(AirflowPlugin):
    """List kafka-audit among the plugins of the Airflow UI; it adds nothing to any other process."""

    name = "kafka_audit"
