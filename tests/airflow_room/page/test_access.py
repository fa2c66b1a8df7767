"""Who gets in, and with which headers; the addresses are asked for as Airflow's own server would serve them."""

import importlib
import sys

import pytest
from fastapi.routing import APIRoute

from airflow_page import BROKEN, EVERY_PAGE
from kafka_audit.airflow.page import access, plugin
from kafka_audit.airflow.page.routes import app


@pytest.mark.parametrize("path", EVERY_PAGE)
def test_nobody_sees_anything_without_a_login(client, path):
    answer = client(anonymous=True).get(path, follow_redirects=False)
    assert answer.status_code == 401
    assert "cut off" not in answer.text
    assert BROKEN[0] not in answer.text


@pytest.mark.parametrize("path", EVERY_PAGE)
def test_a_login_without_the_right_sees_nothing(client, path):
    answer = client(role=None).get(path, follow_redirects=False)
    assert answer.status_code == 403
    assert "cut off" not in answer.text


@pytest.mark.parametrize("role", ["VIEWER", "USER", "OP", "ADMIN"])
@pytest.mark.parametrize("path", EVERY_PAGE)
def test_whoever_may_read_the_dag_sees_the_pages(client, path, role):
    assert client(role=role).get(path, follow_redirects=False).status_code in {200, 303}


def test_a_token_that_is_none_is_refused(client):
    for headers in ({"Authorization": "Bearer x.y.z"}, {"Cookie": "_token=x.y.z"}):
        assert client(anonymous=True).get("/", headers=headers).status_code in {401, 403}


def test_every_route_is_guarded():
    """What FastAPI adds by itself, its documentation, would not be; so there must be none of it."""
    assert len(app.router.dependencies) == len(access.required()) == 2
    assert all(isinstance(route, APIRoute) for route in app.routes)
    for route in app.routes:
        assert len(route.dependant.dependencies) >= 2
        assert route.methods == {"GET"}


def test_an_airflow_that_cannot_be_asked_lets_nobody_in(monkeypatch):
    monkeypatch.setitem(sys.modules, "airflow.api_fastapi.core_api.security", None)
    (only,) = access.required()
    assert only.dependency is access.refuse_every_user
    with pytest.raises(Exception, match="cannot check permissions in this version of Airflow"):
        access.refuse_every_user()


@pytest.mark.parametrize("path", ["/", "/page.css", f"/snapshots/{BROKEN[0]}/findings.html", "/nothing"])
def test_every_answer_has_the_headers(client, path):
    for visitor in (client(anonymous=True), client(role="VIEWER")):
        answer = visitor.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_the_views_are_where_airflow_has_places_for_them():
    """An unknown destination lets Airflow drop the whole plugin, with one line in the log."""
    from airflow.api_fastapi.core_api.datamodels.plugins import ExternalViewResponse  # noqa: PLC0415 -- in the home of conftest

    assert [ExternalViewResponse(**view).destination for view in plugin.KafkaAuditPlugin.external_views] == ["nav", "dag_run"]
    assert len({view["url_route"] for view in plugin.KafkaAuditPlugin.external_views}) == 2


def test_below_a_base_path_the_views_lead_there(monkeypatch):
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://example.com/tools/airflow/")
    views = importlib.reload(plugin).KafkaAuditPlugin.external_views
    assert [view["href"].partition("?")[0] for view in views] == [
        "/tools/airflow/kafka-audit/",
        "/tools/airflow/kafka-audit/run",
    ]
    monkeypatch.undo()
    importlib.reload(plugin)
