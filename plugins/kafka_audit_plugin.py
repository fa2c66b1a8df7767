"""The one module that Airflow's plugin loader may execute; `.airflowignore` keeps it out of the package next door."""

from airflow.plugins_manager import AirflowPlugin

from kafka_audit.airflow.page import plugin


class KafkaAuditPlugin(AirflowPlugin):
    """Reports in the Airflow UI: in the menu and beside every DAG run."""

    name = "kafka_audit"
    fastapi_apps = plugin.FASTAPI_APPS
    external_views = plugin.EXTERNAL_VIEWS
