"""The metadata quorum, as brokers pass the question on and as controllers answer it themselves."""

from dataclasses import replace
from typing import ClassVar

import pytest
from kafka.protocol.admin import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)

from collect.columns import collected
from collect.fakes import frame, refused, server
from collect.quorum_node import CLOCK, VOTERS, QuorumNode
from collect.taken import target
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.collect.brokers import scram_users
from kafka_audit.collect.brokers.broker_view import BrokerAsker
from kafka_audit.collect.brokers.quorum import ControllerAsker, controllers
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.sampling import quorum_differences
from kafka_audit.collect.sampling.sample_differences import SampleTables
from kafka_audit.model.cluster import Cluster, Security
from kafka_audit.model.errors import UsageError
from kafka_audit.model.quorum import LATE_MS, behind_ms, late
from kafka_audit.model.tables import (
    Acl,
    BrokerConfig,
    BrokerFeature,
    BrokerView,
    ControllerConfig,
    ControllerProbe,
    FencedBroker,
    PropertyLogin,
    QuorumReplica,
    QuorumView,
    QuorumVoter,
    Quota,
    QuotaUser,
    ScramUser,
    SourceRead,
    ViewBroker,
)
from kafka_audit.model.tables.registry import DEFAULT
from made_rows import made, of


def outcomes(rows):
    return {row.operation: row.error or row.outcome for row in of(rows, SourceRead)}


def ask_broker(node, read_s=60.0):
    with server(node) as (host, port):
        node.brokers = {2: (host, port), 7: ("b7", 9092)}
        return BrokerAsker([target((host, port), 2)], 1, ClientOptions(read_s=read_s), ViewBook()).ask().rows


def ask_controller(node):
    with server(node) as (host, port):
        node.brokers = {200: (host, port), 201: ("c2", 9093)}
        (controller,) = controllers(Cluster(name="c", controllers=(f"{host}:{port}",)))
        return ControllerAsker(controller, 1, ClientOptions(read_s=60.0)).ask()


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_broker_tells_the_leader_voters_and_observers_of_each_version(version):
    rows = ask_broker(QuorumNode(2, {55: (0, version)}))
    (view,) = of(rows, QuorumView)
    assert (view.observer, view.node_id, view.leader_id, view.leader_epoch, view.high_watermark) == ("broker:2", 2, 200, 7, 90)
    replicas = {row.replica_id: row for row in of(rows, QuorumReplica)}
    assert {voter for voter, row in replicas.items() if row.voter} == set(VOTERS)
    assert replicas[2].log_end_offset == 40
    assert replicas[2].last_caught_up_ms == (CLOCK - 30_000 if version else None)
    assert outcomes(rows)["DescribeQuorum"] == "answered"
    addresses = {(row.voter_id, row.listener, row.host, row.port) for row in of(rows, QuorumVoter)}
    assert addresses == ({(200, "CONTROLLER", "c0", 9093), (201, "CONTROLLER", "c1", 9093)} if version > 1 else set())


def test_fenced_brokers_are_told_from_version_2_of_describe_cluster_on():
    node = QuorumNode(2, {55: (0, 2), 60: (0, 2)})
    node.fenced = (7,)
    (fenced,) = of(ask_broker(node), FencedBroker)
    assert (fenced.observer, fenced.broker_id, fenced.fenced_id, fenced.address) == ("broker:2", 2, 7, "b7:9092")
    older = QuorumNode(2, {55: (0, 2), 60: (0, 1)})
    older.fenced = (7,)
    assert of(ask_broker(older), FencedBroker) == []


def test_who_may_not_describe_the_cluster_does_not_ask():
    node = QuorumNode(2, {55: (0, 2)})
    node.operations = 0
    rows = ask_broker(node)
    assert node.asked(55) == []
    assert outcomes(rows)["DescribeQuorum"] == "not tried"


