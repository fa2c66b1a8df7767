"""`kafka-audit clusters`: which clusters are listed, as text and as JSON."""

import json

import pytest

from kafka_audit import settings
from kafka_audit.cli import arguments, clusters, main
from kafka_audit.model.errors import UsageError

DEFAULTS = "defaults: {labels: {env: prod}, limits: {audit_s: 60}}\n"
PAYMENTS = """
clusters:
  payments: {zookeeper: 'z1:2181,z2:2181/pay', labels: {team: payments}}
  payments-stage: {bootstrap: ['b1:9092', 'b2:9092'], labels: {team: payments, env: stage}}
"""
CLOUD = "clusters: {cloud: {kafka_conn_id: kafka_cloud}}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clusters.d").mkdir()
    for name, text in {"defaults": DEFAULTS, "payments": PAYMENTS, "cloud": CLOUD}.items():
        (tmp_path / "clusters.d" / f"{name}.yaml").write_text(text)
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", "clusters.d")


def test_all_clusters_are_listed_with_address_and_labels(capsys):
    assert main(["clusters"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "cloud           connection kafka_cloud  env=prod",
        "payments        z1:2181,z2:2181/pay     env=prod team=payments",
        "payments-stage  b1:9092,b2:9092         env=stage team=payments",
    ]


def test_labels_choose(capsys):
    assert main(["clusters", "--label", "env=prod", "--label", "team=payments"]) == 0
    assert capsys.readouterr().out.split() == ["payments", "z1:2181,z2:2181/pay", "env=prod", "team=payments"]


def test_json_is_for_scripts(capsys):
    assert main(["clusters", "--label", "env=stage", "--format", "json"]) == 0
    labels = {"env": "stage", "team": "payments"}
    assert json.loads(capsys.readouterr().out) == [{"cluster": "payments-stage", "address": "b1:9092,b2:9092", "labels": labels}]


def test_a_slip_in_one_file_is_named(capsys, tmp_path):
    (tmp_path / "clusters.d" / "search.yaml").write_text("clusters: {search: {boostrap: ['h:1']}}")
    assert main(["clusters"]) == 2
    assert capsys.readouterr().err == (
        "kafka-audit: clusters.d/search.yaml:1: clusters.search.boostrap: unknown key; did you mean bootstrap?\n"
    )


def test_run_takes_the_folder(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))  # ends the run before the cluster is read
    assert main(["run", "paymnts", "--config", "clusters.d"]) == 2
    assert "clusters.d: cluster 'paymnts' does not exist; did you mean payments?" in capsys.readouterr().err
    assert main(["run", "payments", "--config", "clusters.d", "--engine", "spark"]) == 1
    assert "Spark requires Java" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), "name a cluster of the cluster file, or the address of a broker: --bootstrap HOST:PORT"),
        (("prod", "--bootstrap", "b1:9092"), "'prod' and an address exclude each other"),
        (("--config", "clusters.d", "--bootstrap", "b1:9092"), "--config and an address exclude each other"),
        (("--bootstrap", "b1"), "--bootstrap: 'b1' is not a host:port"),
        (("--bootstrap", "b1:9092", "--name", "a b"), "--name: a cluster's name takes letters"),
        (("--zookeeper", "z1:2181", "--name", "../x"), "--name: a cluster's name takes letters"),
    ],
)
def test_addresses_in_place_of_a_cluster_file_are_checked(capsys, options, expected):
    assert main(["run", *options]) == 2
    printed = capsys.readouterr().err
    assert expected in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (["--bootstrap", "b1.corp:9092,b2.corp:9092"], "b1.corp"),
        (["--bootstrap", "[::1]:9092"], "1"),
        (["--zookeeper", "z1:2181/kafka"], "z1"),
        (["--bootstrap", "b1:9092", "--zookeeper", "z1:2181", "--name", "orders"], "orders"),
    ],
)
def test_a_cluster_by_its_addresses(address, name):
    parsed = arguments.parse_arguments(["run", *address]).args[0]
    cluster = clusters.cluster_without_airflow(parsed)
    assert cluster.name == name
    assert clusters.what_a_file_adds(cluster).count("{broker_id}") == 3


def test_a_cluster_by_its_address_is_saved_once(tmp_path):
    file = tmp_path / "clusters.yaml"
    parsed = arguments.parse_arguments(
        ["run", "--bootstrap", "b1.corp:9092", "--name", "orders", "--save-config", str(file)]
    ).args[0]
    cluster = clusters.cluster_without_airflow(parsed)
    clusters.save_config(parsed, cluster)
    saved = settings.load(file)["orders"]
    assert (saved.bootstrap, saved.vantages, saved.properties, saved.logs) == (("b1.corp:9092",), (), (), None)
    with pytest.raises(UsageError, match=r"clusters\.yaml cannot be written: File exists"):
        clusters.save_config(parsed, cluster)
    parsed.cluster = "prod"
    with pytest.raises(UsageError, match="prod is in a cluster file"):
        clusters.save_config(parsed, cluster)
