"""Readings of fakes that speak the wire protocols: how little is asked, and that no party holds up the others."""

import asyncio
import struct
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import pytest
from kafka.protocol.admin import DescribeQuorumResponse
from kafka.protocol.metadata import MetadataRequest

from collect.fakes import server
from collect.oidc_server import make_key, oidc_server
from collect.quorum_node import QuorumNode
from hostile_parties.broker import HostileBroker, changed
from hostile_parties.party import announce, drip, hang, hang_up, raw
from hostile_parties.zookeeper import NO_AUTH, HostileZookeeper, kafka_tree
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.tokens import access_token
from kafka_audit.model.cluster import Cluster, Limits, Oidc, Security, Tls, ZookeeperAccess
from kafka_audit.model.errors import UsageError
from kafka_audit.watch import reader as reader_module
from kafka_audit.watch.picture import leader_of
from kafka_audit.watch.reader import Reader
from kafka_audit.watch.reading import WatchOutcome
from testbed.certificates import Authority

METADATA, VERSIONS, QUORUM, CLUSTER = 3, 18, 55, 60
AMPLE, QUICK = Limits(read_s=60.0), Limits(read_s=3.0)
"""Where no party hangs, and where one does: the honest ones have as long."""

NEVER = 3600.0  # seconds that no test lasts
PASSWORD = "open-sesame-73"  # noqa: S105 -- of a fake
SCRAM = "SCRAM-SHA-512"


@pytest.fixture
def zookeeper(brokers):
    places = {broker.id: {"PLAINTEXT": ("PLAINTEXT", broker.host, broker.port)} for broker in brokers}
    with HostileZookeeper(kafka_tree(places, {})) as made:
        made.znodes["/controller_epoch"] = b"4"
        yield made


def described(*bootstrap, **more):
    return Cluster(name="c", **{"bootstrap": tuple(broker.address for broker in bootstrap), "limits": AMPLE, **more})


def read(cluster, times=1, secrets=None, between=lambda: None):
    """Return several readings, each with the endpoints of the one before."""

    async def readings():
        reader, found = Reader(cluster, secrets or {}), []
        for _ in range(times):
            found.append(await reader.read(found[-1].endpoints if found else {}))
            between()
        return found

    return asyncio.run(readings())


def outcomes(reading, question="api_versions"):
    return {broker.broker_id: getattr(broker, question).outcome.value for broker in reading.brokers}


def test_bootstrap_addresses_lead_to_all_brokers_and_are_not_read_twice(brokers):
    first, second = read(described(brokers[0]), 2)
    for reading in (first, second):
        assert [broker.broker_id for broker in reading.brokers] == [0, 1, 2]
        assert {broker.lists for broker in reading.brokers} == {frozenset({0, 1, 2})}
        assert {(broker.cluster_id, broker.controller_id) for broker in reading.brokers} == {("fake", 0)}
        assert not reading.kraft
        assert reading.zookeeper is None


def test_an_address_of_the_cluster_file_without_a_broker_is_asked_in_each_reading(brokers):
    for broker in brokers[:2]:
        broker.brokers = {number: place for number, place in broker.brokers.items() if number != 2}
    brokers[2].script["accept"] = hang_up
    for reading in read(described(*brokers), 2):
        assert outcomes(reading) == {0: "answered", 1: "answered", None: "failed"}
        assert reading.brokers[-1].address == brokers[2].address


def test_a_reading_is_one_connection_and_two_questions_to_each_broker(brokers):
    before = {}
    for broker in brokers:
        broker.apis[VERSIONS] = (0, 4)

    def note():
        before.setdefault("connections", [broker.connections for broker in brokers])
        before.setdefault("requests", [len(broker.requests) for broker in brokers])
        before.setdefault("bytes", [len(broker.received) for broker in brokers])

    read(described(brokers[0]), 2, between=note)
    assert [broker.connections - then for broker, then in zip(brokers, before["connections"], strict=True)] == [1, 1, 1]
    for broker, then, size in zip(brokers, before["requests"], before["bytes"], strict=True):
        asked = broker.requests[then:]
        assert [key for key, _, _ in asked] == [VERSIONS, METADATA]
        request = MetadataRequest.decode(asked[1][2], version=asked[1][1], header=True)
        assert request.topics == []
        assert request.allow_auto_topic_creation is False
        assert len(broker.received) - size < 200


