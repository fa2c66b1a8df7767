"""What the plugin registers with Airflow, in the words of `AirflowPlugin`."""

from typing import Any

from kafka_audit.airflow import environment
from kafka_audit.airflow.page import links
from kafka_audit.airflow.page.deferred_app import DeferredApp

FASTAPI_APPS: list[dict[str, Any]] = [{"app": DeferredApp(), "url_prefix": links.PREFIX, "name": "kafka-audit"}]
EXTERNAL_VIEWS: list[dict[str, Any]] = [
    {
        "name": "Kafka audit",
        "href": f"{links.base_path()}{links.PREFIX}/",
        "destination": "nav",
        "category": "browse",
        "url_route": "kafka-audit",
    },
    {
        "name": "Kafka audit",
        "href": f"{links.base_path()}{links.PREFIX}/run?dag={{DAG_ID}}&run={{RUN_ID}}",
        "destination": "dag_run",
        "url_route": environment.REPORT_TAB,
    },
]
