"""Voters of the metadata quorum at the addresses that it reports: who probes them from where, and what never goes there."""

import base64
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import pytest

from collect.fakes import refused, server
from collect.quorum_node import CLOCK, QuorumNode
from collect.taken import QUICK, taken
from hostile_parties.broker import HostileBroker
from kafka_audit.checks.controller.next_election_fails import next_election_fails
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect.brokers.quorum import ControllerAsker, VoterProber, controllers, voter_targets
from kafka_audit.collect.probes.endpoint_probes import Origin, ProbeStep, controller_rows, voter_rows
from kafka_audit.model.cluster import Cluster, Security, Tls, Vantage
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import (
    BrokerConfig,
    ControllerProbe,
    ControllerProbeFromBroker,
    QuorumView,
    QuorumVoter,
    Sample,
    SourceRead,
    VoterProbe,
)
from made_rows import made
from testbed.certificates import Authority, Certificate

PASSWORD = "open-sesame-74"  # noqa: S105 -- of a fake
MAP = "CONTROLLER:SASL_SSL,PLAINTEXT:PLAINTEXT"


def view(observer, epoch):
    return QuorumView(sample=1, observer=observer, node_id=0, leader_id=200, leader_epoch=epoch, high_watermark=9)


def voter(node, host, observer="broker:0", listener="CONTROLLER", port=9093):
    return QuorumVoter(sample=1, observer=observer, voter_id=node, listener=listener, host=host, port=port)


def config(key, value, broker=0):
    return made(BrokerConfig, broker_id=broker, key=key, value=value)


NAMES = config("controller.listener.names", "CONTROLLER")


def found(*rows, **described):
    return [
        (target.voter_id, target.advertised, target.protocol, target.address)
        for target in voter_targets(Cluster(name="c", **described), rows)
    ]


def test_the_newest_leader_says_where_voters_are():
    rows = [
        view("broker:0", 7),
        view("broker:1", 8),
        voter(200, "old"),
        voter(201, "c1", "broker:1"),
        voter(200, "c0", "broker:1"),
    ]
    assert found(*rows) == [(200, "c0:9093", "", "c0:9093"), (201, "c1:9093", "", "c1:9093")]
    assert found(*rows, reach={"C0:9093": "proxy:1"})[0] == (200, "c0:9093", "", "proxy:1")
    assert found(*rows, listeners={"CONTROLLER": None}) == []


def test_the_protocol_is_what_the_file_or_the_brokers_say_and_else_no_byte_is_sent():
    rows = [view("broker:0", 7), voter(200, "c0")]
    assert found(*rows, security=Security(protocol="SASL_SSL"))[0][2] == ""
    assert found(*rows, listeners={"CONTROLLER": Security(protocol="SSL")})[0][2] == "SSL"
    settings = [NAMES, config("listener.security.protocol.map", MAP)]
    assert found(*rows, *settings)[0][2] == "SASL_SSL"
    other = [config("controller.listener.names", "CONTROLLER", 1), config("listener.security.protocol.map", "CONTROLLER:SSL", 1)]
    assert found(*rows, *settings, *other)[0][2] == ""


def test_of_several_listeners_the_one_counts_that_nodes_name_first():
    rows = [view("broker:0", 7), voter(200, "right", listener="CTRL"), voter(200, "wrong", listener="OTHER", port=1)]
    assert found(*rows, config("controller.listener.names", "CTRL,OTHER"))[0][1] == "right:9093"


def test_before_3_9_the_settings_of_most_brokers_say_it():
    named = [
        config("controller.quorum.voters", text, broker) for broker, text in enumerate(["200@c0:9093", "200@c0:9093", "200@x:1"])
    ]
    assert found(view("broker:0", 7), *named) == [(200, "c0:9093", "", "c0:9093")]
    assert found(*named) == [(200, "c0:9093", "", "c0:9093")], "a quorum without a leader"


def test_a_host_that_cannot_be_one_is_not_probed():
    assert found(view("broker:0", 7), voter(200, "$(touch /tmp/P)"), voter(201, "c1")) == [(201, "c1:9093", "", "c1:9093")]


