"""Clusters by label."""

import pytest

from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.labels import all_labels, parse_label, with_labels

CLUSTERS = {
    name: Cluster(name=name, labels=labels)
    for name, labels in {
        "pay": {"env": "prod", "team": "payments"},
        "pay-stage": {"env": "stage", "team": "payments"},
        "search": {"env": "prod"},
        "lab": {},
    }.items()
}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["pay", "pay-stage", "search", "lab"]),
        ({"env": "prod"}, ["pay", "search"]),
        ({"env": "prod", "team": "payments"}, ["pay"]),
    ],
)
def test_a_cluster_has_all_wanted_labels(wanted, found):
    assert list(with_labels(CLUSTERS, wanted, "f.yaml")) == found


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"env": "prd"}, "f.yaml: no cluster has the label env=prd; did you mean env=prod?"),
        ({"env": "xyz"}, "f.yaml: no cluster has the label env=xyz; the labels are env=prod and env=stage"),
        ({"zone": "7"}, "f.yaml: no cluster has the label zone=7; the labels are env=prod, env=stage and team=payments"),
        ({"env": "stage", "team": "search"}, "f.yaml: no cluster has the label team=search; the labels are team=payments"),
    ],
)
def test_labels_that_no_cluster_has_are_named(wanted, message):
    with pytest.raises(UsageError) as error:
        with_labels(CLUSTERS, wanted, "f.yaml")
    assert str(error.value) == message


def test_labels_that_no_cluster_has_together_are_named():
    clusters = {name: CLUSTERS[name] for name in ("pay-stage", "search")}
    with pytest.raises(UsageError, match="no cluster has all labels env=prod and team=payments"):
        with_labels(clusters, {"env": "prod", "team": "payments"}, "f.yaml")
    with pytest.raises(UsageError, match="no cluster has the label env=prod; no cluster has labels"):
        with_labels({"lab": CLUSTERS["lab"]}, {"env": "prod"}, "f.yaml")


def test_a_label_is_a_name_and_a_value():
    assert parse_label("env=prod") == ("env", "prod")
    assert parse_label("query=a=b") == ("query", "a=b")
    for text in ("env", "env=", "=prod", "a b=c", ""):
        with pytest.raises(ValueError, match="is not a label such as env=prod"):
            parse_label(text)


def test_two_values_of_one_name_are_a_slip_and_twice_the_same_is_none():
    assert all_labels([("env", "prod"), ("env", "prod")]) == {"env": "prod"}
    with pytest.raises(UsageError, match="not env=prod and env=stage"):
        all_labels([("env", "prod"), ("env", "stage")])