def test_an_error_inside_the_answer_is_a_failed_read():
    node = QuorumNode(2, {55: (0, 2)})
    node.partition_error = 3
    rows = ask_broker(node)
    assert of(rows, QuorumView) == []
    assert outcomes(rows)["DescribeQuorum"] == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_broker_cut_from_its_controllers_costs_one_deadline_and_nothing_else():
    node = QuorumNode(2, {55: (0, 2)})
    node.mute = {55}
    rows = ask_broker(node, read_s=3.0)
    assert node.requests[-1][0] == 55, "nothing is asked behind it"
    assert {operation for operation, outcome in outcomes(rows).items() if outcome != "answered"} == {"DescribeQuorum"}


def test_the_leading_controller_is_told_with_its_node_id():
    node = QuorumNode(200, {55: (0, 2), 60: (0, 2)})
    rows = ask_controller(node)
    assert node.asked(60) == [], "it needs Alter on Cluster at a controller, which an auditor does not have"
    (view,) = of(rows, QuorumView)
    assert (view.node_id, view.leader_id, view.leader_epoch) == (200, 200, 7)
    (probe,) = of(rows, ControllerProbe)
    assert (probe.node_id, probe.layer, probe.outcome) == (200, "api", "ok")
    assert set(outcomes(rows).values()) == {"answered"}


def test_a_controller_that_follows_says_who_it_is_and_what_it_is_set_to():
    node = QuorumNode(201, {55: (0, 2), 60: (0, 2)})
    node.partition_error = 6  # NOT_LEADER_OR_FOLLOWER: a definite no
    node.configs |= {"process.roles": ("controller", False), "ssl.key.password": ("hunter2", True)}
    rows = ask_controller(node)
    assert of(rows, QuorumView) == of(rows, QuorumReplica) == of(rows, BrokerConfig) == []
    (probe,) = of(rows, ControllerProbe)
    assert (probe.node_id, probe.layer, probe.outcome) == (201, "api", "ok")
    assert outcomes(rows) == dict.fromkeys(("ApiVersions", "DescribeQuorum", "DescribeConfigs BROKER"), "answered")
    assert {(row.node_id, row.key, row.value) for row in of(rows, ControllerConfig)} == {
        (201, "broker.id", "201"), (201, "process.roles", "controller"), (201, "ssl.key.password", None),
    }  # fmt: skip


def test_a_controller_before_kafka_3_7_has_no_settings():
    node = QuorumNode(201, {55: (0, 2)})
    node.partition_error = 6
    del node.apis[32]
    rows = ask_controller(node)
    (probe,) = of(rows, ControllerProbe)
    assert (probe.node_id, of(rows, ControllerConfig)) == (None, [])
    assert outcomes(rows) == dict.fromkeys(("ApiVersions", "DescribeQuorum"), "answered")


def test_a_controller_that_does_not_describe_its_settings_says_which_right_it_needs():
    node = QuorumNode(200, {55: (0, 2)})
    node.may_describe_configs = False
    rows = ask_controller(node)
    (probe,) = of(rows, ControllerProbe)
    assert (probe.node_id, of(rows, ControllerConfig)) == (200, [])
    (failed,) = [row for row in of(rows, SourceRead) if row.outcome == "failed"]
    assert (failed.operation, failed.needs) == ("DescribeConfigs BROKER", "DescribeConfigs on Cluster")


def test_a_server_in_a_controllers_place_that_names_no_id_has_no_settings():
    node = QuorumNode(200, {55: (0, 2)})
    node.refusal = "no such broker"
    rows = ask_controller(node)
    assert (of(rows, ControllerConfig), set(outcomes(rows).values())) == ([], {"answered"})