def probed(target, **described):
    cluster = Cluster(name="c", limits=QUICK, **described)
    options = ClientOptions(read_s=60.0, logins=ClusterLogins(cluster, {"AUDITOR": PASSWORD}))
    (row,) = VoterProber(target, 1, options).probe()
    return row


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_no_password_goes_to_a_voter_that_only_the_cluster_names(tmp_path, mechanism):
    authority = Authority(tmp_path)
    tls = authority.issue("c0", ("127.0.0.1",))
    security = Security(
        protocol="SASL_SSL",
        mechanism=mechanism,
        username="auditor",
        password_env="AUDITOR",  # noqa: S106 -- a variable
        tls=Tls(ca_file=str(authority.ca_file)),
    )
    rows = [view("broker:0", 7), NAMES, config("listener.security.protocol.map", MAP)]
    with HostileBroker(200, tls=tls, mechanisms=(mechanism,), users=None) as hostile:
        (target,) = voter_targets(Cluster(name="c"), [*rows, voter(200, hostile.host, port=hostile.port)])
        row = probed(target, security=security, trusted_hosts=("127.0.0.1",))
        heard = [*hostile.passwords, *hostile.scram_messages]
        secret = (PASSWORD.encode(), base64.b64encode(PASSWORD.encode())[:-4], b"auditor")
        heard += [text for text in secret if text in bytes(hostile.received)]
    assert (row.voter_id, row.layer, row.outcome, row.vantage, row.from_controller) == (200, "api", "ok", "worker", None)
    assert hostile.handshakes == [mechanism], "it was asked what it offers"
    assert heard == []


@pytest.mark.parametrize("wanted", [Certificate(valid_for=timedelta(days=-1)), Certificate(san=("10.9.9.9",))])
def test_a_controller_whose_certificate_is_not_accepted_ends_at_tls(tmp_path, wanted):
    authority = Authority(tmp_path)
    tls = authority.issue("c0", ("127.0.0.1",), wanted)
    security = Security(protocol="SSL", tls=Tls(ca_file=str(authority.ca_file)))
    with HostileBroker(200, tls=tls) as hostile:
        cluster = Cluster(name="c", limits=QUICK, security=security, controllers=(f"{hostile.host}:{hostile.port}",))
        (target,) = controllers(cluster)
        rows = ControllerAsker(target, 1, ClientOptions(read_s=60.0, logins=ClusterLogins(cluster, {}))).ask()
    (probe,) = (row for row in rows if isinstance(row, ControllerProbe))
    assert (probe.layer, probe.outcome) == ("tls", "failed"), "the certificate is a row of its own, and no layer"
    assert probe.reason in {"CERTIFICATE_EXPIRED", "CERTIFICATE_NAME"}
    assert [row.outcome for row in rows if isinstance(row, SourceRead)] == ["failed", "failed"]


def test_without_a_known_protocol_a_voter_gets_a_connection_and_no_byte():
    with HostileBroker(200) as hostile:
        (target,) = voter_targets(Cluster(name="c"), [view("broker:0", 7), voter(200, hostile.host, port=hostile.port)])
        row = probed(target)
        assert bytes(hostile.received) == b""
    assert (row.layer, row.outcome) == ("tcp", "ok")


def test_the_row_of_a_name_has_its_addresses_wherever_it_is_probed_from():
    steps = [
        ProbeStep("dns", "ok", None, "127.0.0.1 by hosts file", None, 1),
        ProbeStep("tcp", "failed", "timeout", None, None, 1),
    ]
    with HostileBroker(200) as hostile:
        rows = [view("broker:0", 7), voter(200, "localhost", port=hostile.port)]
        (target,) = voter_targets(Cluster(name="c"), rows)
        (by_number,) = voter_targets(Cluster(name="c"), [rows[0], voter(200, hostile.host, port=hostile.port)])
        assert "127.0.0.1" in probed(target).addresses
        assert probed(by_number).addresses in {(), (hostile.host,)}, "an address is no name, and never compared"
        (named,) = controllers(cluster := Cluster(name="c", limits=QUICK, controllers=(f"localhost:{hostile.port}",)))
        asked = ControllerAsker(named, 1, ClientOptions(read_s=60.0, logins=ClusterLogins(cluster, {}))).ask()
    assert {"127.0.0.1" in row.addresses for row in asked if isinstance(row, ControllerProbe)} == {True}
    (of_broker,) = controller_rows(1, Origin(vantage="hosts", role="broker", node=0), target, steps)
    (of_controller,) = voter_rows(1, Origin(vantage="hosts", role="controller", node=201), target, steps)
    assert of_broker.addresses == of_controller.addresses == ("127.0.0.1",)


def test_metadata_services_are_never_dialled():
    (target,) = voter_targets(Cluster(name="c"), [view("broker:0", 7), voter(200, "169.254.169.254", port=80)])
    row = probed(target)
    assert (row.layer, row.outcome, row.reason) == ("tcp", "unknown", "NOT_DIALLED")


