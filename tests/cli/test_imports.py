"""What an audit imports: half of its CPU time at three brokers."""

import json
import subprocess
import sys

from scenarios.loopback_cluster import LoopbackCluster
from testbed.airflow_home import ROOT

RUN = """
import json, sys
sys.path[:0] = [{plugins!r}]
from kafka_audit.cli import main
code = main({argv!r})
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
NOT_NEEDED = {
    "cryptography.x509": "TLS",
    "fsspec": "a store or a file at a URL",
    "jinja2": "--format html",
    "jsonschema": "reports of other parties",
    "prometheus_client": "--format openmetrics",
    "pyspark": "--engine spark",
    "upath": "files that the cluster file names",
}


def test_an_audit_imports_nothing_that_it_does_not_use(tmp_path):
    cluster = LoopbackCluster()
    try:
        bootstrap = ",".join(cluster.entry()["bootstrap"])
        argv = ["run", "--bootstrap", bootstrap, "--out", str(tmp_path / "store"), "--format", "json", "--quiet"]
        script = RUN.format(plugins=str(ROOT / "plugins"), argv=argv)
        completed = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    finally:
        cluster.close()
    code, modules = json.loads(completed.stderr.splitlines()[-1])
    assert code == 0, completed.stderr
    assert json.loads(completed.stdout)["coverage"]["answered"]
    assert {"duckdb", "pyarrow"} <= set(modules)
    assert not NOT_NEEDED.keys() & set(modules)