def test_a_controller_that_refuses_connections_is_rows():
    host, port = refused()
    (controller,) = controllers(Cluster(name="c", controllers=(f"{host}:{port}",)))
    rows = ControllerAsker(controller, 1, ClientOptions(read_s=60.0)).ask()
    (probe,) = of(rows, ControllerProbe)
    assert (probe.layer, probe.outcome, probe.error) == ("tcp", "failed", "connection refused")
    assert outcomes(rows) == dict.fromkeys(("ApiVersions", "DescribeQuorum"), "connection refused")


def test_controllers_are_spoken_to_as_the_cluster_file_says():
    named = Cluster(
        name="c",
        controllers=("c1:9093", "c1:9093"),
        security=Security(protocol="SASL_SSL"),
        listeners={"CONTROLLER": Security(protocol="SSL")},
        reach={"c1:9093": "proxy:1"},
    )
    (controller,) = controllers(named)
    assert (controller.protocol, controller.address, controller.advertised) == ("SSL", "proxy:1", "c1:9093")
    assert controllers(Cluster(name="c", controllers=("c1:9093",), listeners={"CONTROLLER": None})) == ()
    with pytest.raises(UsageError, match=r"clusters\.c\.controllers: 'c1' is not an address"):
        controllers(Cluster(name="c", controllers=("c1",)))


def replica(node, behind, *, voter=False):
    caught = None if behind is None else CLOCK - behind
    times = {"log_end_offset": 1, "last_fetch_ms": caught, "last_caught_up_ms": caught}
    return made(QuorumReplica, observer="broker:0", replica_id=node, voter=voter, **times)


def test_replicas_are_late_by_the_leaders_own_clock():
    rows = [replica(200, 0, voter=True), replica(0, LATE_MS), replica(1, LATE_MS + 1), replica(2, None)]
    assert behind_ms(rows) == {200: 0, 0: LATE_MS, 1: LATE_MS + 1, 2: None}
    assert late(rows) == {1, 2}
    assert late([replica(200, None), replica(0, None)]) == set()  # no times: nothing is known


def test_what_must_be_seen_twice():
    view = {"sample": 1, "node_id": 0, "leader_epoch": 7, "high_watermark": 9}
    calm = [QuorumView(observer="broker:0", leader_id=200, **view), replica(200, 0), replica(0, 100)]
    reasons = []
    assert quorum_differences.find_quorum_differences(SampleTables(collected(calm)), reasons) == set()
    assert reasons == []
    probe = ControllerProbe(sample=1, address="c1:9093", node_id=None, layer="tcp", outcome="failed", error="timeout", needs=None)
    fenced = FencedBroker(sample=1, observer="broker:0", broker_id=0, fenced_id=2)
    torn = QuorumView(observer="controller@c2:9093", leader_id=201, **view)
    assert (
        len(
            quorum_differences.find_quorum_differences(
                SampleTables(collected([*calm, replica(2, 60_000), probe, fenced, torn])), reasons
            )
        )
        == 5
    )
    assert len(reasons) == 4


@pytest.mark.parametrize(("applied", "twice"), [(70, set()), (69, {0}), (None, set())])
def test_a_broker_that_applies_far_less_than_it_fetched_must_be_seen_twice(applied, twice):
    levels = {"min_supported": 1, "max_supported": 29, "finalized": 29, "finalized_epoch": applied}
    feature = BrokerFeature(observer="broker:0", broker_id=0, feature="metadata.version", **levels)
    rows = [replace(replica(0, 0), log_end_offset=90), replace(replica(1, 0), log_end_offset=None), feature]
    reasons = []
    found = quorum_differences.find_quorum_differences(SampleTables(collected(rows)), reasons)
    assert {difference[1] for difference in found if difference[0] == "not applied"} == twice
    assert reasons == (["the metadata log is not applied by broker 0"] if twice else [])


def directories(*rows):
    return [replace(replica(node, 0, voter=voter), directory_id=directory) for node, voter, directory in rows]


def brokers(*ids):
    return [ViewBroker(brokers_digest="d", broker_id=broker_id, host="h", port=9092, rack=None) for broker_id in ids]


