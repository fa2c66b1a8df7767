"""A store in a bucket, of which only the Airflow connection `kafka_audit_store` has the login."""

import json
import os

import pytest
from s3fs import S3FileSystem

from kafka_audit.airflow import environment
from kafka_audit.airflow.connections import store_connection
from kafka_audit.airflow.operators.clean_report import CleanReport
from kafka_audit.model.errors import StoreError, UsageError
from kafka_audit.store import Store, object_store
from testbed.object_store import BUCKET, S3Server

VARIABLE = "AIRFLOW_CONN_KAFKA_AUDIT_STORE"
ROOT = f"s3://{BUCKET}/connected"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with S3Server(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture(autouse=True)
def _no_login(monkeypatch):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("KAFKA_AUDIT_STORE", ROOT)
    monkeypatch.setattr(store_connection, "_known", {})
    monkeypatch.setattr(object_store, "_connected", [])
    S3FileSystem.clear_instance_cache()  # another test's, with its server and login


def test_the_store_of_every_process_takes_the_login_of_the_connection(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps(server.connection()))
    store = Store(environment.store_root())
    store.prepare()
    store.write_for_job("r1", "x.zip", b"PK")
    assert server.objects() == {"connected/runs/r1/x.zip": 2}
    assert not [name for name in os.environ if name.startswith("AWS_") and name != "AWS_EC2_METADATA_DISABLED"]
    assert server.secret not in repr(store.__dict__)


def test_listings_are_read_anew(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps(server.connection()))
    files = Store(environment.store_root())._files
    files.write("anew/a", b"")
    assert files.names("anew") == ["a"]
    server.client("s3").put_object(Bucket=BUCKET, Key="connected/anew/b", Body=b"")
    assert files.names("anew") == ["a", "b"]


def test_a_trigger_takes_it_too(server, monkeypatch, caplog):
    """It has the root of the store from its task, and asks no setting for it."""
    monkeypatch.setenv(VARIABLE, json.dumps(server.connection()))
    wanted = CleanReport(cluster="prod", store=ROOT, fail_on="HIGH", min_coverage=1.0, max_age_s=60.0)
    with caplog.at_level("INFO"):
        assert wanted.find() is None
    assert "there is no report" in caplog.text


@pytest.mark.usefixtures("server")
def test_without_the_connection_there_is_no_login():
    with pytest.raises(StoreError, match="Unable to locate credentials"):
        Store(environment.store_root()).prepare()


def test_a_wrong_secret_is_refused_without_showing_it(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps({**server.connection(), "password": "wr0ng"}))
    with pytest.raises(StoreError, match="signature") as refused:
        Store(environment.store_root()).prepare()
    assert "wr0ng" not in str(refused.value)
    assert server.key not in str(refused.value)


def test_a_connection_is_looked_up_once_a_minute_and_one_that_changed_is_taken(server, monkeypatch):
    seconds, looked_up = [0.0], []
    monkeypatch.setattr(store_connection.time, "monotonic", lambda: seconds[0])
    found = store_connection.find_connection
    monkeypatch.setattr(store_connection, "find_connection", lambda name: looked_up.append(name) or found(name))
    monkeypatch.setenv(VARIABLE, json.dumps(server.connection()))
    first = store_connection._file_system(ROOT)
    assert store_connection._file_system(ROOT) is first
    assert len(looked_up) == 1
    seconds[0] = 61.0
    assert store_connection._file_system(ROOT) is first
    monkeypatch.setenv(VARIABLE, json.dumps({**server.connection(), "password": "changed"}))
    assert store_connection._file_system(ROOT) is first
    seconds[0] = 122.0
    assert store_connection._file_system(ROOT) is not first
    assert len(looked_up) == 3


def test_a_service_whose_provider_is_missing_is_named(monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps({"conn_type": "google_cloud_platform"}))
    monkeypatch.setenv("KAFKA_AUDIT_STORE", "gs://bucket/audit")
    with pytest.raises(
        UsageError, match="No filesystem registered for scheme gs; the Airflow connection kafka_audit_store needs"
    ):
        Store(environment.store_root())
