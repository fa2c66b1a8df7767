"""The numbers of reports as metrics of Airflow, where it exports metrics by OpenTelemetry."""

import logging
from collections.abc import Iterable

from kafka_audit.airflow import internals
from kafka_audit.airflow.moved import conf
from kafka_audit.model.report import Report
from kafka_audit.report.openmetrics import gauges

log = logging.getLogger(__name__)

_SECONDS = 5.0
"""How long a collector that does not answer may hold up a task."""


def send_metrics(documents: Iterable[Report]) -> None:
    """Export the numbers of reports. StatsD gets none: without tags, those of two clusters would be one series.

    A failure is a line of the log: a collector that is away must not cost a report.
    """
    if not conf.getboolean("metrics", "otel_on", fallback=False):
        return
    try:
        internals.export_gauges((gauge for document in documents for gauge in gauges(document)), _SECONDS)
    except Exception as error:  # noqa: BLE001 -- whatever Airflow's interface and its exporter raise
        log.warning("the numbers of the reports were not exported: %s", type(error).__name__)
