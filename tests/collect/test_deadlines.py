"""Hostile parties and time: every wait ends with `limits.audit_s`, what was read is kept, and nothing is sent after.

A party that hangs does so without end, so that a bound that is missing ends no test: none of them measures seconds.
"""

import socket
import struct
import threading
import time
from dataclasses import replace

import pytest

from collect.columns import collected
from collect.fakes import FakeBroker, server, silent
from collect.taken import NEVER, taken, taken_of, target
from hostile_parties.broker import HostileBroker, changed
from hostile_parties.cluster import HostileCluster
from hostile_parties.party import announce, drip, hang
from hostile_parties.zookeeper import GET_CHILDREN2, GET_DATA, MULTI_READ, HostileZookeeper, kafka_tree
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect import queue_vantages
from kafka_audit.collect.brokers.broker_view import BrokerAsker
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.properties import sources
from kafka_audit.collect.sampling import sample_again
from kafka_audit.model.cluster import Cluster, Limits, Logs, Security, Vantage, ZookeeperAccess
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerConfig, BrokerView, Probe, RegisteredBroker, RegisteredTopic, SourceRead
from made_rows import made
from testbed.certificates import Authority

BRIEF = Limits(read_s=NEVER, settle_s=0.1, audit_s=8.0)
"""The audit's end alone ends a wait. Honest parties take a tenth of this, and half of it is left to them by one that hangs."""

ENDLESS = drip(2, announced=10_000)


def demand_silence(parties):
    """Fail if any of these parties is sent anything after the end of an audit, by a thread that was left behind."""
    before = [party.drained() for party in parties]
    time.sleep(0.5)
    assert [party.drained() for party in parties] == before, "a thread that was left behind asks on"


@pytest.mark.parametrize(
    ("key", "behaviour"),
    [
        ("connect", drip(2)),
        (GET_CHILDREN2, ENDLESS),
        ("/brokers/topics", ENDLESS),
        ("/brokers/topics/orders/partitions/0/state", ENDLESS),
        (GET_DATA, hang),
        ("srvr", ENDLESS),
        ("accept", hang),
    ],
)
def test_a_zookeeper_that_drips_costs_neither_the_brokers_nor_the_end(key, behaviour):
    with HostileCluster(brokers=2) as parties:
        parties.zookeeper.script[key] = behaviour
        snapshot = taken_of(parties, bootstrap=(parties.brokers[0].address,), limits=BRIEF)
        demand_silence([parties.zookeeper])
    assert {row.broker_id for row in snapshot.of(BrokerView)} >= {0, 1}
    failed = {row.observer for row in snapshot.of(SourceRead) if row.outcome == "failed"}
    # That a server of an ensemble that is there does not answer the word is an answer: it is down.
    assert ("zookeeper" in failed) == (key != "srvr")


def test_what_a_zookeeper_told_before_it_dripped_is_kept():
    with HostileCluster(brokers=2) as parties:
        parties.zookeeper.script["/config/users"] = ENDLESS
        snapshot = taken_of(parties, limits=BRIEF)
    assert {row.broker_id for row in snapshot.of(RegisteredBroker)} == {0, 1}
    assert {row.topic for row in snapshot.of(RegisteredTopic)} == set(parties.topics)
    failed = {row.operation for row in snapshot.of(SourceRead) if row.outcome == "failed"}
    assert "zookeeper /config/users" in failed


def test_a_zookeeper_that_hangs_up_among_many_znodes_and_never_connects_again_costs_no_broker():
    with HostileCluster(brokers=2) as parties:
        for number in range(600):
            parties.zookeeper.znodes[f"/brokers/topics/t{number}"] = b"{}"

        def hang_up_for_good(_exchange):
            parties.zookeeper.script["connect"] = hang
            raise ConnectionAbortedError

        parties.zookeeper.script[MULTI_READ] = hang_up_for_good
        snapshot = taken_of(parties, limits=BRIEF)
    assert {row.broker_id for row in snapshot.of(BrokerView)} == {0, 1}
    failed = {row.operation for row in snapshot.of(SourceRead) if row.outcome == "failed"}
    assert "zookeeper /brokers/topics" in failed


@pytest.mark.parametrize("behaviour", [ENDLESS, hang, announce(200_000, 1 << 40)], ids=["drip", "hang", "flood"])
def test_a_broker_is_bounded_whatever_it_does_inside_an_answer(behaviour):
    """Each of six brokers does it in the answer to another request."""
    keys, asked = (18, 3, 60, 32, "identity", 35), set()

    def noting(key):
        def answer(exchange):
            asked.add(key)
            return behaviour(exchange)

        return answer

    with HostileCluster(brokers=1 + len(keys)) as parties:
        for broker, key in zip(parties.brokers[1:], keys, strict=True):
            broker.script[key] = noting(key)
        snapshot = taken_of(parties, limits=BRIEF)
        demand_silence(parties.brokers)
    assert {row.broker_id for row in snapshot.of(BrokerView)} >= {0}
    assert asked == {*keys}