ROLE = BrokerConfig(observer="broker:1", broker_id=1, key="process.roles", value="broker,controller", source=4, sensitive=False)
DYNAMIC = ((200, True, "a"), (201, True, "b"))


@pytest.mark.parametrize(
    ("rows", "twice"),
    [
        (directories(*DYNAMIC, (0, False, "x"), (1, False, "y")), set()),
        (directories(*DYNAMIC, (203, False, "c")), {(203, "c")}),
        (directories(*DYNAMIC, (201, False, "new")), {(201, "new")}),
        ([*directories(*DYNAMIC, (1, False, "y")), ROLE], {(1, "y")}),
        ([*directories(*DYNAMIC, (1, True, "y")), ROLE], set()),
        (directories((200, True, None), (203, False, "c")), set()),  # a static quorum
        (
            [*directories(*DYNAMIC, (2, False, "z")), FencedBroker(sample=1, observer="broker:0", broker_id=0, fenced_id=2)],
            set(),
        ),
    ],
)
def test_a_controller_without_a_vote_must_be_seen_twice(rows, twice):
    reasons = []
    found = quorum_differences.find_quorum_differences(SampleTables(collected([*brokers(0, 1), *rows])), reasons)
    assert {difference[1:] for difference in found if difference[0] == "controller without vote"} == twice
    assert len([reason for reason in reasons if "without a vote" in reason]) == bool(twice)


def login(user, mechanism="SCRAM-SHA-512", side="client"):
    head = {"source": "f", "broker_id": 2, "listener": "LAN", "password_digest": "x"}
    return PropertyLogin(**head, mechanism=mechanism, side=side, username=user)


APIS = {48: (0, 0), 50: (0, 0)}
ASKED = {"DescribeClientQuotas limits": "answered"}


class Keeper(QuorumNode):
    """Knows SCRAM users: `users` by name with their mechanisms' numbers; and `quotas` of (user, client id)."""

    users: ClassVar = {"kafka": [2], "old": [1, 2]}
    quotas: ClassVar = ()

    def _answer(self, connection, request):
        if int.from_bytes(request[:2], "big") == 48:
            self._answer_quotas(connection, request)
            return
        if int.from_bytes(request[:2], "big") != 50:
            super()._answer(connection, request)
            return
        self.requests.append((50, 0, request))
        asked = [user.name for user in DescribeUserScramCredentialsRequest.decode(request, version=0, header=True).users]
        result = DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult
        results = []
        for name in asked:
            known = [result.CredentialInfo(mechanism=mechanism, iterations=4096) for mechanism in self.users.get(name, ())]
            results.append(result(user=name, error_code=0 if known else 91, error_message=None, credential_infos=known))
        head = {"version": 0, "error_code": self.quorum_error, "error_message": None}
        message = DescribeUserScramCredentialsResponse(**head, results=results)
        connection.sendall(frame(message, int.from_bytes(request[4:8], "big"), in_order=True))

    def _answer_quotas(self, connection, request):
        self.requests.append((48, 0, request))
        asked = DescribeClientQuotasRequest.decode(request, version=0, header=True)
        assert (asked.components, asked.strict) == ([], False)  # every quota
        entry = DescribeClientQuotasResponse.EntryData
        values = [entry.ValueData(key="producer_byte_rate", value=1000.0)]
        entries = [
            entry(entity=[entry.EntityData(entity_type=kind, entity_name=name) for kind, name in entities.items()], values=values)
            for entities in self.quotas
        ]
        head = {"version": 0, "throttle_time_ms": 0, "error_code": self.quorum_error, "error_message": None}
        connection.sendall(
            frame(DescribeClientQuotasResponse(**head, entries=entries), int.from_bytes(request[4:8], "big"), in_order=True)
        )


