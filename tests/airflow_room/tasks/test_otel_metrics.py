"""The numbers of reports in a collector of OpenTelemetry, from a process that ends as that of a task ends."""

import http.server
import json
import os
import sys
import threading
from types import SimpleNamespace

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from kafka_audit.airflow import internals
from kafka_audit.airflow.tasks import otel_metrics
from kafka_audit.model.report import report_json
from reported import report_of

# What Airflow's task runner does before and after a task.
TASK = """
import json, os, sys
import msgspec
from airflow.sdk import conf
from airflow.sdk.observability import stats
from airflow.sdk.observability.metrics import stats_utils
from kafka_audit.airflow.tasks import otel_metrics
from kafka_audit.model.report import Report

stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=conf.getboolean("metrics", "legacy_names_on"))
otel_metrics.send_metrics(msgspec.convert(json.load(sys.stdin), list[Report]))
os._exit(0)
"""
BROKEN = {
    "cluster": "prod",
    "incidents": [{"cause": "KA302", "severity": "CRITICAL", "confidence": "measured", "headline": "Broker 2 is cut off"}],
    "findings": [{"status": "FAIL", "muted": False, "severity": "CRITICAL", "code": "KA302"}],
    "counts": {"FAIL": 1, "PASS": 90, "UNKNOWN": 2},
    "coverage": {"asked": 40, "answered": 38},
    "matrix": {
        "brokers": [0, 1, 2],
        "controller": None,
        "endpoints": {},
        "observers": [{"name": "worker", "broker": None, "note": "vantage", "reach": "..T", "view": "---"}],
        "why": [],
    },
    "started_at": "2026-01-31T08:00:00Z",
    "finished_at": "2026-01-31T08:00:10Z",
}
HEALTHY = BROKEN | {"cluster": "test", "incidents": [], "findings": []}


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = ExportMetricsServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
        metrics = [metric for of in request.resource_metrics for scope in of.scope_metrics for metric in scope.metrics]
        for metric in metrics:
            for point in metric.gauge.data_points:
                labels = {attribute.key: attribute.value.string_value for attribute in point.attributes}
                self.server.found[metric.name, *sorted(labels.items())] = point.as_double or point.as_int
        self.send_response(200)
        self.end_headers()
        self.wfile.write(ExportMetricsServiceResponse().SerializeToString())

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture
def collector():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        server.found = {}
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def run_task(airflow_python, collector):
    """Return a function that runs a task in a fork, as Airflow does."""

    def run(**environment):
        settings = {
            "AIRFLOW__METRICS__OTEL_ON": "True",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_address[1]}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        }
        documents = json.dumps(report_json((report_of(BROKEN), report_of(HEALTHY))))
        completed = airflow_python.run(TASK, environment={**os.environ, **settings, **environment}, given=documents)
        assert completed.returncode == 0, completed.stderr

    return run


def test_a_collector_receives_the_numbers_of_each_cluster(run_task, collector):
    run_task()
    prod, name = ("cluster", "prod"), "airflow.kafka_audit_"
    assert collector.found[f"{name}incidents", prod] == 1
    assert collector.found[f"{name}incidents", ("cluster", "test")] == 0
    labels = sorted({**BROKEN["incidents"][0], "cluster": "prod"}.items())
    assert collector.found[f"{name}incident", *labels] == 1
    assert collector.found[f"{name}findings", prod, ("code", "KA302"), ("severity", "CRITICAL")] == 1
    assert (collector.found[f"{name}reads_asked", prod], collector.found[f"{name}reads_answered", prod]) == (40, 38)
    assert collector.found[f"{name}brokers_reached", prod, ("vantage", "worker")] == 2
    assert collector.found[f"{name}finished_timestamp_seconds", prod] == 1769846410


def test_without_the_setting_nothing_is_sent(run_task, collector):
    run_task(AIRFLOW__METRICS__OTEL_ON="False")
    assert collector.found == {}


def test_whatever_fails_is_a_line_of_the_log(monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("http://collector:4318/?key=hush")  # noqa: EM101 -- of an exporter

    monkeypatch.setattr(internals, "export_gauges", fail)
    monkeypatch.setenv("AIRFLOW__METRICS__OTEL_ON", "True")
    otel_metrics.send_metrics([report_of(BROKEN)])
    assert "the numbers of the reports were not exported: RuntimeError" in caplog.text
    assert "hush" not in caplog.text


def test_airflow_3_1_has_its_metrics_in_another_module(monkeypatch):
    sent = []
    stats = SimpleNamespace(gauge=lambda name, value, tags: sent.append((name, value, tags)))
    monkeypatch.setitem(sys.modules, "airflow.sdk.observability.stats", None)
    monkeypatch.setitem(sys.modules, "airflow.stats", SimpleNamespace(Stats=stats))
    internals.export_gauges([("kafka_audit.age", {"cluster": "prod"}, 2.0)], 1.0)
    assert sent == [("kafka_audit.age", 2.0, {"cluster": "prod"})]