def test_a_name_server_that_hangs_ends_with_the_audit(monkeypatch):
    """kafka-python and kazoo look names up on their own, without a bound, and so does socket.create_connection."""
    real, over, looked_up = socket.getaddrinfo, threading.Event(), []

    def hanging(host, *arguments, **more):
        if host.endswith(".example"):
            looked_up.append(host)
            over.wait()
            host = "127.0.0.1"
        return real(host, *arguments, **more)

    monkeypatch.setattr(socket, "getaddrinfo", hanging)
    with HostileBroker(0) as broker:
        late = f"slow.example:{broker.port}"
        access = ZookeeperAccess(connect=f"zk.example:{broker.port}")
        taken(zookeeper=access, bootstrap=(late, broker.address), limits=BRIEF)
        assert {*looked_up} == {"slow.example", "zk.example"}
        before = broker.drained()
        over.set()
        time.sleep(1)
        assert broker.drained() == before, "a lookup that ended after the audit was followed by a connection"


def test_a_conversation_waits_for_no_name_server(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: over.wait() and [])
    with pytest.raises(ReadError, match="timeout"), Conversation("slow.example", 9092, ClientOptions(read_s=0.5)):
        pass
    over.set()


def test_a_handshake_that_never_ends_is_ended(tmp_path):
    """The probe's own connection got through; that of the conversation waits for the other's hello."""
    Authority(tmp_path / "ca", "ca")
    security = Security(protocol="SSL")
    logins = ClusterLogins(Cluster(name="c", security=security), {})
    with server(silent) as address:
        options = ClientOptions(read_s=1.0, logins=logins).at(target(address, protocol="SSL"))
        with pytest.raises(ReadError), Conversation(*address, options):
            pass


def test_one_broker_with_many_addresses_takes_no_more_than_its_share():
    with HostileBroker(7) as broker:
        broker.script[18] = hang
        options = ClientOptions(read_s=1.0, budget=Budget()).part(3.0)
        places = [target((broker.host, broker.port), 7, f"L{number}") for number in range(50)]
        rows = BrokerAsker(places, 1, options, ViewBook()).ask().rows
        connections, _ = broker.drained()
    assert 1 <= connections <= 3, "each of them takes a second at least"
    assert len({row.listener for row in rows if isinstance(row, Probe)}) == 50, "each address has its row"
    assert {row.error for row in rows if isinstance(row, SourceRead)} == {"timeout"}


def test_the_honest_broker_is_asked_beside_forty_that_drip():
    brokers = dict.fromkeys(range(100, 140), ("127.0.0.1", 1))
    with HostileBroker(500) as honest, HostileBroker(0) as dripping, HostileZookeeper() as zookeeper:
        honest.brokers = {500: (honest.host, honest.port)}
        dripping.script[18] = ENDLESS
        listed = {**dict.fromkeys(brokers, (dripping.host, dripping.port)), 500: (honest.host, honest.port)}
        zookeeper.znodes.update(kafka_tree({500: listed[500]}, {"orders": {0: (500, [500])}}))
        zookeeper.znodes.update(kafka_tree(listed, {}))
        snapshot = taken(zookeeper=ZookeeperAccess(connect=zookeeper.address), limits=BRIEF)
    assert 500 in {row.broker_id for row in snapshot.of(BrokerView)}


@pytest.mark.parametrize("what", ["vantages", "logs"])
def test_commands_end_with_the_audit(what, tmp_path):
    mark = tmp_path / "on"
    command = ("sh", "-c", f"while :; do date >>{mark}; sleep 0.2; done")
    more = {
        "vantages": {"vantages": (Vantage(name="v", command=command),)},
        "logs": {"logs": Logs(command=(*command, "{broker_id}"))},
    }[what]
    with HostileBroker(0) as broker:
        broker.brokers = {0: (broker.host, broker.port)}
        snapshot = taken(bootstrap=(broker.address,), limits=BRIEF, **more)
    assert any(row.observer.startswith(("vantage:", "logs:")) and row.outcome == "failed" for row in snapshot.of(SourceRead))
    size = mark.stat().st_size
    time.sleep(0.6)
    assert mark.stat().st_size == size, "the command is still running"


def test_files_have_their_own_time_when_samples_took_all_they_could(tmp_path):
    path = tmp_path / "server.properties"
    path.write_text("broker.id=0\n")
    sources.located(str(path))  # its library is imported now, in no audit's time
    with HostileBroker(0) as broker:
        broker.brokers = {0: (broker.host, broker.port)}
        broker.script[3] = hang
        snapshot = taken(bootstrap=(broker.address,), properties=(str(path),), limits=BRIEF)
    (read,) = [row for row in snapshot.of(SourceRead) if row.operation == "properties"]
    assert read.outcome == "answered"


