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


@pytest.fixture
def section(monkeypatch):
    """Return a function that writes the section of airflow.cfg, as this process reads it."""

    def write(**options):
        for name, value in options.items():
            monkeypatch.setenv(f"AIRFLOW__KAFKA_AUDIT__{name.upper()}", value)

    return write


def test_an_option_of_airflows_configuration_is_a_setting(section):
    section(store="s3://bucket/audit/", fail_on="medium", schedule="none", min_coverage="0.5", pool="kafka", notifiers="[1]")
    assert environment.store_root() == "s3://bucket/audit"
    assert (environment.fail_on(), environment.schedule(), environment.min_coverage()) == ("medium", None, 0.5)
    assert (environment.in_pool(), environment.notifier_list()) == ({"pool": "kafka"}, "[1]")


def test_the_variable_takes_precedence_over_the_option(section, monkeypatch):
    section(fail_on="medium", min_coverage="0.5")
    monkeypatch.setenv("KAFKA_AUDIT_FAIL_ON", "low")
    monkeypatch.setenv("KAFKA_AUDIT_MIN_COVERAGE", "")
    assert (environment.fail_on(), environment.min_coverage()) == ("low", 0.5)


def test_a_wrong_option_is_named(section):
    section(min_coverage="90%%")
    with pytest.raises(UsageError, match=r"KAFKA_AUDIT_MIN_COVERAGE \(min_coverage in \[kafka_audit\]\) is '90%"):
        environment.min_coverage()
