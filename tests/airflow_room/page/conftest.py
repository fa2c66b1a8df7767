"""A store with two audits of a broken cluster and one of a quiet one, and clients of every kind."""

import copy

import pytest

import airflow_environment
import small_cluster
from kafka_audit.model.report import report_json
from reported import report_of

airflow_environment.apply()

from airflow.api_fastapi.app import init_auth_manager  # noqa: E402 -- only in the home made above
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser  # noqa: E402
from airflow.api_fastapi.core_api.security import get_user  # noqa: E402
from airflow.utils.db import initdb  # noqa: E402
from fastapi.testclient import TestClient  # noqa: E402

from airflow_page import BROKEN, QUIET, RUN  # noqa: E402
from incidents.case_files import Judged, judged_case  # noqa: E402
from kafka_audit.airflow.page import links  # noqa: E402
from kafka_audit.airflow.page.routes import app  # noqa: E402
from kafka_audit.model.run import Request, SnapshotPair  # noqa: E402
from kafka_audit.report.document import build_report  # noqa: E402
from kafka_audit.store import Store  # noqa: E402

HEALTHY = {"brokers": {0: "a:1"}}


def document_of(found, snapshot_id, cluster="prod"):
    document = build_report(found.view, None, found.findings, found.incidents(), (), None)
    return report_json(document) | {"cluster": cluster, "snapshot_id": snapshot_id}


@pytest.fixture(scope="session")
def database():
    initdb()
    init_auth_manager()


@pytest.fixture(scope="session")
def documents():
    first = document_of(judged_case("cut_off", "one_broker_measured"), BROKEN[0])
    second = copy.deepcopy(first) | {"snapshot_id": BROKEN[1], "previous_snapshot_id": BROKEN[0]}
    quiet = document_of(Judged(view=small_cluster.view(HEALTHY), findings=(), changes=()), QUIET, cluster="quiet.eu")
    return first, second, quiet


@pytest.fixture
def store(tmp_path, monkeypatch, documents):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    clusters = tmp_path / "clusters.yaml"
    clusters.write_text(
        "clusters:\n  prod: {bootstrap: ['b:1']}\n  quiet.eu: {bootstrap: ['b:2']}\n  unasked: {bootstrap: ['b:3']}\n"
    )
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(clusters))
    store = Store(tmp_path / "store")
    for document in documents:
        store.write_report(document["snapshot_id"], report_of(document))
    pairs = [SnapshotPair(snapshot_id=snapshot_id, previous_snapshot_id=None) for snapshot_id in (BROKEN[1], QUIET)]
    store.write_request(Request(run_id=f"{links.run_prefix(RUN)}abc123", pairs=tuple(pairs)))
    return store


@pytest.fixture
def client(database, store):  # noqa: ARG001 -- both must be there
    """Return a function that makes a client: of nobody, or of a user with a role of Airflow's simple auth manager."""

    def make(*, role=None, anonymous=False, **options):
        if not anonymous:
            user = SimpleAuthManagerUser(username="somebody", role=role)
            app.dependency_overrides[get_user] = lambda: user
        return TestClient(app, **options)

    yield make
    app.dependency_overrides.clear()


@pytest.fixture
def viewer(client):
    return client(role="VIEWER")