@pytest.mark.parametrize(
    "behaviour", [hang, hang_up, drip(2), drip(2, announced=10_000), announce(1 << 30), raw(b"HTTP/1.1 400 Bad Request\r\n\r\n")]
)
@pytest.mark.parametrize("key", [VERSIONS, METADATA, "accept"])
def test_a_broker_that_misbehaves_is_a_failed_read_within_its_time(brokers, behaviour, key):
    brokers[2].script[key] = behaviour
    (reading,) = read(described(*brokers, limits=QUICK))
    assert brokers[2].drained()[0] <= 2, "at the bootstrap address, and as a broker"
    answered = {broker.broker_id: broker for broker in reading.brokers if broker.metadata.answered}
    assert {0, 1} <= answered.keys()
    bad = next(broker for broker in reading.brokers if broker.broker_id == 2)
    assert (bad.metadata if key == METADATA else bad.api_versions).outcome is WatchOutcome.FAILED


def test_ten_brokers_that_hang_take_as_long_as_one_and_leave_no_thread():
    """They hang until all of them are asked, and then for good; a thread that stays is waited for without end."""
    asked, all_asked = [], threading.Event()

    def hang_until_all_are_asked(_exchange):
        asked.append(1)
        if len(asked) >= 10:
            all_asked.set()
        all_asked.wait()

    with ExitStack() as stack:
        made = [stack.enter_context(HostileBroker(number)) for number in range(10)]
        for broker in made:
            broker.script["accept"] = hang_until_all_are_asked
        (reading,) = read(described(*made, limits=Limits(read_s=NEVER)))
        assert len(reading.brokers) == 10
        for broker in made:
            broker.script["accept"] = hang
        before = threading.active_count()
        (reading,) = read(described(*made, limits=QUICK))
        assert len(reading.brokers) == 10
        while threading.active_count() > before:
            time.sleep(0.01)


def test_the_loop_is_never_held_up(brokers):
    """A broker hangs until the loop has turned while it does."""
    turned = threading.Event()

    async def both():
        hangs, loop = asyncio.Event(), asyncio.get_running_loop()

        def answer_once_it_turned(exchange):
            loop.call_soon_threadsafe(hangs.set)
            turned.wait()
            exchange.send(exchange.honest)

        brokers[1].script[METADATA] = answer_once_it_turned
        reading = asyncio.create_task(Reader(described(*brokers), {}).read({}))
        await hangs.wait()
        turned.set()
        return await reading

    assert outcomes(asyncio.run(both()), "metadata") == {0: "answered", 1: "answered", 2: "answered"}


def test_nothing_stays_open_behind_a_reading(brokers):
    read(described(*brokers), 3)
    for broker in brokers:
        broker.drained()  # a connection that stays is waited for without end


def test_a_broker_that_left_is_asked_where_it_listened(brokers):
    def leave():
        for broker in brokers[:2]:
            broker.brokers.pop(2, None)
        brokers[2].close()

    first, second = read(described(brokers[0]), 2, between=leave)
    assert outcomes(first)[2] == "answered"
    assert outcomes(second)[2] == "failed"
    assert second.brokers[2].api_versions.error == "connection refused"


def test_a_broker_that_returns_at_another_address_is_asked_there(brokers):
    with HostileBroker(2) as elsewhere:

        def move():
            elsewhere.brokers = {**brokers[0].brokers, 2: (elsewhere.host, elsewhere.port)}
            for broker in brokers[:2]:
                broker.brokers = elsewhere.brokers
            brokers[2].close()

        _, second = read(described(brokers[0]), 2, between=move)
        assert second.brokers[2].metadata.answered
        assert second.brokers[2].address == elsewhere.address


def test_zookeeper_gives_ids_controller_and_epoch(zookeeper):
    (reading,) = read(described(zookeeper=ZookeeperAccess(connect=zookeeper.address)))
    assert reading.zookeeper.answer.answered
    assert (reading.zookeeper.brokers, reading.zookeeper.registry.controller_epoch) == (frozenset({0, 1, 2}), 4)
    assert outcomes(reading, "metadata") == {0: "answered", 1: "answered", 2: "answered"}
    assert all("topics" not in path for _, paths in zookeeper.asked for path in paths)


def test_without_zookeeper_the_brokers_that_are_known_are_still_read(zookeeper):
    cluster = described(zookeeper=ZookeeperAccess(connect=zookeeper.address))
    first, second = read(cluster, 2, between=zookeeper.close)
    assert first.zookeeper.answer.answered
    assert second.zookeeper.answer.outcome is WatchOutcome.FAILED
    assert outcomes(second, "metadata") == {0: "answered", 1: "answered", 2: "answered"}


