"""Trials of addresses that nobody advertises yet: from here, and from a command vantage."""

import socket
import sys

import pytest

from kafka_audit.collect.probes import proposed_endpoints
from kafka_audit.model.cluster import Cluster, Limits, Vantage
from kafka_audit.model.tables import RegisteredEndpoint


@pytest.fixture
def silent():
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def endpoint(port, host="127.0.0.1", broker=0, protocol="PLAINTEXT", listener="CLIENT"):
    return RegisteredEndpoint(sample=0, broker_id=broker, listener=listener, protocol=protocol, host=host, port=port)


def cluster(**more):
    return Cluster(**{"name": "prod", "bootstrap": ("k:1",), "limits": Limits(read_s=60.0), **more})


def last(rows):
    return {(row.vantage, row.broker_id): (row.layer, row.outcome, row.error) for row in rows}


def test_every_way_ends_at_its_first_layer_that_does_not_work(silent, closed):
    ends = [endpoint(silent), endpoint(closed, broker=1), endpoint(9092, "nowhere.invalid", broker=2)]
    quick = cluster(limits=Limits(read_s=3.0))
    found = last(proposed_endpoints.probe_proposed_endpoints(quick, ends, [], range(3)))
    assert found["worker", 0] == ("api", "failed", "timeout")
    assert found["worker", 1] == ("tcp", "failed", "connection refused")
    assert found["worker", 2][:2] == ("dns", "failed")


def test_named_command_vantages_try_too_and_others_are_left_alone(closed, tmp_path):
    ran = tmp_path / "ran"
    here = Vantage(name="here", role="client", command=("env",))
    other = Vantage(name="other", role="client", command=(sys.executable, "-c", f"open({str(ran)!r}, 'w')"))
    found = last(
        proposed_endpoints.probe_proposed_endpoints(cluster(vantages=(here, other)), [endpoint(closed)], ["here"], range(1))
    )
    assert found == {(who, 0): ("tcp", "failed", "connection refused") for who in ("worker", "here")}
    assert not ran.exists()


def test_a_vantage_that_cannot_run_saw_nothing(closed):
    broken = Vantage(name="broken", role="client", command=("false",))
    assert (
        last(proposed_endpoints.probe_proposed_endpoints(cluster(vantages=(broken,)), [endpoint(closed)], ["broken"], [0]))[
            "broken", 0
        ][1]
        == "unknown"
    )


def test_a_listener_that_the_cluster_file_skips_is_not_tried(closed):
    assert proposed_endpoints.probe_proposed_endpoints(cluster(listeners={"CLIENT": None}), [endpoint(closed)], [], [0]) == ()
