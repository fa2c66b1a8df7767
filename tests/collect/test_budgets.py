"""Hostile parties and size: bytes, rows, brokers, addresses and pairs are bounded; what was left out is a row."""

import json
import socket
import struct
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from kazoo.protocol.states import ZnodeStat

from collect import fakes
from collect.taken import NEVER, QUICK, taken, taken_of, target
from counted_work import counted_calls
from hostile_parties.broker import HostileBroker
from hostile_parties.cluster import BARE, HostileCluster
from hostile_parties.party import announce, hang
from hostile_parties.zookeeper import HostileZookeeper, kafka_tree, registration
from kafka_audit.bounds.kept_brokers import keep_brokers
from kafka_audit.clients import budget as budget_module
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.secrets.secret_keys import is_secret
from kafka_audit.clients.targets import named_addresses
from kafka_audit.collect import priorities
from kafka_audit.collect.brokers import configs
from kafka_audit.collect.brokers.acls import AclBook
from kafka_audit.collect.brokers.broker_view import BrokerAsker
from kafka_audit.collect.brokers.consumer_groups import GroupReads
from kafka_audit.collect.brokers.metadata import MetadataError, weight
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.probes import command_vantages
from kafka_audit.collect.rows import secret_filter
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.sample import LANES
from kafka_audit.collect.sampling import sample_again
from kafka_audit.collect.zookeeper.registered import by_priority
from kafka_audit.collect.zookeeper.znodes import parse_registration as decoded
from kafka_audit.model.cluster import Cluster, Limits, Vantage, ZookeeperAccess
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerConfig, BrokerView, GroupMember, Probe, RegisteredBroker, SourceRead

TESTS = Path(__file__).parents[1]


def over(rows):
    return [row for row in rows if isinstance(row, SourceRead) and row.error == ReadFailure.OVER_LIMIT.words]


def errors_of_zookeeper(snapshot):
    return {row.operation: row.error for row in snapshot.of(SourceRead) if (row.outcome, row.observer) == ("failed", "zookeeper")}


