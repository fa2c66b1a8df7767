"""Reports by cluster for teams that share one Airflow: asked of Airflow's own auth manager, with its teams and its database."""

import json
import re

import pytest
from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from airflow.api_fastapi.core_api.security import get_user
from airflow.models.dag import DagModel
from airflow.models.dagbundle import DagBundleModel
from airflow.models.team import Team
from airflow.utils.session import create_session
from fastapi.testclient import TestClient

from airflow_page import BROKEN, QUIET, RUN, of_run
from airflow_room.page.test_migration_reports import DECISION
from kafka_audit.airflow.page.links import BEFORE
from kafka_audit.airflow.page.routes import app
from kafka_audit.store.baselines import DECISIONS, Baselines

TEAMS = {"payments": "payments_etl", "search": "search_index"}
BY_CLUSTER = {"prod": "payments_etl", "quiet.eu": "search_index", "unasked": "nobody_wrote_this_dag"}
OF_PROD = [
    "/clusters/prod",
    "/clusters/prod/timeline",
    f"/clusters/prod/timeline?a={BROKEN[0]}&b={BROKEN[1]}",
    f"/snapshots/{BROKEN[1]}",
    *(f"/snapshots/{BROKEN[0]}/findings.{form}" for form in ("json", "html", "md", "sarif", "openmetrics")),
    f"/decisions/{BROKEN[1]}",
]
OF_QUIET = ["/clusters/quiet.eu", f"/snapshots/{QUIET}", f"/snapshots/{QUIET}/findings.json"]


@pytest.fixture
def teams(database, monkeypatch):  # noqa: ARG001 -- must be there
    """Put two teams with a DAG each into Airflow's database, and a DAG of no team."""
    monkeypatch.setenv("AIRFLOW__CORE__MULTI_TEAM", "True")
    with create_session() as session:
        for team, dag in TEAMS.items():
            bundle = DagBundleModel(name=f"bundle-{team}")
            bundle.teams.append(Team(name=team))
            session.add(bundle)
            session.flush()
            session.add(DagModel(dag_id=dag, bundle_name=bundle.name))
        session.add(DagBundleModel(name="bundle-of-all"))
        session.flush()
        session.add(DagModel(dag_id="kafka_audit", bundle_name="bundle-of-all"))
    yield
    with create_session() as session:
        for model in (DagModel, DagBundleModel, Team):
            for row in session.query(model).all():
                session.delete(row)
            session.flush()


@pytest.fixture
def member(teams, store, monkeypatch):  # noqa: ARG001 -- must be there
    """Return a function that makes a client of a member of teams, and says which DAGs decide."""
    Baselines(store.root, DECISIONS).keep(DECISION)

    def make(*names, role="VIEWER", dags=BY_CLUSTER):
        monkeypatch.setenv("KAFKA_AUDIT_REPORT_DAGS", dags if isinstance(dags, str) else json.dumps(dags))
        user = SimpleAuthManagerUser(username="somebody", role=role, teams=list(names))
        app.dependency_overrides[get_user] = lambda: user
        return TestClient(app)

    yield make
    app.dependency_overrides.clear()


def test_it_is_airflows_own_auth_manager_that_is_asked(member):
    member("payments")
    assert type(get_auth_manager()).__name__ == "SimpleAuthManager"


def test_a_team_sees_its_cluster(member):
    client = member("payments")
    assert {path: client.get(path).status_code for path in OF_PROD} == dict.fromkeys(OF_PROD, 200)
    assert "cut off" in client.get("/").text


@pytest.mark.parametrize("path", OF_PROD)
def test_another_team_gets_the_answer_of_what_is_not_there(member, path):
    client = member("search")
    answer, absent = client.get(path), client.get(path.replace("-prod-", "-absent-").replace("/prod", "/absent"))
    assert answer.status_code == absent.status_code == 404
    assert re.sub(r"\bprod\b", "absent", answer.text) == absent.text


def test_pages_over_several_clusters_show_a_teams_own_alone(member):
    client = member("search")
    for path in ("/", of_run(), of_run(cluster="prod"), "/checks", "/checks/KA302", "/metrics"):
        page = client.get(path).text
        assert "cut off" not in page, path
        assert BROKEN[1] not in page, path
        assert "clusters/prod" not in page, path
    assert "clusters/quiet.eu" in client.get("/").text
    assert client.get(of_run()).text == client.get(f"/snapshots/{QUIET}", params={"run": RUN}).text  # the only one of it
    assert [client.get(path).status_code for path in OF_QUIET] == [200] * len(OF_QUIET)
    assert "This run has no report" in client.get("/run", params={"dag": BEFORE, "run": RUN, "cluster": "prod"}).text


def test_the_filter_offers_the_labels_of_a_teams_own_clusters_alone(member, tmp_path):
    (tmp_path / "clusters.yaml").write_text(
        "clusters:\n  prod: {bootstrap: ['b:1'], labels: {codename: hidden-project}}\n"
        "  quiet.eu: {bootstrap: ['b:2'], labels: {team: search}}\n"
    )
    page = member("search").get("/", params={"by": "codename"}).text
    assert "team=search" in page
    assert "codename" not in page
    assert "hidden-project" not in page


def test_the_catalogue_counts_a_teams_own_clusters_alone(member):
    assert member("payments").get("/checks").text != member("search").get("/checks").text


def test_both_teams_see_both(member):
    client = member("payments", "search")
    assert {client.get(path).status_code for path in (*OF_PROD, *OF_QUIET)} == {200}


def test_a_user_of_no_team_sees_nothing(member):
    client = member()
    assert {client.get(path, follow_redirects=False).status_code for path in (*OF_PROD, *OF_QUIET, "/", "/checks")} == {403}
    assert {client.get(path).status_code for path in ("/page.css", "/page.js")} == {403}


def test_a_dag_that_is_not_there_opens_nothing(member):
    """Of its team nothing is known, and the simple auth manager lets every viewer read a DAG of no team."""
    assert "clusters/unasked" not in member("payments", "search").get("/").text
    assert member("payments", dags={"prod": "nobody_wrote_this_dag"}).get("/clusters/prod").status_code == 403


def test_a_cluster_of_which_nothing_is_said_is_shown_to_those_of_the_star(member):
    named = {"prod": "payments_etl"}
    assert member("payments", dags=named).get("/clusters/quiet.eu").status_code == 404
    assert member("payments", dags=named | {"*": "search_index"}).get("/clusters/quiet.eu").status_code == 404
    assert member("payments", dags=named | {"*": "kafka_audit"}).get("/clusters/quiet.eu").status_code == 200
    assert member("search", dags=named | {"*": "kafka_audit"}).get("/clusters/prod").status_code == 404


def test_an_administrator_sees_everything(member):
    client = member(role="ADMIN")
    assert {client.get(path).status_code for path in (*OF_PROD, *OF_QUIET)} == {200}


def test_without_the_variable_all_is_as_before(member):
    client = member("search", dags="")
    assert {client.get(path).status_code for path in (*OF_PROD, *OF_QUIET)} == {200}


@pytest.mark.parametrize("wrong", ["{", "[]", "prod=payments_etl", "{}", '{"prod": ""}', '{"prod": 1}', '{"prod": null}'])
def test_a_variable_that_says_nothing_shows_nothing(member, wrong):
    client = member("payments", role="ADMIN", dags=wrong)
    for path in ("/", "/clusters/prod"):
        answer = client.get(path)
        assert answer.status_code == 500
        assert "cut off" not in answer.text
