"""The Grafana dashboard of the repository: its panels and the expressions that they ask Prometheus for."""

import json

from airflow_environment import ROOT

FILE = ROOT / "docs" / "monitoring" / "kafka-audit.dashboard.json"


def load():
    """Return the dashboard."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def expressions(cluster=None):
    """Return the expression of each panel by the panel's title, with `$cluster` replaced as Grafana does."""
    found = {}
    for panel in load()["panels"]:
        (target,) = panel["targets"]
        found[panel["title"]] = target["expr"].replace("$cluster", cluster) if cluster else target["expr"]
    return found
