"""What a viewer must not get out of the pages: a redirect to a host of his choice, paths of the store, logins in URLs."""

import http.client
import re
import socket
import threading
import time

import pytest
import uvicorn
from fastapi import FastAPI

from airflow_page import BROKEN, EVERY_PAGE, of_run
from kafka_audit.airflow.page.routes import app
from kafka_audit.model.errors import StoreBusyError
from kafka_audit.model.report import report_json
from kafka_audit.store.history import History
from reported import put, report_of

EVIL = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "javascript"}
SLASHES = [
    *(f"{path}/" for path in EVERY_PAGE if path != "/" and "?" not in path),
    "/run/?dag=kafka_audit&run=r",
    "/clusters//evil.example/",
    "/%2f%2fevil.example/",
    "/nothing/",
]


@pytest.mark.parametrize("path", SLASHES)
@pytest.mark.parametrize("role", ["VIEWER", "anonymous"])
def test_a_trailing_slash_redirects_nobody(client, path, role):
    asked = client(anonymous=True) if role == "anonymous" else client(role=role)
    answer = asked.get(path, headers=EVIL, follow_redirects=False)
    assert answer.status_code in {401, 404}
    assert "location" not in answer.headers
    assert "evil.example" not in answer.text.replace(path, "")


def test_the_one_redirect_is_relative_whatever_the_host(viewer):
    answer = viewer.get(of_run(cluster="prod"), headers=EVIL, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("snapshots/")


@pytest.fixture
def served(viewer):  # noqa: ARG001 -- a user is logged in
    """Return the port of a real server that mounts the pages as Airflow does."""
    outer = FastAPI()
    outer.mount("/kafka-audit", app)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(outer, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield port
    server.should_exit = True
    thread.join()


def test_a_real_server_redirects_nobody_by_host(served):
    for path, expected in (("/kafka-audit/checks/", 404), ("/kafka-audit/clusters/prod/", 404), ("/kafka-audit/checks", 200)):
        connection = http.client.HTTPConnection("127.0.0.1", served)
        connection.request("GET", path, headers={"Host": "evil.example"})
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Location")) == (expected, None), path
        connection.close()


def errors(text):
    return re.findall(r"Error ([0-9a-f]{8}): see the log of Airflow", text)


@pytest.mark.parametrize("path", ["/", "/clusters/prod", f"/snapshots/{BROKEN[1]}", "/clusters/prod/timeline", "/checks"])
def test_a_damaged_report_shows_no_path_and_the_log_does(viewer, store, tmp_path, caplog, path):
    damaged = tmp_path / "store" / "snapshots" / BROKEN[1] / "findings.json"
    damaged.write_text("{")
    answer = viewer.get(path)
    assert str(tmp_path) not in answer.text
    assert store.root not in answer.text
    shown = errors(answer.text)
    assert shown or path == "/checks"
    for name in shown:
        assert f"error {name}: SnapshotError: {damaged}" in caplog.text


def test_a_report_that_no_version_wrote_shows_no_path(client, store, tmp_path, caplog):
    document = report_json(store.read_report(BROKEN[1]))
    document["matrix"] = str(tmp_path)
    put(store, BROKEN[1], document)
    answer = client(role="VIEWER", raise_server_exceptions=False).get(f"/snapshots/{BROKEN[1]}")
    assert answer.status_code == 404
    assert str(tmp_path) not in answer.text
    (name,) = errors(answer.text)
    assert f"error {name}: " in caplog.text
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


LOGINS = ["s3://AKIA123:se/cr+t@bucket/audit", "abfs://box@acc.example/x?sig=s3cret", "gs://u:s3cret@bucket/x"]


@pytest.mark.parametrize("url", LOGINS)
@pytest.mark.parametrize("path", ["/", f"/snapshots/{BROKEN[1]}", "/run?dag=kafka_audit&run=r"])
def test_a_login_in_the_url_of_the_store_is_nowhere(viewer, monkeypatch, caplog, url, path):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", url)
    answer = viewer.get(path)
    assert answer.status_code == 500
    assert errors(answer.text)
    assert re.search("the URL of a store must not contain a (password|query)", caplog.text)
    for secret in ("AKIA123", "se/cr+t", "cr+t", "s3cret"):
        assert secret not in answer.text
        assert secret not in caplog.text
    assert "://" not in re.sub(r"https?://www\.w3\.org/[\w/]+", "", answer.text)


def test_what_a_file_system_says_is_masked_in_the_log_too(viewer, monkeypatch, caplog):
    def fail(self):  # noqa: ARG001 -- a method
        text = "GET https://acc.example/audit?comp=list&sig=s3cret: 503, https://u:hunter2@proxy/"
        raise StoreBusyError(text)

    monkeypatch.setattr(History, "snapshots", fail)
    answer = viewer.get("/")
    assert (answer.status_code, "The store cannot be read." in answer.text) == (500, True)
    assert "acc.example" not in answer.text
    assert "https://acc.example/audit?comp=list&sig=***" in caplog.text
    assert "s3cret" not in caplog.text
    assert "hunter2" not in caplog.text


def test_an_unreadable_cluster_file_shows_no_path(viewer, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(tmp_path / "none.yaml"))
    answer = viewer.get("/")
    assert answer.status_code == 200
    assert str(tmp_path) not in answer.text
    (name,) = errors(answer.text)
    assert str(tmp_path / "none.yaml") in caplog.text.partition(name)[2]


def test_a_report_says_which_snapshot_was_passed_over_and_not_where(viewer, store, tmp_path):
    """Reports are written by audits; `tests/cli/test_audit.py` has them write this."""
    document = report_json(store.read_report(BROKEN[1])) | {"passed_over": [f"snapshots/{BROKEN[0]}/manifest.json: is missing"]}
    store.write_report(BROKEN[1], report_of(document))
    text = viewer.get(f"/snapshots/{BROKEN[1]}").text
    assert f"snapshots/{BROKEN[0]}/manifest.json" in text
    assert str(tmp_path) not in text