@pytest.mark.parametrize("reported", ["999999999", "9" * 5000])
def test_a_session_time_that_no_broker_has_is_not_waited_for(reported):
    refused = made(Probe, broker_id=0, listener="L", port=1, outcome="failed", error="connection refused")
    config = made(BrokerConfig, key="broker.session.timeout.ms", value=reported)
    assert sample_again.session_wait(collected([refused, config])) <= sample_again.MOST_SESSION_S + sample_again.TICK_S
    honest = replace(config, value="40000")
    assert sample_again.session_wait(collected([refused, honest])) == 40 + sample_again.TICK_S


def test_one_cluster_whose_endpoints_hang_does_not_delay_the_errand_of_another():
    def errand(address, count, audit_s):
        walked = [[*address, ["dns", "tcp", "api"], "h", None, "PLAIN", False]] * count
        script = {"targets": walked, "trust": {}}
        return {"read_s": NEVER, "settle_s": 0.1, "audit_s": audit_s, "script": script, "endpoints": []}

    with HostileBroker(0) as slow, server(FakeBroker(1)) as healthy:
        slow.script["accept"] = hang
        errands = {"slow": errand((slow.host, slow.port), 500, 2.0), "quick": errand(healthy, 1, NEVER)}
        looks = queue_vantages.probe_errands(errands)
        demand_silence([slow])
    assert looks["slow"] == ["", ""], "its own time ended it, not that of the other"
    assert [text.count("\tapi\tok") for text in looks["quick"]] == [1, 1]


def test_nothing_is_asked_after_the_end():
    """A thread that was left behind in a library asks the budget, and finds its socket closed."""
    budget = Budget(Cluster(name="c", limits=BRIEF))
    ours, theirs = socket.socketpair()
    budget.opened(ours)
    budget.close()
    assert theirs.recv(1) == b""
    late, other = socket.socketpair()
    with pytest.raises(TimeoutError):
        budget.opened(late)
    assert late.fileno() == -1
    with pytest.raises(ReadError, match="time limit of the audit was reached"):
        budget.demand_time()
    for connection in (ours, theirs, other):
        connection.close()


def test_a_frame_after_frame_flood_leaves_time_outs_their_turn():
    """Whole answers to no question, as fast as they are taken and without end."""
    frames = (struct.pack("!i", 8) + b"\0" * 8) * 100_000

    def flood(exchange):
        while not exchange.party.ended.is_set():
            exchange.send(frames)

    with HostileBroker(0) as broker:
        broker.script[3] = flood
        rows = BrokerAsker([target((broker.host, broker.port))], 1, ClientOptions(read_s=5.0), ViewBook()).ask().rows
    assert any(row.operation == "Metadata" and row.outcome == "failed" for row in rows if isinstance(row, SourceRead))


def throttled(milliseconds):
    def change(message):
        message.throttle_time_ms = milliseconds

    return changed(change)


def asked_throttled(milliseconds):
    with HostileBroker(0) as broker:
        broker.brokers = {0: (broker.host, broker.port)}
        broker.script[60] = throttled(milliseconds)
        rows = BrokerAsker([target((broker.host, broker.port))], 1, ClientOptions(read_s=60.0), ViewBook()).ask().rows
    return [row for row in rows if isinstance(row, SourceRead)], rows


def test_a_request_quota_is_waited_for():
    """The honest neighbour: Kafka itself throttles for a second at most, the length of a quota's window."""
    reads, rows = asked_throttled(300)
    assert [row for row in reads if row.outcome == "failed"] == []
    assert any(isinstance(row, BrokerConfig) for row in rows)


def test_a_throttle_longer_than_a_read_is_failed_reads_in_our_words():
    """What cannot end in time is not waited for."""
    reads, _ = asked_throttled(2**31 - 1)
    failed = {row.operation: (row.error, row.message) for row in reads if row.outcome == "failed"}
    assert set(failed.values()) == {(ReadFailure.THROTTLED.words, "throttled by the broker for 2147483647 ms")}
    assert {"DescribeConfigs BROKER", "DescribeLogDirs", "DescribeAcls"} <= set(failed)
    assert {row.needs for row in reads if row.error} == {"a higher request quota for the auditor's user or client id"}


@pytest.mark.parametrize("milliseconds", [-1, -(2**31)])
def test_a_throttle_of_less_than_nothing_is_none(milliseconds):
    assert [row for row in asked_throttled(milliseconds)[0] if row.outcome == "failed"] == []