class Quorum:
    """A broker that passes DescribeQuorum on, voters 200 and 201 that answer, and 202, which follows and is at a closed port."""

    def __init__(self, stack, last):
        caught_up = (90, CLOCK, CLOCK)
        self.broker = QuorumNode(2, {55: (0, 2), 60: (0, 2)})
        self.host, self.port = stack.enter_context(server(self.broker))
        controllers = [QuorumNode(node, {55: (0, 2)}) for node in (200, 201)]
        controllers[1].partition_error = 6  # it does not lead
        answering = [stack.enter_context(server(node)) for node in controllers]
        self.broker.brokers = {2: (self.host, self.port)}
        self.broker.controller_id = 2
        for node in (self.broker, *controllers):
            node.voters, node.observers = dict.fromkeys((200, 201, 202), caught_up), {2: caught_up}
            node.places = dict(zip((200, 201, 202), (*answering, last or answering[0]), strict=True))
        self.broker.configs |= {
            "controller.listener.names": ("CONTROLLER", False),
            "listener.security.protocol.map": ("CONTROLLER:PLAINTEXT", False),
        }

    def audit(self, **described):
        return taken(bootstrap=(f"{self.host}:{self.port}",), **described)


def judged(snapshot):
    (judgement,) = next_election_fails(ClusterView.of_files(snapshot))
    return judgement


HOSTS = Vantage(name="hosts", role="controller", command=("env", "NODE={controller_id}"))


def test_a_voter_that_nobody_reaches_is_named_while_the_leader_lives():
    with ExitStack() as stack:
        quorum = Quorum(stack, refused())
        snapshot = quorum.audit(vantages=(HOSTS,))
    probes = {
        (row.sample, row.vantage, row.from_controller, row.voter_id): (row.layer, row.outcome) for row in snapshot.of(VoterProbe)
    }
    ends = {200: ("api", "ok"), 201: ("api", "ok"), 202: ("tcp", "failed")}
    origins = [("worker", None), *(("hosts", node) for node in (200, 201, 202))]
    assert {key: end for key, end in probes.items() if key[3] == 202} == {
        (sample, *origin, 202): ends[202] for sample in (1, 2) for origin in origins
    }
    assert {end for key, end in probes.items() if key[3] != 202} == {("api", "ok")}
    assert {row.target for row in snapshot.of(SourceRead) if row.operation == "probe hosts"} == {
        f"env NODE={node}" for node in ends
    }
    finding = judged(snapshot)
    assert (finding.status, finding.evidence["unreached"], finding.evidence["leader"]) == (Status.FAIL, (202,), 200)
    assert finding.severity.name == "HIGH"


def test_from_the_worker_alone_it_is_suspected():
    with ExitStack() as stack:
        snapshot = Quorum(stack, refused()).audit()
    finding = judged(snapshot)
    assert (finding.status, finding.severity.name, finding.confidence.value) == (Status.FAIL, "HIGH", "suspected")


def test_a_quorum_that_is_reached_needs_no_second_sample_and_passes():
    with ExitStack() as stack:
        snapshot = Quorum(stack, None).audit(vantages=(HOSTS,))
    assert [row.sample for row in snapshot.of(Sample)] == [1]
    assert judged(snapshot).status is Status.PASS


def test_a_worker_that_reaches_no_controller_asks_for_no_second_sample():
    with ExitStack() as stack:
        quorum = Quorum(stack, refused())
        quorum.broker.places = {node: refused() for node in (200, 201, 202)}
        snapshot = quorum.audit()
    assert [row.sample for row in snapshot.of(Sample)] == [1]
    assert judged(snapshot).status is Status.UNKNOWN


def test_addresses_of_the_cluster_file_are_probed_once_and_others_from_hosts_of_brokers_too():
    with ExitStack() as stack:
        quorum = Quorum(stack, None)
        host, port = quorum.broker.places[200]
        brokers = replace(HOSTS, name="brokers", role="broker", command=("env", "NODE={broker_id}"))
        snapshot = quorum.audit(controllers=(f"{host}:{port}",), vantages=(brokers,))
        there = {node: f"{place[0]}:{place[1]}" for node, place in quorum.broker.places.items()}
    assert {row.address for row in snapshot.of(ControllerProbe)} == {there[200]}
    assert {row.address for row in snapshot.of(VoterProbe)} == {there[201]}
    assert {(row.from_broker, row.address) for row in snapshot.of(ControllerProbeFromBroker)} == {
        (2, there[200]),
        (2, there[201]),
    }


def test_more_voters_than_a_quorum_has_are_a_failed_read():
    with ExitStack() as stack:
        quorum = Quorum(stack, None)
        many = range(300, 420)
        quorum.broker.voters = dict.fromkeys(many, (90, CLOCK, CLOCK))
        quorum.broker.places = dict.fromkeys(many, ("127.0.0.1", 1))
        snapshot = quorum.audit()
    assert len({row.voter_id for row in snapshot.of(VoterProbe)}) == 100
    (left,) = {row.message for row in snapshot.of(SourceRead) if row.operation == "probe all voters"}
    assert left == "20 voters not probed"