def grown(program):
    """Run a program in a process of its own; return by how many MB it grew at most in an audit, which ends by itself."""
    text = textwrap.dedent(program)
    frame = f"""
import json, sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent / "plugins")!r}]
from hostile_parties.broker import HostileBroker
from hostile_parties.cluster import HostileCluster
from hostile_parties.party import announce
from kafka_audit.collect.snapshot import take_snapshot as take
from kafka_audit.model.cluster import Cluster, Limits, ZookeeperAccess

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024

def measured(cluster):
    open("/proc/self/clear_refs", "w").write("5")
    before = peak()
    snapshot = take(cluster, snapshot_id="s", say=lambda _: None, secrets={{}})
    print(peak() - before)
    return snapshot
{text}"""
    completed = subprocess.run([sys.executable, "-c", frame], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr[-2000:]
    return max(map(float, completed.stdout.splitlines()))


def test_a_size_that_is_only_announced_takes_no_memory():
    megabytes = grown("""
    from contextlib import ExitStack
    asked = set()

    def announcing(key):
        def answer(exchange):
            asked.add(key)
            return announce(255 << 20)(exchange)

        return answer

    with ExitStack() as stack:
        brokers = [stack.enter_context(HostileBroker(number)) for number in range(8)]
        for number, one in enumerate(brokers):
            one.brokers = {other.id: (other.host, other.port) for other in brokers}
            one.script[(3, 18, 32, 60)[number % 4]] = announcing((3, 18, 32, 60)[number % 4])
        limits = Limits(read_s=3600, settle_s=0, audit_s=8)
        measured(Cluster(name="c", bootstrap=tuple(one.address for one in brokers), limits=limits))
        assert asked == {3, 18, 32, 60}
    """)
    assert megabytes < 60


def test_large_hosts_that_a_broker_lists_are_not_kept():
    """600 hosts of 32 KB in an answer of 18 MB took 866 MB: each was in the rows of every probe and every read."""
    megabytes = grown("""
    import subprocess
    hosts = {number: ["h" * 30_000, 9092] for number in range(100, 700)}
    parties = subprocess.Popen(
        [sys.executable, "-m", "hostile_parties.serve", json.dumps({"broker_id": 0, "host": "127.0.0.1", "port": 0})],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"PYTHONPATH": ":".join(sys.path[:2])},
    )
    port = json.loads(parties.stdout.readline())["port"]
    told = {"fields": {"brokers": {**hosts, 0: ["127.0.0.1", port]}, "refuses": False}}
    parties.stdin.write(json.dumps(told).encode() + bytes([10]))
    parties.stdin.flush()
    parties.stdout.readline()
    snapshot = measured(Cluster(name="c", bootstrap=(f"127.0.0.1:{port}",), limits=Limits(read_s=60, settle_s=0.1, audit_s=300)))
    from kafka_audit.model.tables import BrokerView, SourceRead
    assert {row.broker_id for row in snapshot.of(BrokerView)} >= {0}
    assert any("600 hosts" in (row.message or "") for row in snapshot.of(SourceRead))
    parties.kill()
    """)
    assert megabytes < 90


def test_a_flood_at_eight_brokers_ends_at_one_budget():
    megabytes = grown("""
    from contextlib import ExitStack
    with ExitStack() as stack:
        brokers = [stack.enter_context(HostileBroker(number)) for number in range(8)]
        for one in brokers:
            one.script[3] = announce(255 << 20, 255 << 20)
        limits = Limits(read_s=4, settle_s=0, audit_s=12, bytes=64 << 20)
        measured(Cluster(name="c", bootstrap=tuple(one.address for one in brokers), limits=limits))
    """)
    assert megabytes < 64 + 120


def test_a_zookeeper_that_announces_two_gigabytes_and_floods_is_not_taken():
    megabytes = grown("""
    for key in ("connect", "/brokers/topics", "/controller"):
        with HostileCluster(brokers=1) as parties:
            parties.zookeeper.script[key] = announce(2**31 - 1, 2**31 - 1)
            access = ZookeeperAccess(connect=parties.zookeeper.address)
            cluster = Cluster(name="c", zookeeper=access, limits=Limits(read_s=3, settle_s=0, audit_s=12))
            measured(cluster)
    """)
    assert megabytes < 80


def test_a_zookeeper_frame_that_is_refused_says_why():
    with HostileCluster(brokers=1) as parties:
        parties.zookeeper.script["/brokers/topics"] = announce(2**31 - 1)
        snapshot = taken_of(parties)
    errors = {
        row.error: row.message for row in snapshot.of(SourceRead) if row.observer == "zookeeper" and row.outcome == "failed"
    }
    assert errors == {"too large": "an answer of 2147483647 bytes, more than 67108864"}


def tiny_topics(count, prefix="t", partitions=0):
    """Return the body of a Metadata answer, version 1, whose topics are as small as can be."""
    body = bytearray(struct.pack("!i", 0) + struct.pack("!ii", 0, count))
    for number in range(count):
        name = f"{prefix}{number}".encode()
        body += struct.pack("!hh", 0, len(name)) + name + b"\0" + struct.pack("!i", partitions)
        body += b"".join(struct.pack("!hiiiiii", 0, partition, 0, 1, 0, 1, 0) for partition in range(partitions))
    return bytes(body)


def test_more_topics_than_a_cluster_has_are_not_decoded():
    """11 MB on the wire took 30 s and 726 MB."""
    cluster = Cluster(name="c", limits=Limits(rows=500))

    def refused(body):
        book = ViewBook()
        with pytest.raises(ReadError, match=ReadFailure.OVER_LIMIT.words) as caught:
            book.add(body, 1, None, Budget(cluster))
        assert "limits.rows" in caught.value.needs
        assert book._known[1].by_head == {}, "nothing is kept of it"

    bodies = [tiny_topics(800), tiny_topics(8_000)]
    refused(bodies[0])  # what is imported then counts for neither
    few, many = (counted_calls(refused, body) for body in bodies)
    assert few == many, "as much work, however many there are"


def test_eight_answers_that_differ_share_one_total():
    budget = Budget(Cluster(name="c", limits=Limits(rows=10_000)))
    book, refused = ViewBook(), 0
    for number in range(8):
        try:
            book.add(tiny_topics(2_000, f"{number}-"), 1, None, budget)
        except ReadError:
            refused += 1
    assert refused >= 5
    assert sum(map(len, book._topics.values())) <= 10_000


def test_the_same_topics_in_another_order_count_once():
    """The honest neighbour: after a restart a broker lists the same in another order."""
    budget, book = Budget(Cluster(name="c", limits=Limits(rows=7_000))), ViewBook()
    names = [f"t{number}" for number in range(1000)]
    digests = set()
    for turn in range(20):
        turned = names[turn:] + names[:turn]
        topics = {name: {0: (0, [0, 1, 2]), 1: (1, [1, 2, 0])} for name in turned}
        body = bytes(fakes.metadata(8, {0: ("h", 1)}, topics).encode(header=False, framed=False))
        digests.add(book.add(body, 8, None, budget).topics_digest)
    assert len(digests) == 1


def test_the_largest_honest_cluster_fits_by_default():
    """1,000,000 partitions in 200,000 topics, and as many again in another state, by their weights; 5 replicas each."""
    data = bytes(
        fakes.metadata(9, {}, {"orders-of-a-department": {p: (0, range(5)) for p in range(5)}}).encode(header=False, framed=False)
    )
    topic = data[data.index(b"\0\0\x17orders") : -6]
    assert weight(topic, 9) == 6
    budget = Budget(Cluster(name="c"))
    for _ in range(2):
        budget.demand_rows(200_000)
        budget.add_rows(200_000 + 200_000 * weight(topic, 9) + 1000)


def test_decoding_stops_at_the_deadline(monkeypatch):
    """A second passes each time that the clock is read, so it is read ten times and then no more."""
    seconds = count(1)
    monkeypatch.setattr(budget_module, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    body, budget = tiny_topics(20_000, partitions=1), Budget(Cluster(name="c")).part(10.0)
    with pytest.raises(ReadError, match="time limit of the audit was reached"):
        ViewBook().add(body, 1, None, budget)
    assert next(seconds) < 20


def test_one_topic_with_endless_lists_weighs_what_it_holds():
    partition = struct.pack("!hii", 0, 0, 0) + struct.pack("!i", 1_000_000) + b"\0" * 4_000_000 + struct.pack("!i", 0)
    data = struct.pack("!hh", 0, 1) + b"t\0" + struct.pack("!i", 1) + partition
    assert weight(data, 1) > 60_000
    with pytest.raises(MetadataError):
        weight(data[:3], 1)


def test_more_brokers_than_any_cluster_has_are_no_answer():
    many = dict.fromkeys(range(31), ("h", 1))
    body = bytes(fakes.metadata(8, many, {}).encode(header=False, framed=False))
    with pytest.raises(MetadataError, match="31 brokers"):
        ViewBook().add(body, 8, None, Budget(Cluster(name="c", limits=Limits(brokers=3))))
    assert ViewBook().add(body, 8, None, Budget(Cluster(name="c", limits=Limits(brokers=4)))).brokers_listed == 31


def test_an_answer_is_as_large_as_its_api_may_be():
    with HostileBroker(0) as broker:
        broker.configs |= {f"key.{number}": ("v" * 1000, False) for number in range(9000)}
        rows = BrokerAsker([target((broker.host, broker.port))], 1, ClientOptions(read_s=60.0), ViewBook()).ask().rows
        errors = {row.operation: row.error for row in rows if isinstance(row, SourceRead) and row.outcome == "failed"}
        assert "DescribeConfigs BROKER" in errors
        broker.configs = {key: broker.configs[key] for key in [*broker.configs][:1000]}
        rows = BrokerAsker([target((broker.host, broker.port))], 1, ClientOptions(read_s=60.0), ViewBook()).ask().rows
        assert [row for row in rows if isinstance(row, SourceRead) and row.outcome == "failed"] == []


def test_bytes_that_became_an_answer_or_ended_are_given_back():
    budget = Budget(Cluster(name="c"))
    with HostileBroker(0) as broker, HostileBroker(1) as other:
        other.script[3] = announce(1 << 20, 1 << 19)
        for party in (broker, other):
            options = ClientOptions(read_s=2.0, budget=budget)
            BrokerAsker([target((party.host, party.port), party.id)], 1, options, ViewBook()).ask()
    assert budget.bytes_under_way == 0


def test_all_topics_are_asked_of_as_many_at_a_time_as_fit():
    budget = Budget(Cluster(name="c", limits=Limits(bytes=100 << 20))).part(0.5)
    budget.note_answer(25 << 20)
    with budget.turn(), budget.turn(), pytest.raises(ReadError, match="time limit of the audit was reached"), budget.turn():
        pass
    roomy = Budget(Cluster(name="c"))
    roomy.note_answer(100_000)
    with (
        roomy.turn(),
        roomy.turn(),
        roomy.turn(),
        roomy.turn(),
        roomy.turn(),
        roomy.turn(),
        roomy.turn(),
        roomy.turn(),
        roomy.turn(),
    ):
        pass


def registrations(ids, czxid=lambda broker: broker, host="10.0.0.1", port=9092):
    def stat(broker):
        return ZnodeStat(**dict.fromkeys(ZnodeStat._fields, 0) | {"czxid": czxid(broker)})

    return {broker: decoded(1, broker, registration((host, port + broker % 1000)), stat(broker)) for broker in ids}


def test_a_flood_of_brokers_does_not_push_out_those_that_were_there():
    honest = registrations([1001, 1002, 1003], czxid=lambda broker: broker - 1000)
    flood = registrations(range(5000, 9000), czxid=lambda broker: 10**6 + broker) | registrations(
        range(1000), czxid=lambda _: 10**6
    )
    assert by_priority(flood | honest, (), ())[:3] == [1001, 1002, 1003], "registered longest"
    restarted = registrations([1002], czxid=lambda _: 10**9)
    assert by_priority(flood | honest | restarted, (), {1002})[0] == 1002, "it holds partitions"
    named = {("10.0.0.1", 9092 + 7)}
    assert by_priority(registrations(range(100), czxid=lambda broker: -broker), named, ())[0] == 7, "the cluster file names it"


def test_each_broker_has_one_address_before_any_has_two():
    listed = {broker: [target(("h", 1), broker, f"L{n}") for n in range(1 if broker else 100)] for broker in range(5)}
    kept = priorities.kept_targets(listed, range(5), (), 7)
    assert {broker: len(rows) for broker, rows in kept.items()} == {0: 3, 1: 1, 2: 1, 3: 1, 4: 1}
    assert priorities.kept_targets(listed, range(3), (), 1000) == {broker: listed[broker] for broker in range(3)}


def asked_of(listed, most, named=(), **vouched):
    return keep_brokers(most, priorities.vouchers_of_targets(listed, vouched.pop("rows", ()), named, **vouched)).ids


def test_an_address_of_the_cluster_file_is_that_of_one_broker_however_many_claim_it():
    listed = {broker: [target(("h", broker), broker)] for broker in range(5)} | {4: [target(("named", 9), 4)]}
    assert asked_of(listed, 2, {("named", 9)}) == (4, 0)
    flood = {broker: [target(("named", 9), broker)] for broker in range(100)}
    honest = {5000: [target(("h", 1), 5000)]}
    registered = [decoded(1, 5000, registration(("h", 1)), ZnodeStat(**dict.fromkeys(ZnodeStat._fields, 0))).broker]
    assert asked_of({**flood, **honest}, 2, {("named", 9)}, rows=registered) == (0, 5000)


def test_low_ids_that_one_address_lists_do_not_displace_what_the_others_list():
    honest, claims = [1000, 5000], {"b1:1": {1000, 5000}, "b2:1": {1000, 5000}, "evil:1": {*range(30)}}
    listed = {broker: [target(("h", broker), broker)] for broker in (*range(30), *honest)}
    assert asked_of(listed, 3, claims=claims) == (1000, 5000, 0)
    claims = {"b1:1": {5000}, "evil:1": {*range(30)}}
    assert 5000 in asked_of({broker: listed[broker] for broker in (*range(30), 5000)}, 2, claims=claims)
    assert 5000 in asked_of({broker: listed[broker] for broker in (*range(30), 5000)}, 2, known=[5000])


def test_a_thousand_brokers_with_three_listeners_are_asked_whole():
    listed = {broker: [target(("h", 1), broker, f"L{n}") for n in range(3)] for broker in range(1000)}
    limits = Limits()
    assert priorities.kept_targets(listed, asked_of(listed, limits.brokers), (), limits.endpoints) == listed


def commanded(count, limits, role="broker", listeners=1):
    command = Vantage(name="v", role=role, command=("ssh", "kafka-{broker_id}"))
    cluster = Cluster(name="c", vantages=(command,), limits=limits)
    targets = [target(("h", 1), broker, f"L{n}") for broker in range(count) for n in range(listeners)]
    return command_vantages.runs(cluster, 1, targets, range(count), ClusterLogins(cluster, {}), Budget(cluster))


def test_pairs_of_a_thousand_brokers_fit_by_default():
    assert all(len(run._targets) == 1000 and not run._left_out for run in commanded(1000, Limits()))


def test_pairs_over_the_limit_are_shared_out_and_told():
    runs = commanded(60, Limits(probes=600))
    counts = [0] * 60
    for run in runs:
        assert len(run._targets) == 10
        for probed in run._targets:
            counts[probed.broker_id] += 1
    assert set(counts) == {10}, "every endpoint is probed from as many hosts"
    rows = runs[0].rows()
    (read,) = over(rows)
    assert (read.outcome, read.message) == ("failed", "50 of 60 endpoints were not probed from v on broker 0")
    assert "limits.probes" in read.needs


def test_what_a_client_vantage_did_not_probe_is_unknown_for_each_endpoint():
    """Else a check would pass on what the others saw."""
    (run,) = commanded(30, Limits(probes=10), role="client")
    unknown = [row for row in run.rows() if isinstance(row, Probe) and row.error == ReadFailure.OVER_LIMIT.words]
    assert (len(unknown), {row.outcome for row in unknown}) == (20, {"unknown"})


def test_two_thousand_listed_brokers_make_no_million_rows(tmp_path):
    """One broker-side vantage: 4.0 million rows and 384 commands within an audit of 3 s.

    Its commands end with the audit alone, which asks no more brokers and runs no more commands at a time than it has lanes.
    """
    ran = tmp_path / "ran"
    with HostileBroker(0) as broker, HostileZookeeper() as zookeeper:
        place = (broker.host, broker.port)
        broker.brokers = {0: place}
        closed = fakes.refused()
        zookeeper.znodes.update(kafka_tree({0: place}, {"orders": {0: (0, [0])}}))
        zookeeper.znodes.update(kafka_tree(dict.fromkeys(range(1, 2000), closed), {}))
        zookeeper.znodes["/brokers/topics/orders/partitions/0/state"] = (
            b'{"controller_epoch":1,"leader":0,"version":1,"leader_epoch":0,"isr":[0]}'
        )
        vantage = Vantage(name="v", role="broker", command=("sh", "-c", f"echo >>{ran}; exec sleep 3600", "{broker_id}"))
        access = ZookeeperAccess(connect=zookeeper.address)
        limits = Limits(read_s=NEVER, settle_s=0, audit_s=10)
        snapshot = taken(zookeeper=access, vantages=(vantage,), limits=limits)
    assert len(ran.read_text()) <= LANES
    assert len(snapshot.rows) < 60_000
    assert 0 in {row.broker_id for row in snapshot.of(BrokerView)}, "the honest one is asked first"


def test_brokers_over_the_limit_are_a_row_and_the_honest_ones_are_asked():
    with HostileCluster(brokers=2) as parties:
        for number in range(100, 150):
            parties.zookeeper.znodes[f"/brokers/ids/{number}"] = registration(fakes.refused())
        snapshot = taken_of(parties, limits=replace(QUICK, brokers=10))
    assert {row.broker_id for row in snapshot.of(BrokerView)} == {0, 1}
    assert len({row.broker_id for row in snapshot.of(RegisteredBroker)}) == 10
    (read,) = {(row.operation, row.message, row.needs) for row in over(snapshot.rows)}
    assert read[:2] == ("zookeeper /brokers/ids", "42 of 52 registered brokers are left out")
    assert "limits.brokers" in read[2]


def test_addresses_over_the_limit_are_a_row():
    with HostileCluster(brokers=2) as parties:
        place = (parties.brokers[0].host, parties.brokers[0].port)
        many = {f"L{number}": ("PLAINTEXT", *place) for number in range(40)}
        parties.zookeeper.znodes["/brokers/ids/0"] = registration(many)
        snapshot = taken_of(parties, limits=replace(QUICK, endpoints=5))
    assert len({(row.broker_id, row.listener) for row in snapshot.of(Probe)}) == 5
    assert 1 in {row.broker_id for row in snapshot.of(BrokerView)}
    (read,) = {(row.observer, row.operation, row.message) for row in over(snapshot.rows)}
    assert read == ("limits", "ask all brokers", "0 brokers of 2 and 36 of 41 endpoints that are listed were not read or probed")


def test_more_znodes_than_the_budget_holds_are_a_failed_set():
    with HostileCluster(brokers=1) as parties:
        for number in range(40):
            parties.zookeeper.znodes[f"/config/users/u{number}"] = b'{"config":{}}' + b" " * 10_000
        snapshot = taken_of(parties, limits=replace(QUICK, bytes=1 << 20))
    assert errors_of_zookeeper(snapshot) == {"zookeeper /config/users": ReadFailure.OVER_LIMIT.words}
    assert 0 in {row.broker_id for row in snapshot.of(BrokerView)}


def test_more_partitions_in_zookeeper_than_rows_are_a_failed_set():
    with HostileCluster(brokers=1) as parties:
        flood = {"version": 3, "partitions": {str(number): [0] for number in range(2000)}}
        parties.zookeeper.znodes["/brokers/topics/flood"] = json.dumps(flood).encode()
        snapshot = taken_of(parties, limits=replace(QUICK, rows=1000))
    assert errors_of_zookeeper(snapshot) == {"zookeeper /brokers/topics": ReadFailure.OVER_LIMIT.words}


def test_the_cluster_file_names_addresses():
    cluster = Cluster(
        name="c",
        bootstrap=("B1.example:9092",),
        controllers=("c1:9093",),
        reach={"10.0.0.1:9092": "[fe80::1]:19092"},
        zookeeper=ZookeeperAccess(connect="zk1,zk2:2182/kafka"),
    )
    assert named_addresses(cluster) == {
        ("b1.example", 9092), ("c1", 9093), ("10.0.0.1", 9092), ("fe80::1", 19092), ("zk1", 2181), ("zk2", 2182),
    }  # fmt: skip


def test_a_registration_of_a_thousand_endpoints_is_cut_and_told():
    with HostileCluster(brokers=1) as parties:
        place = (parties.brokers[0].host, parties.brokers[0].port)
        parties.zookeeper.znodes["/brokers/ids/0"] = registration({f"L{n}": ("UNKNOWN", *place) for n in range(1000)})
        snapshot = taken_of(parties)
    assert len({row.listener for row in snapshot.of(Probe)}) == priorities.MOST_OF_ONE
    assert "1000 endpoints, more than 100" in {row.message for row in snapshot.of(SourceRead)}


def test_a_socket_of_an_audit_that_is_over_is_closed():
    budget = Budget(Cluster(name="c"))
    budget.close()
    with fakes.server(fakes.silent) as address, socket.create_connection(address) as connection:
        with pytest.raises(TimeoutError):
            budget.opened(connection)
        assert connection.fileno() == -1


def test_names_below_a_znode_are_bounded(monkeypatch):
    monkeypatch.setattr("kafka_audit.collect.zookeeper.znode_sample.MOST_CHILDREN", 5)
    with HostileCluster(brokers=1, contents=BARE) as parties:
        for number in range(6):
            parties.zookeeper.znodes[f"/config/users/u{number}"] = b'{"config":{}}'
        snapshot = taken_of(parties)
    failed = {row.operation: row.message for row in snapshot.of(SourceRead) if row.outcome == "failed"}
    assert failed == {"zookeeper /config/users": "6 znodes below /config/users, more than 5"}


def asked(broker, **limits):
    options = ClientOptions(read_s=60.0, budget=Budget(Cluster(name="c", limits=Limits(**limits))))
    rows = BrokerAsker([target((broker.host, broker.port), broker.id)], 1, options, ViewBook()).ask().rows
    return rows, {row.operation: row for row in rows if isinstance(row, SourceRead) and row.outcome == "failed"}


@pytest.mark.parametrize(
    ("configs", "error", "words"),
    [
        ({"k" * 1001: "1"}, ReadFailure.MALFORMED_ANSWER.words, "a setting with a name of 1001 characters"),
        ({f"k{number}": "v" * 30_000 for number in range(40)}, "too large", "41 settings of 12"),
        ({f"k{number}": "" for number in range(10_001)}, "too large", "10002 settings"),
    ],
)
def test_settings_that_no_broker_has_are_a_failed_read(configs, error, words):
    with HostileBroker(0) as broker:
        broker.configs |= {key: (value, False) for key, value in configs.items()}
        rows, failed = asked(broker)
    assert (failed.keys(), failed["DescribeConfigs BROKER"].error) == ({"DescribeConfigs BROKER"}, error)
    assert words in failed["DescribeConfigs BROKER"].message
    assert not any(isinstance(row, BrokerConfig) for row in rows)


def test_a_long_list_of_super_users_is_read_and_a_longer_value_is_taken_for_a_secret():
    users = ";".join(f"User:CN=broker-{number:04}.kafka.corp,OU=kafka" for number in range(600))
    with HostileBroker(0) as broker:
        broker.configs |= {"super.users": (users, False), "odd": ("v" * 33_000, False)}
        rows, failed = asked(broker)
    values = {row.key: (row.value, row.sensitive) for row in rows if isinstance(row, BrokerConfig)}
    assert (failed, values["super.users"], values["odd"]) == ({}, (users, False), (None, True))


def test_large_settings_do_not_outlast_the_audit(monkeypatch):
    """Seven values of 1 MB from each of 8 brokers made an audit of 20 s last 34.

    Here a minute passes while a value is read for secrets, and the audit has ten.
    """
    ahead, values = [0.0], []

    def passing(key, value):
        if key.startswith("slow"):
            values.append(value)
            ahead[0] += 60.0
        return is_secret(key, value)

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead[0])
    for module in (budget_module, secret_filter):
        monkeypatch.setattr(module, "time", clock)
    for module in (configs, secret_filter):
        monkeypatch.setattr(module, "is_secret", passing)
    with HostileCluster(brokers=8) as parties:
        for broker in parties.brokers:
            broker.configs |= {f"slow{number}": (f"{broker.id}.{number}", False) for number in range(7)}
        taken_of(parties)
    assert len(values) == len({*values}) <= 10 + len(parties.brokers), "no value after the end, but for one of each thread"


def futures(count):
    return {"/data": (0, {"a-topic": range(fakes.FUTURE, fakes.FUTURE + count)})}


def settings(count):
    return {f"k{number}": ("v", False) for number in range(count)}


@pytest.mark.parametrize(
    ("operation", "plant"),
    [
        ("DescribeLogDirs", lambda broker: setattr(broker, "log_dirs", futures(2001))),
        ("DescribeConfigs BROKER", lambda broker: broker.configs.update(settings(2001))),
        (
            "DescribeAcls",
            lambda broker: broker.__dict__.update(
                acls_error=0, acls=[(2, "t", 3, [(f"User:{number}", "*", 3, 3) for number in range(2001)])]
            ),
        ),
        (
            "ListPartitionReassignments",
            lambda broker: broker.__dict__.update(
                controller_id=0, reassignments={("t", number): ([1], [1], []) for number in range(2001)}
            ),
        ),
        (
            "ListPartitionReassignments",
            lambda broker: broker.__dict__.update(controller_id=0, reassignments={("t", 0): ([1] * 70_000, [], [])}),
        ),
    ],
    ids=["replicas", "settings", "ACLs", "reassignments", "endless replicas"],
)
def test_what_an_answer_lists_counts_as_rows(operation, plant):
    with HostileBroker(0) as broker:
        broker.brokers = {0: (broker.host, broker.port)}
        plant(broker)
        rows, failed = asked(broker, rows=2000)
        assert failed[operation].error == ReadFailure.OVER_LIMIT.words
        assert "limits.rows" in failed[operation].needs
        assert failed.keys() == {operation}, "all other answers are taken"
        assert len(rows) < 200
        assert asked(broker, rows=4000)[1] == {}


def members(assignment):
    return {"g": (0, "consumer", [("c", assignment)])}


def assignment(topic, partitions):
    listed = struct.pack(f"!i{partitions}i", partitions, *range(partitions))
    return struct.pack("!hih", 0, 1, len(topic)) + topic.encode() + listed + struct.pack("!i", -1)


def grouped(groups, **limits):
    budget = Budget(Cluster(name="c", limits=Limits(**limits)))
    with HostileBroker(0) as broker:
        broker.groups = groups
        where = target((broker.host, broker.port))
        with Conversation(broker.host, broker.port, ClientOptions(read_s=60.0, budget=budget)) as talk:
            rows = GroupReads(talk, where, Asking(sample=1, observer="broker:0", target=where.address)).rows()
    return [row for row in rows if isinstance(row, GroupMember)], [row for row in rows if isinstance(row, SourceRead)]


def test_assigned_partitions_of_a_member_count_by_their_names():
    """Four bytes of a partition became a name of 32 KB: an answer of 16 MB, gigabytes."""
    found, (read,) = grouped(members(assignment("t" * 200, 50_000)), rows=10_000)
    assert (found, read.error) == ([], ReadFailure.OVER_LIMIT.words)
    ((member,), _) = grouped(members(assignment("t" * 32_000, 2)))
    assert member.partitions == ()
    ((member,), (read,)) = grouped(members(assignment("orders", 5000)), rows=10_000)
    assert (len(member.partitions), read.outcome) == (5000, "answered")


def test_the_same_acls_of_all_brokers_count_once():
    """The honest neighbour of an answer with too many: 1,000 brokers hold the same set, each in an order of its own."""
    budget, book = Budget(Cluster(name="c", limits=Limits(rows=150))), AclBook()
    for turn in range(20):
        entries = [(f"User:{(number + turn) % 100}", "*", 3, 3) for number in range(100)]
        with HostileBroker(0) as broker:
            broker.acls_error, broker.acls = 0, [(2, "t", 3, entries)]
            body = bytes(broker._acls(1, None).encode(header=False, framed=False))
        assert book.add(body, 1, budget)[1] == 100


def test_settings_of_a_thousand_brokers_fit_beside_the_largest_views():
    budget = Budget(Cluster(name="c"))
    budget.add_rows(3 * 1_200_000)
    for _ in range(sample_again.MOST_SAMPLES):
        budget.add_rows(1_000 * 300 + 1_000 * 20)
    budget.add_rows(100_000)


def test_large_answers_are_objects_a_few_at_a_time():
    """Three answers of 3.3 MB each made an audit grow by 578 MB; with 32 of them at a time it has no end."""
    most = []

    class Counted(BrokerAsker):
        def _configs(self, talk, target):
            rows = super()._configs(talk, target)
            most.append(talk.budget._shared.large)
            time.sleep(0.1)
            return rows

    with HostileCluster(brokers=4) as parties:
        for broker in parties.brokers:
            broker.configs.update(settings(9000))
        budget = Budget(Cluster(name="c"))
        options = ClientOptions(read_s=60.0, budget=budget)
        askers = [Counted([target((broker.host, broker.port), broker.id)], 1, options, ViewBook()) for broker in parties.brokers]
        threads = [threading.Thread(target=asker.ask) for asker in askers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(most) == 4
    assert set(most) <= {1, 2}
    assert budget._shared.large == 0


def test_a_broker_that_hangs_after_a_large_answer_holds_up_no_other():
    with HostileBroker(0) as broker:
        broker.configs.update(settings(4000))
        broker.script[29] = hang
        budget = Budget(Cluster(name="c"))
        options = ClientOptions(read_s=4.0, budget=budget)
        rows = []

        def ask():
            rows.extend(BrokerAsker([target((broker.host, broker.port))], 1, options, ViewBook()).ask().rows)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert budget._shared.large == 0
    answered = [
        row for row in rows if isinstance(row, SourceRead) and row.operation == "DescribeConfigs BROKER" and not row.error
    ]
    assert len(answered) > 2, "more than have a turn at a time"
