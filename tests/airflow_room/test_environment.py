"""What environment variables mean, and what holds without them."""

from pathlib import Path

import pytest

from kafka_audit.airflow import environment
from kafka_audit.model.errors import UsageError


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch, tmp_path):
    for name in ("CLUSTERS", "STORE", "SCHEDULE", "FAIL_ON", "MIN_COVERAGE", "SPARK_MEMORY"):
        monkeypatch.delenv(f"KAFKA_AUDIT_{name}", raising=False)
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))


def test_defaults_lie_in_airflow_home(tmp_path):
    assert environment.clusters_file() == str(tmp_path / "clusters.yaml")
    assert environment.store_root() == str(tmp_path / "kafka-audit-store")
    assert environment.schedule() == "*/15 * * * *"
    assert (environment.fail_on(), environment.min_coverage(), environment.spark_memory()) == ("high", 1.0, "2g")


@pytest.mark.parametrize(
    ("given", "root"),
    [("s3://bucket/audit/", "s3://bucket/audit"), ("relative", str(Path.cwd() / "relative")), ("/a/b", "/a/b")],
)
def test_a_store_is_a_url_or_an_absolute_path(monkeypatch, given, root):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", given)
    assert environment.store_root() == root


@pytest.mark.parametrize(("given", "schedule"), [("none", None), ("None", None), ("@hourly", "@hourly"), ("", "*/15 * * * *")])
def test_a_schedule_can_be_switched_off(monkeypatch, given, schedule):
    monkeypatch.setenv("KAFKA_AUDIT_SCHEDULE", given)
    assert environment.schedule() == schedule


@pytest.mark.parametrize("given", ["90%", "1.1", "-0.1", "nan"])
def test_a_coverage_that_is_no_share_is_refused(monkeypatch, given):
    monkeypatch.setenv("KAFKA_AUDIT_MIN_COVERAGE", given)
    with pytest.raises(UsageError, match="KAFKA_AUDIT_MIN_COVERAGE"):
        environment.min_coverage()
