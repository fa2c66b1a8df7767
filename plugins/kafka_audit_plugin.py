"""The only module that Airflow's plugin loader executes; `.airflowignore` hides the package in the same folder."""

from pathlib import Path

from kafka_audit.airflow.page import plugin

plugin.warn_of_unused_copy(Path(__file__).parent)
if not plugin.has_entry_point():
    KafkaAuditPlugin = plugin.KafkaAuditPlugin
