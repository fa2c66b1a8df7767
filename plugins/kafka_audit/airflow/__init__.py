"""Everything that knows Airflow: tasks, operators, notifiers.

DAGs import `KafkaAuditOperator`, `KafkaCleanSensor`, `KafkaMaySensor`, `SafeToRestartSensor`, `KafkaAuditNotifier` and
`watched_asset` from here.
Every process of Airflow imports this package for the provider, so a name is imported when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka_audit.airflow.notifier import KafkaAuditNotifier
    from kafka_audit.airflow.operators.audit_operator import KafkaAuditOperator
    from kafka_audit.airflow.operators.clean_sensor import KafkaCleanSensor
    from kafka_audit.airflow.operators.restart_sensor import SafeToRestartSensor
    from kafka_audit.airflow.operators.step_sensor import KafkaMaySensor
    from kafka_audit.airflow.schedule.suspicions import watched_asset

__all__ = [
    "KafkaAuditNotifier",
    "KafkaAuditOperator",
    "KafkaCleanSensor",
    "KafkaMaySensor",
    "SafeToRestartSensor",
    "watched_asset",
]

_MODULES = {
    "KafkaAuditNotifier": "notifier",
    "KafkaAuditOperator": "operators.audit_operator",
    "KafkaCleanSensor": "operators.clean_sensor",
    "KafkaMaySensor": "operators.step_sensor",
    "SafeToRestartSensor": "operators.restart_sensor",
    "watched_asset": "schedule.suspicions",
}


def __getattr__(name: str) -> object:
    """Return what DAGs import, by its name."""
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