def scram_rows(keeper, *logins):
    with server(keeper) as (host, port):
        view = made(BrokerView, broker_id=2, listener="bootstrap", address=f"{host}:{port}")
        quorum = {"leader_id": 200, "leader_epoch": 7, "high_watermark": 9}
        led = QuorumView(sample=1, observer="broker:2", node_id=2, **quorum)
        return scram_users.read_scram_users([view, led, *logins], "PLAINTEXT", 1, ClientOptions(read_s=60.0))


def test_scram_users_are_asked_for_by_name_and_never_all():
    keeper = Keeper(2, APIS)
    rows = scram_rows(keeper, login("kafka"), login("gone"), login("plain", "PLAIN"), login("client", side="server"))
    assert {(row.user, row.mechanism) for row in of(rows, ScramUser)} == {("kafka", "SCRAM-SHA-512")}
    assert outcomes(rows) == ASKED | {"DescribeUserScramCredentials": "answered"}
    (request,) = [request for key, _, request in keeper.requests if key == 50]
    names = {user.name for user in DescribeUserScramCredentialsRequest.decode(request, version=0, header=True).users}
    assert names == {"kafka", "gone"}


def test_without_a_login_to_look_for_no_user_is_asked_for():
    keeper = Keeper(2, APIS)
    assert outcomes(scram_rows(keeper, login("plain", "PLAIN"))) == ASKED
    assert [key for key, *_ in keeper.requests if key == 50] == []


def test_users_that_quotas_name_are_asked_for_apart():
    keeper = Keeper(2, APIS)
    keeper.quotas = ({"user": "kafka"}, {"user": "gone", "client-id": "c"}, {"user": None}, {"user": "kafka", "client-id": None})
    rows = scram_rows(keeper)
    assert {row.user for row in of(rows, QuotaUser)} == {"kafka", "gone"}
    assert {row.user for row in of(rows, ScramUser)} == {"kafka"}
    assert outcomes(rows) == ASKED | {"DescribeUserScramCredentials of quotas": "answered"}


def test_quotas_are_read_with_whom_they_limit():
    keeper = Keeper(2, APIS)
    keeper.quotas = ({"user": None}, {"ip": "10.0.0.7"}, {"client-id": "c", "user": "gone"})
    limits = {(row.user, row.client_id, row.address) for row in of(scram_rows(keeper), Quota) if row.limit == 1000}
    assert limits == {(DEFAULT, None, None), (None, None, "10.0.0.7"), ("gone", "c", None)}


def test_users_that_acls_name_are_asked_for_apart():
    keeper = Keeper(2, APIS)
    acls = [made(Acl, principal=principal) for principal in ("User:kafka", "User:gone", "User:*", "Group:g")]
    rows = scram_rows(keeper, *acls)
    assert {row.user for row in of(rows, ScramUser)} == {"kafka"}
    assert outcomes(rows) == ASKED | {"DescribeUserScramCredentials of ACLs": "answered"}
    (request,) = [request for key, _, request in keeper.requests if key == 50]
    names = {user.name for user in DescribeUserScramCredentialsRequest.decode(request, version=0, header=True).users}
    assert names == {"kafka", "gone"}


def test_more_users_of_acls_than_one_request_asks_for_are_not_asked_in_part():
    keeper = Keeper(2, APIS)
    keeper.quotas = [{"user": f"q{number}"} for number in range(101)]
    assert outcomes(scram_rows(keeper, *(made(Acl, principal=f"User:u{number}") for number in range(101)))) == ASKED
    assert [key for key, *_ in keeper.requests if key == 50] == []


def test_a_refusal_of_scram_users_is_a_failed_read():
    keeper = Keeper(2, APIS)
    keeper.quorum_error = 31
    rows = scram_rows(keeper, login("kafka"))
    refused_reads = ("DescribeClientQuotas limits", "DescribeUserScramCredentials")
    assert outcomes(rows) == dict.fromkeys(refused_reads, "CLUSTER_AUTHORIZATION_FAILED")