def test_zookeeper_that_hangs_is_a_failed_read_within_its_time(zookeeper, brokers):
    zookeeper.script["connect"] = hang
    (reading,) = read(described(*brokers, zookeeper=ZookeeperAccess(connect=zookeeper.address), limits=QUICK))
    assert reading.zookeeper.answer.outcome is WatchOutcome.FAILED
    assert outcomes(reading, "metadata") == {0: "answered", 1: "answered", 2: "answered"}


def test_znodes_that_the_auditor_may_not_read_are_unknown(zookeeper):
    zookeeper.errors["/controller"] = NO_AUTH
    (reading,) = read(described(zookeeper=ZookeeperAccess(connect=zookeeper.address)))
    assert reading.zookeeper.answer.outcome is WatchOutcome.UNKNOWN


def test_the_quorum_is_asked_where_brokers_offer_it(brokers):
    def quorum(exchange):
        kind = DescribeQuorumResponse.TopicData
        partition = kind.PartitionData(
            partition_index=0, error_code=0, leader_id=5, leader_epoch=9, high_watermark=1, current_voters=[], observers=[]
        )
        answer = DescribeQuorumResponse(
            version=0, error_code=0, topics=[kind(topic_name="__cluster_metadata", partitions=[partition])]
        )
        answer.with_header(correlation_id=struct.unpack_from("!i", exchange.request, 4)[0])
        exchange.connection.sendall(bytes(answer.encode(framed=True, header=True)))

    for broker in brokers:
        broker.apis[QUORUM] = (0, 0)
        broker.script[QUORUM] = quorum
    brokers[1].script[QUORUM] = hang
    (reading,) = read(described(brokers[0], limits=QUICK))
    assert reading.kraft
    assert [broker.led and (broker.led.leader_id, broker.led.leader_epoch) for broker in reading.brokers] == [
        (5, 9),
        None,
        (5, 9),
    ]
    assert outcomes(reading, "quorum") == {0: "answered", 1: "failed", 2: "answered"}


def test_what_a_broker_has_applied_is_in_its_answer_to_apiversions(brokers):
    for number, broker in enumerate(brokers[:2]):
        broker.apis |= {VERSIONS: (0, 4), QUORUM: (0, 0)}
        broker.script[VERSIONS] = changed(lambda answer, number=number: setattr(answer, "finalized_features_epoch", 40 + number))
    brokers[2].apis[VERSIONS] = (0, 4)
    (reading,) = read(described(*brokers))
    assert [broker.applied for broker in reading.brokers] == [40, 41, None]


def test_of_all_answers_about_the_quorum_the_newest_is_kept_and_one_that_names_too_many_nodes_is_not(brokers, monkeypatch):
    with server(old := QuorumNode(200, {QUORUM: (0, 2)})) as first, server(new := QuorumNode(201, {QUORUM: (0, 2)})) as second:
        new.leader = 201
        addresses = tuple(f"{host}:{port}" for host, port in (first, second))
        (reading,) = read(described(brokers[0], controllers=addresses))
        monkeypatch.setattr(reader_module, "_MOST_CONTROLLERS", 1 - QUICK.brokers)
        (bounded,) = read(described(brokers[0], controllers=addresses))
    assert old.leader != new.leader
    assert len({row.observer for row in reading.replicas}) == 1
    assert {row.voter for row in reading.replicas} == {True, False}
    assert bounded.replicas == ()


def test_controllers_are_asked_for_the_quorum_alone_which_needs_no_right_to_alter(brokers):
    with (
        server(QuorumNode(200, {QUORUM: (0, 2), CLUSTER: (0, 2)})) as leads,
        server(follower := QuorumNode(201, {QUORUM: (0, 2)})) as follows,
    ):
        follower.apis[CLUSTER] = (0, 2)
        follower.partition_error = 6  # NOT_LEADER_OR_FOLLOWER
        addresses = tuple(f"{host}:{port}" for host, port in (leads, follows))
        (reading,) = read(described(brokers[0], controllers=addresses))
    assert [(controller.answer.outcome.value, leader_of(controller)) for controller in reading.controllers] == [
        ("answered", 200),
        ("answered", None),
    ]
    assert {row.replica_id for row in reading.replicas} >= {200}
    assert (len(follower.asked(QUORUM)), follower.asked(CLUSTER)) == (1, [])


def secured(stack, authority, users, mechanism=SCRAM):
    made = []
    for number in range(3):
        host = f"127.0.0.{11 + number}"
        tls = authority.issue(f"w{number}", (host,))
        made.append(stack.enter_context(HostileBroker(number, host=host, tls=tls, mechanisms=(mechanism,), users=users)))
    for broker in made:
        broker.brokers = {other.id: (other.host, other.port) for other in made}
    return made


