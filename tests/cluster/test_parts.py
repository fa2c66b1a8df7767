"""What the parts of a cluster view say: endpoints, probes, reads, logins."""

import small_cluster
from kafka_audit.cluster.view import ClusterView

LISTENERS = {0: {"listeners": {"CLIENT": "SSL://a:9092", "INTERNAL": "PLAINTEXT://a:9094"}}, 1: "b:9092"}
SILENT = {"answers": False}


def view(**spec) -> ClusterView:
    return ClusterView.of_files(small_cluster.snapshot(spec))


def shown(endpoints):
    return [(endpoint.broker_id, endpoint.listener, endpoint.address, endpoint.protocol) for endpoint in endpoints]


def test_endpoints_are_what_is_registered():
    assert shown(view(brokers=LISTENERS).endpoints.all) == [
        (0, "CLIENT", "a:9092", "SSL"),
        (0, "INTERNAL", "a:9094", "PLAINTEXT"),
        (1, "PLAINTEXT", "b:9092", "PLAINTEXT"),
    ]


def test_in_kraft_endpoints_are_what_brokers_list_and_set():
    setting = {"advertised.listeners": "PLAINTEXT://b:9092,INTERNAL://b:9094"}
    held = view(brokers={0: "a:9092", 1: "b:9092"}, configs={1: setting}, **small_cluster.KRAFT)
    assert shown(held.endpoints.all) == [
        (0, "PLAINTEXT", "a:9092", "PLAINTEXT"),
        (1, "INTERNAL", "b:9094", None),
        (1, "PLAINTEXT", "b:9092", "PLAINTEXT"),
    ]
    assert list(held.endpoints.by_settings) == [1]


def test_without_zookeeper_s_word_endpoints_are_known_by_lists_alone():
    silent = view(brokers={0: "a:9092", 1: "b:9092"}, views={1: SILENT}, zookeeper="none")
    assert silent.endpoints.all == ()
    assert [endpoint.address for endpoint in silent.endpoints.known] == ["a:9092", "b:9092"]
    assert silent.endpoints.by_resource["broker/1/listener/PLAINTEXT"].port == 9092
    assert silent.named_brokers == (0, 1)
    assert (silent.in_zookeeper, silent.zookeeper_read, silent.controller) == ({}, False, None)


def test_an_address_of_ipv6_is_written_in_brackets():
    assert shown(view(brokers={0: "fe80::1:9092"}).endpoints.all)[0][2] == "[fe80::1]:9092"


def test_a_probe_says_what_passed_and_where_it_ends():
    probes = [
        {"to": 1, "vantage": "worker", "layer": "api", "error": "timeout", "resolved": "10.0.0.1 by nameserver 10.0.0.2"},
        {"to": 1, "from": 0, "layer": "tcp", "error": "connection refused"},
    ]
    held = view(brokers={0: "a:9092", 1: "b:9092"}, probes=probes)
    (endpoint,) = held.endpoints.of(1)
    client, broker = held.probes_of(endpoint.broker_id, endpoint.listener)
    assert (client.passed, client.failed.layer, client.failed.error) == (("dns", "tcp"), "api", "timeout")
    assert (client.network, client.addresses, client.resolver) == ("open", {"10.0.0.1"}, "nameserver 10.0.0.2")
    assert (broker.failed.layer, broker.from_broker, broker.network) == ("tcp", 0, "moving")


def test_reads_belong_to_the_broker_that_answers_at_an_address():
    reads = [
        {"observer": "broker@x:9092", "operation": "Metadata", "error": "timeout"},
        {"observer": "controller@c:9093", "operation": "DescribeQuorum"},
    ]
    at_x = {"views": {"x:9092": {}}, "identities": [{"to": "x:9092", "answered_by": 2}]}
    held = view(brokers={0: "a:9092"}, reads=reads, **at_x)
    assert sorted(held.reads.by_resource) == ["broker/0", "broker/2", "cluster", "controller/c:9093"]
    assert held.reads.silent_brokers == frozenset()
    assert view(brokers={0: "a:9092"}, views={0: SILENT}).reads.silent_brokers == {"broker/0"}


def test_certificates_and_mechanisms_are_those_of_the_last_sample_that_showed_them():
    held = view(brokers={0: "a:9092"}, configs={0: {"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256"}})
    assert held.logins.certificate(0, "PLAINTEXT") is None
    assert held.logins.offered_mechanisms(0, "PLAINTEXT") == {"PLAIN", "SCRAM-SHA-256"}
    assert held.logins.offered_mechanisms(1, "PLAINTEXT") is None
    assert held.logins.known_users(0, "PLAINTEXT", "SCRAM-SHA-256") is None
