"""KAFKA_AUDIT_RETENTION, and `keep` of a cluster, which replaces it."""

import pytest

from kafka_audit import settings
from kafka_audit.model.cluster import Keep
from kafka_audit.model.errors import UsageError
from kafka_audit.settings import fields


def _keep(tmp_path, entry=""):
    path = tmp_path / "clusters.yaml"
    path.write_text(f"clusters:\n  prod:\n    bootstrap: [h:1]\n{entry}")
    return settings.load(str(path))["prod"].keep


@pytest.mark.parametrize(
    ("text", "keep"),
    [
        ("400", Keep(snapshots=400)),
        ("365d", Keep(days=365)),
        ("365d,9000", Keep(snapshots=9000, days=365)),
        (" 9000 , 365D ", Keep(snapshots=9000, days=365)),
        ("2", Keep(snapshots=2)),
        ("1d", Keep(days=1)),
        ("", Keep(snapshots=700)),
        ("  ", Keep(snapshots=700)),
    ],
)
def test_what_is_kept_by_default(tmp_path, monkeypatch, text, keep):
    monkeypatch.setenv(fields.VARIABLE, text)
    assert _keep(tmp_path) == keep
    assert _keep(tmp_path, "    keep: {}\n") == keep


@pytest.mark.parametrize(
    "text",
    ["1", "0", "0d", "-5", "12h", "400,500", "1d,2d", "365d,", ",", "d", "1.5d", "\u0664\u0660", "99999999", "none"],
)
def test_another_form_is_an_error_that_names_the_variable(tmp_path, monkeypatch, text):
    monkeypatch.setenv(fields.VARIABLE, text)
    with pytest.raises(UsageError, match=r"^KAFKA_AUDIT_RETENTION is .*for example 9000, 365d or 365d,9000$"):
        _keep(tmp_path)


@pytest.mark.parametrize(
    ("entry", "keep"),
    [
        ("{snapshots: 9}", Keep(snapshots=9)),
        ("{days: 30}", Keep(days=30)),
        ("{snapshots: 9, days: 30}", Keep(snapshots=9, days=30)),
    ],
)
def test_a_cluster_says_itself_what_is_kept_of_it(tmp_path, monkeypatch, entry, keep):
    monkeypatch.setenv(fields.VARIABLE, "365d,400")
    assert _keep(tmp_path, f"    keep: {entry}\n") == keep


def test_no_day_is_too_few(tmp_path):
    with pytest.raises(UsageError, match=r"keep\.days: must be at least 1, not 0"):
        _keep(tmp_path, "    keep: {days: 0}\n")


def test_a_number_of_days_before_all_time_is_an_error(tmp_path):
    with pytest.raises(UsageError, match=r"keep\.days: must be at most"):
        _keep(tmp_path, "    keep: {days: 99999999999}\n")
