"""The release of a file that is linted against a running cluster: the one that runs there."""

from types import SimpleNamespace

import pytest

from kafka_audit.lint import against, versions


@pytest.mark.parametrize(
    ("running", "known"),
    [
        ({0: ((2, 8), (2, 8)), 1: ((2, 8), (2, 8))}, "2.8"),
        ({0: ((2, 8), (2, 8)), 1: ((3, 9), (3, 9))}, None),  # half upgraded, and the file is of a new broker
        ({0: ((2, 6), (2, 7)), 1: ((2, 6), (2, 7))}, None),
        ({0: None}, None),
        ({}, None),
    ],
)
def test_a_new_broker_gets_the_release_of_all_others(monkeypatch, running, known):
    monkeypatch.setattr(against, "minor_releases", lambda _view, broker: running[broker])
    assert against.running_release(SimpleNamespace(brokers=running), 7) == known


def test_a_broker_that_runs_has_its_own(monkeypatch):
    running = {0: ((2, 8), (2, 8)), 1: ((3, 9), (3, 9))}
    monkeypatch.setattr(against, "minor_releases", lambda _view, broker: running[broker])
    assert against.running_release(SimpleNamespace(brokers=running), 1) == "3.9"


def test_the_running_release_comes_after_what_the_file_names():
    broker = SimpleNamespace(version=None, image=None, value=lambda _key: "", unknown=set(), properties={})
    assert versions.chosen(broker, None, "2.8").version.startswith("2.8")
    assert versions.chosen(broker, None, "2.8").why == "the cluster runs it"
    assert versions.chosen(broker, "3.6", "2.8").version.startswith("3.6")