def wanted(authority):
    return Security(
        protocol="SASL_SSL",
        mechanism=SCRAM,
        username="auditor",
        password_env="AUDITOR",  # noqa: S106 -- a variable
        tls=Tls(ca_file=str(authority.ca_file)),
    )


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"))


def test_a_login_goes_to_addresses_of_the_cluster_file_alone(authority):
    with ExitStack() as stack:
        made = secured(stack, authority, {"auditor": PASSWORD})
        (reading,) = read(described(*made[:2], security=wanted(authority)), secrets={"AUDITOR": PASSWORD})
        assert outcomes(reading) == {0: "answered", 1: "answered", 2: "answered"}
        assert outcomes(reading, "metadata") == {0: "answered", 1: "answered", 2: "unknown"}
        assert made[2].handshakes == []
        assert b"auditor" not in made[2].received


def test_a_host_that_is_trusted_is_read_like_the_others(authority):
    with ExitStack() as stack:
        made = secured(stack, authority, {"auditor": PASSWORD})
        cluster = described(*made[:2], security=wanted(authority), trusted_hosts=("127.0.0.13",))
        (reading,) = read(cluster, secrets={"AUDITOR": PASSWORD})
        assert outcomes(reading, "metadata") == {0: "answered", 1: "answered", 2: "answered"}


def test_where_the_cluster_file_says_so_no_other_address_is_dialled(brokers):
    strict = described(*brokers[:2], limits=Limits(read_s=60.0, dial_untrusted=False))
    (reading,) = read(strict)
    assert outcomes(reading) == {0: "answered", 1: "answered", 2: "unknown"}
    assert brokers[2].connections == 0


def test_a_wrong_password_is_refused_three_times_and_not_tried_with_each_reading(authority):
    with ExitStack() as stack:
        made = secured(stack, authority, {"auditor": "another"})
        patient = described(*made, security=wanted(authority), limits=AMPLE)  # no attempt ends without an answer
        readings = read(patient, 3, secrets={"AUDITOR": PASSWORD})
        assert sum(len(broker.handshakes) for broker in made) == 3
        for reading in readings:
            assert set(outcomes(reading, "metadata").values()) == {"unknown"}


def test_a_broker_that_refuses_the_right_password_keeps_no_other_from_being_read(authority):
    with ExitStack() as stack:
        made = secured(stack, authority, {"auditor": PASSWORD})
        made[0].users = {"auditor": "another"}
        readings = read(described(*made, security=wanted(authority)), 2, secrets={"AUDITOR": PASSWORD})
        for reading in readings:
            assert outcomes(reading, "metadata") == {0: "unknown", 1: "answered", 2: "answered"}
        assert len(made[0].logins) == 1


def test_a_token_is_fetched_again_before_it_ends_and_without_one_nothing_is_suspected(authority, tmp_path, monkeypatch):
    ahead = [0.0]
    monkeypatch.setattr(access_token, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + ahead[0], time=time.time))
    clients = {"auditor": {"secret": PASSWORD, "audience": "kafka"}}
    with ExitStack() as stack:
        endpoint = stack.enter_context(oidc_server(make_key(tmp_path)[0], clients, lifetime_s=3600))
        made = secured(stack, authority, None, "OAUTHBEARER")
        wants = replace(wanted(authority), mechanism="OAUTHBEARER", oidc=Oidc(token_endpoint=endpoint.url))
        answers = iter([None, (503, b"later"), None])

        def wait():
            endpoint.answer = next(answers)
            ahead[0] += 3600.0

        patient = described(*made, security=wants)
        readings = read(patient, 3, secrets={"AUDITOR": PASSWORD}, between=wait)
        assert len(endpoint.issued) == 2, "one for all brokers, and another when it ends"
    found = [{*outcomes(reading, "metadata").values()} for reading in readings]
    assert found == [{"answered"}, {"answered"}, {"unknown"}]
    assert {*outcomes(readings[-1]).values()} == {"answered"}


def test_a_name_that_is_no_host_fails_and_keeps_no_thread(brokers):
    before = threading.active_count()
    brokers[0].brokers = {**brokers[0].brokers, 7: ("no-such-host.invalid", 9092)}
    (reading,) = read(described(brokers[0]))
    bad = next(broker for broker in reading.brokers if broker.broker_id == 7)
    assert bad.api_versions.outcome is WatchOutcome.FAILED
    while threading.active_count() > before:
        time.sleep(0.01)


