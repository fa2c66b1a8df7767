"""A real Prometheus reads the numbers of audits: its alert has the headline while a broker is down, and ends after the repair.

Every expression of the Grafana dashboard is asked there, before and after the repair.
"""

import http.server
import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from functools import partial
from pathlib import Path

import pytest

import dashboard
from scenarios.scheduled import free_port
from testbed import Bed

ROOT = Path(__file__).parents[2]
RULES = ROOT / "docs" / "monitoring" / "kafka-audit.rules.yml"
DEADLINE_S = 300

pytestmark = [
    pytest.mark.bed,
    pytest.mark.spark,
    pytest.mark.scenario,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed (Debian: prometheus)"),
]


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder as the page serves /metrics."""

    extensions_map = {".openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8"}  # noqa: RUF012 -- of the base class

    def log_message(self, *_):
        pass


@pytest.fixture
def prometheus(tmp_path):
    """Start Prometheus over the newest report in a store; returns a function that asks its API."""
    (tmp_path / "store").mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(tmp_path / "store")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    target = {"static_configs": [{"targets": [f"127.0.0.1:{server.server_port}"]}], "metrics_path": "/findings.openmetrics"}
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [{"job_name": "kafka-audit", **target}],
    }
    file, port = tmp_path / "prometheus.yml", free_port()
    file.write_text(json.dumps(config))
    where = [f"--web.listen-address=127.0.0.1:{port}", f"--storage.tsdb.path={tmp_path / 'tsdb'}"]
    with (tmp_path / "prometheus.log").open("w") as log:
        process = subprocess.Popen(["prometheus", f"--config.file={file}", *where], stdout=log, stderr=log)

    def ask(path, **parameters):
        address = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(address, timeout=60) as answer:
            return json.load(answer)["data"]

    yield ask
    process.terminate()
    process.wait()
    server.shutdown()
    server.server_close()


def alerts(prometheus):
    """Return the alerts that fire as (name, summary)."""
    found = prometheus("alerts")["alerts"]
    return {(alert["labels"]["alertname"], alert["annotations"]["summary"]) for alert in found if alert["state"] == "firing"}


def panels(prometheus, cluster):
    """Return what each panel of the dashboard shows now by its title: (labels, value) of each series."""
    shown = {}
    for title, expression in dashboard.expressions(cluster).items():
        series = prometheus("query", query=expression)["result"]
        shown[title] = [(line["metric"], float(line["value"][1])) for line in series]
        end = time.time()
        lines = prometheus("query_range", query=expression, start=end - 5, end=end, step=1)["result"]
        assert lines or not series, title
    return shown


def until(condition):
    """Wait until a condition holds; Prometheus is still starting where it does not answer."""
    deadline, last = time.monotonic() + DEADLINE_S, None
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except OSError as error:
            last = error
        time.sleep(0.5)
    pytest.fail(f"not within {DEADLINE_S} s; {last}")


def test_the_alert_has_the_headline_and_ends(tmp_path, prometheus):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.cluster("3.9.1")
        cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
        cluster.await_settled()
        config = tmp_path / "clusters.yaml"
        config.write_text(cluster.clusters_yaml("prod"))

        def audit():
            command = [sys.executable, "-m", "kafka_audit.cli", "run", "prod", "--config", str(config)]
            completed = bed.worker.run([*command, "--out", str(tmp_path / "store"), "--format", "json,openmetrics"], cwd=tmp_path)
            assert completed.returncode in {0, 3}, completed.stderr
            return json.loads(completed.stdout)

        cluster.brokers[2].stop()
        broken = audit()
        headline = broken["incidents"][0]["headline"]
        until(lambda: ("KafkaAuditIncident", f"prod: {headline}") in alerts(prometheus))
        assert prometheus("label/cluster/values", **{"match[]": "kafka_audit_incidents"}) == ["prod"]
        shown = panels(prometheus, "prod")
        assert all(panels(prometheus, ".*").values()), "all clusters"
        assert [title for title, series in shown.items() if not series] == []
        assert shown["Clusters with an incident"][0][1] == shown["Clusters audited"][0][1] == 1
        assert shown["Incidents"][0][1] == len(broken["incidents"])
        assert headline in {labels["headline"] for labels, _ in shown["Open incidents"]}
        assert min(value for _, value in shown["Brokers reached by vantage"]) == pytest.approx(2 / 3), "a broker that is gone"
        cluster.brokers[2].start()
        cluster.await_settled()
        assert audit()["incidents"] == []
        until(lambda: alerts(prometheus) == set())
        shown = panels(prometheus, "prod")
        assert shown["Open incidents"] == []
        assert [
            title for title, series in shown.items() if not series and title not in {"Open incidents", "Failures by check"}
        ] == []
        assert shown["Clusters with an incident"][0][1] == shown["Incidents"][0][1] == 0
        assert shown["Clusters audited"][0][1] == shown["Lowest coverage"][0][1] == 1
        assert {value for _, value in shown["Brokers reached by vantage"]} == {1}
        assert {value for labels, value in shown["Failures by severity"] if labels["severity"] in {"CRITICAL", "HIGH"}} == {0}
        assert 0 < shown["Oldest audit"][0][1] < 600
        assert all(series == [] for series in panels(prometheus, "staging").values()), (
            "no number of a cluster that was never audited"
        )


@pytest.mark.parametrize("command", [["check", "rules", RULES.name], ["test", "rules", "kafka-audit.rules.test.yml"]])
def test_promtool_accepts_the_rules(command):
    completed = subprocess.run(["promtool", *command], cwd=RULES.parent, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr
