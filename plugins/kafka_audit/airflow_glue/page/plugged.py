"""What the plugin gives to Airflow."""

from typing import Any

from kafka_audit.airflow_glue import environment
from kafka_audit.airflow_glue.page import links
from kafka_audit.airflow_glue.page.lazily import Lazily

APPS: list[dict[str, Any]] = [{"app": Lazily(), "url_prefix": links.PREFIX, "name": "kafka-audit"}]
VIEWS: list[dict[str, Any]] = [
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