def test_an_address_that_a_cluster_lists_and_must_not_be_dialled_is_unknown(brokers):
    brokers[0].brokers = {**brokers[0].brokers, 7: ("169.254.169.254", 80)}
    (reading,) = read(described(brokers[0]))
    assert outcomes(reading)[7] == "unknown"


def test_an_answer_that_makes_no_sense_is_a_failed_read(brokers):
    brokers[2].script[METADATA] = b"odd bytes"
    brokers[1].script[VERSIONS] = changed(lambda answer: setattr(answer, "api_keys", []))
    (reading,) = read(described(brokers[0]))
    assert outcomes(reading, "metadata")[2] == "failed"
    assert not reading.brokers[1].metadata.answered


def test_a_cluster_file_that_cannot_work_is_said_before_anything_is_asked():
    with pytest.raises(UsageError, match=r"clusters\.c\.bootstrap: 'nowhere' is not an address"):
        read(Cluster(name="c", bootstrap=("nowhere",)))


def test_files_of_certificates_are_read_on_a_thread_and_one_that_is_being_replaced_leaves_a_reading_unknown(
    authority, tmp_path, monkeypatch
):
    """While it is empty, nothing is sent; the next reading tries it again."""
    monkeypatch.setattr(reader_module, "LOGINS_S", 0.0)
    threads, made_logins = [], reader_module.ClusterLogins

    def logins(*arguments):
        threads.append(threading.current_thread() is threading.main_thread())
        return made_logins(*arguments)

    monkeypatch.setattr(reader_module, "ClusterLogins", logins)
    file = tmp_path / "ca.pem"
    whole = authority.ca_file.read_text()
    texts = iter(["", whole, whole])
    file.write_text(whole)
    with ExitStack() as stack:
        made = secured(stack, authority, {"auditor": PASSWORD})
        cluster = described(*made, security=replace(wanted(authority), tls=Tls(ca_file=str(file))))
        connections = []

        def replace_file():
            file.write_text(next(texts))
            connections.append(sum(broker.connections for broker in made))

        readings = read(cluster, 3, secrets={"AUDITOR": PASSWORD}, between=replace_file)
    assert [{*outcomes(reading, "metadata").values()} for reading in readings] == [{"answered"}, {"unknown"}, {"answered"}]
    assert {*outcomes(readings[1]).values()} == {"unknown"}
    assert {broker.api_versions.error for broker in readings[1].brokers} == {f"clusters.c.security.ca_file: {file} is empty"}
    assert connections[0] == connections[1] < connections[2]
    assert threads == [False] * 3
    file.write_text("")
    with pytest.raises(UsageError, match=r"clusters\.c\.security\.ca_file: .* is empty"):
        read(cluster)


@pytest.mark.parametrize("hangs_at", [17, 36])
def test_a_broker_that_hangs_at_the_login_holds_up_no_other(hangs_at):
    with ExitStack() as stack:
        made = [
            stack.enter_context(HostileBroker(number, mechanisms=(SCRAM,), users={"auditor": PASSWORD})) for number in range(3)
        ]
        for broker in made:
            broker.brokers = {other.id: (other.host, other.port) for other in made}
        made[0].script[hangs_at] = hang
        login = Security(protocol="SASL_PLAINTEXT", mechanism=SCRAM, username="auditor", password_env="AUDITOR")  # noqa: S106 -- a variable
        readings = read(described(*made, security=login, limits=Limits(read_s=5.0)), 2, secrets={"AUDITOR": PASSWORD})
    for reading in readings:
        assert outcomes(reading, "metadata") == {0: "failed", 1: "answered", 2: "answered"}


def test_a_login_that_is_not_there_in_time_leaves_its_broker_unknown_and_no_other(brokers, monkeypatch):
    find, hangs, slow_ports = ClusterLogins.listener_security, threading.Event(), set()
    monkeypatch.setattr(reader_module, "WHOLE_S", 8.0)

    def slow(logins, target, seconds=None):
        if target.port in slow_ports:
            hangs.wait()
        return find(logins, target, seconds)

    monkeypatch.setattr(ClusterLogins, "listener_security", slow)
    _, reading = read(described(*brokers, limits=Limits(read_s=4.0)), 2, between=lambda: slow_ports.add(brokers[2].port))
    hangs.set()
    assert outcomes(reading) == {0: "answered", 1: "answered", 2: "unknown"}
    assert reading.brokers[2].api_versions.error == "not asked in time"
