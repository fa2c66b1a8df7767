"""Which addresses are asked, and as whom."""

import pytest

from kafka_audit.clients.targets import (
    UNREGISTERED,
    behind_proxies,
    bootstrap_targets,
    listed_endpoints,
    registered_targets,
    split_address,
)
from kafka_audit.compare.addresses import address_text
from kafka_audit.model.cluster import Cluster, Security
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import RegisteredEndpoint


def endpoint(broker, host, port=9092, listener="PLAINTEXT"):
    return RegisteredEndpoint(sample=1, broker_id=broker, listener=listener, protocol="PLAINTEXT", host=host, port=port)


def test_reach_changes_what_is_dialled_and_nothing_else():
    cluster = Cluster(name="c", reach={"10.99.0.12:9092": "nginx:9092"})
    (target,) = registered_targets([endpoint(2, "10.99.0.12")], cluster)[2]
    assert (target.address, target.dialled, target.advertised) == ("nginx:9092", ("nginx", 9092), "10.99.0.12:9092")
    assert (target.observer, target.via) == ("broker:2", "nginx:9092")


def test_whose_a_proxys_address_is():
    reach = {"b0:9092": "proxy:1", "b1:9092": "proxy:2", "b2:9092": "PROXY:2", "b3:9092": "b0:9092", "[fd00::1]:9092": "[::1]:5"}
    assert behind_proxies(Cluster(name="c", reach=reach)) == {("proxy", 1): ("b0", 9092), ("::1", 5): ("fd00::1", 9092)}


def test_a_listener_that_is_skipped_is_not_asked():
    cluster = Cluster(name="c", listeners={"INTERNAL": None, "CLIENT": Security()})
    found = registered_targets([endpoint(0, "a", listener="CLIENT"), endpoint(0, "b", listener="INTERNAL")], cluster)
    assert [target.listener for target in found[0]] == ["CLIENT"]


def test_bootstrap_addresses_that_are_registered_are_not_asked_twice():
    endpoints = [endpoint(0, "a"), endpoint(1, "b"), endpoint(2, "::1"), endpoint(3, "d", listener="SKIPPED")]
    bootstrap = ("a:9092", "nginx:1", "[::1]:9092", "d:9092", "other:9092", "other:9092")
    cluster = Cluster(name="c", bootstrap=bootstrap, reach={"b:9092": "nginx:1"}, listeners={"SKIPPED": None})
    (target,) = bootstrap_targets(cluster, endpoints)
    assert (target.observer, target.broker_id, target.protocol) == ("broker@other:9092", UNREGISTERED, "PLAINTEXT")


@pytest.mark.parametrize("address", ["host", "host:", "host:port", "http://host:1", "a b:1", "::1:9092", ""])
def test_what_is_no_address_is_a_usage_error_that_names_the_key(address):
    with pytest.raises(UsageError, match=r"clusters\.c\.bootstrap: .* not an address"):
        bootstrap_targets(Cluster(name="c", bootstrap=(address,)), [])


@pytest.mark.parametrize(("host", "port"), [("h", 1), ("2001:db8::1", 9092)])
def test_addresses_survive_the_way_there_and_back(host, port):
    assert split_address(address_text(host, port), "x") == (host, port)


def test_brokers_known_from_metadata_alone_are_told_once():
    found = listed_endpoints([(1, "b", 2), (0, "a", 1), (1, "b", 2)], 3, "SASL_SSL")
    assert [(target.broker_id, target.host, target.protocol, target.sample) for target in found] == [
        (1, "b", "SASL_SSL", 3),
        (0, "a", "SASL_SSL", 3),
    ]
