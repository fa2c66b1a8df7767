"""The only module that Airflow's plugin loader executes; `.airflowignore` hides the package in the same folder."""

from airflow.plugins_manager import AirflowPlugin

from kafka_audit.airflow.page import plugin


class KafkaAuditPlugin(AirflowPlugin):
    """Reports in the Airflow UI: in the menu and next to every DAG run."""

    name = "kafka_audit"
    fastapi_apps = plugin.FASTAPI_APPS
    external_views = plugin.EXTERNAL_VIEWS
