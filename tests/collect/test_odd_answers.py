"""One odd answer is one failed row: the audit ends, the honest parties are there in full, the odd one is named for its fault."""

import json
import re
import struct
import time
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kazoo.protocol.serialization import write_buffer

from collect.taken import QUICK, taken_of
from hostile_parties.broker import changed, null_arrays, undecodable_text
from hostile_parties.cluster import HostileCluster
from hostile_parties.party import cut
from hostile_parties.zookeeper import GET_CHILDREN2
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.cluster.samples import Samples
from kafka_audit.collect.brokers.consumer_groups import GroupReads
from kafka_audit.collect.brokers.quorum import quorum
from kafka_audit.collect.logs.lines import scan
from kafka_audit.collect.nodes import Nodes
from kafka_audit.collect.properties import sources
from kafka_audit.collect.queue_vantages import QueueAnswer
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.zookeeper import partition_states, znodes, zookeeper_view
from kafka_audit.collect.zookeeper.znodes import ZnodeError
from kafka_audit.model.cluster import Vantage
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    BrokerApi,
    BrokerConfig,
    BrokerIdentity,
    BrokerView,
    LeadershipAsked,
    LogDir,
    PropertyLogin,
    RegisteredBroker,
    RegisteredPartition,
    SourceRead,
    ZookeeperMember,
)
from kafka_audit.model.tables.fitting import misfit
from kafka_audit.store import Store

SNAPSHOT = "20261122T120000Z-c-0000"
OWN = (BrokerApi, BrokerConfig, BrokerIdentity, BrokerView, LeadershipAsked, LogDir)
CONFIGS, METADATA, VERSIONS, CLUSTER, LOG_DIRS, ACLS, OFFSETS, MOVES = 32, 3, 18, 60, 35, 29, 2, 46
JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"
HUGE = "9" * 4301  # digits, of which int() takes 4,300


@pytest.fixture
def cluster():
    with HostileCluster() as cluster:
        yield cluster


def snap(cluster, tmp_path, limits=QUICK):
    """Take a snapshot, publish it and return it as it is read again."""
    store = Store(tmp_path)
    store.write(replace(taken_of(cluster, limits=limits), snapshot_id=SNAPSHOT))
    return store.read(SNAPSHOT)


def failed(snapshot):
    """Return the reads that failed in the newest look."""
    return [read for read in newest(snapshot, SourceRead) if read.outcome == "failed"]


def newest(snapshot, table):
    samples = Samples(snapshot)
    return samples.at(table, samples.numbers[0])


def honest(snapshot, brokers):
    """Count what honest brokers told, in every table of theirs, of the newest look."""
    rows = (row for table in OWN for row in newest(snapshot, table) if row.broker_id in brokers)
    return Counter((type(row).__name__, row.broker_id) for row in rows)


def in_full(brokers):
    """Return what `honest` counts where each of these brokers told everything, as `HostileCluster` has it."""
    counts = {"BrokerApi": 12, "BrokerConfig": 17, "BrokerIdentity": 1, "BrokerView": 1, "LeadershipAsked": 1, "LogDir": 1}
    return Counter({(table, broker): count for table, count in counts.items() for broker in brokers})


def set_each(**fields):
    """Return a change of all structures of a message that have such a field."""
    return changed(lambda message: _set(message, fields))


def _set(part, values):
    for name in part._struct.fields:
        if name in values:
            setattr(part, name, values[name])
            continue
        inside = getattr(part, name)
        for item in inside if isinstance(inside, list) else ():
            if hasattr(item, "_struct"):
                _set(item, values)


def twice(*path):
    """Return a change that tells the first element of an array twice; `path` leads to it."""

    def change(message):
        part = message
        for name in path[:-1]:
            part = getattr(part, name)[0]
        array = getattr(part, path[-1])
        setattr(part, path[-1], [*array[:1], *array])

    return changed(change)


BROKER_ATTACKS = {
    "settings null": (CONFIGS, null_arrays("configs"), "DescribeConfigs BROKER", "settings: null instead of a list"),
    "results null": (CONFIGS, null_arrays("results"), "DescribeConfigs BROKER", "results: null instead of a list"),
    "a setting's name null": (CONFIGS, set_each(name=None), "DescribeConfigs BROKER", "a setting without a name"),
    "a setting twice": (CONFIGS, twice("results", "configs"), "DescribeConfigs BROKER", "a setting appears twice"),
    "settings no UTF-8": (CONFIGS, undecodable_text(), "DescribeConfigs BROKER", "not a Kafka answer"),
    "settings of noise": (CONFIGS, b"\xff" * 64, "DescribeConfigs BROKER", ""),
    "log dirs cut": (LOG_DIRS, cut(3), "DescribeLogDirs", "unreadable: no DescribeLogDirs answer of version 4"),
    "log dirs of noise": (LOG_DIRS, b"\xff" * 64, "DescribeLogDirs", "unreadable: no DescribeLogDirs answer of version 4"),
    "brokers null": (METADATA, null_arrays("brokers"), "Metadata", "null instead of a list"),
    "topics null": (METADATA, null_arrays("topics"), "Metadata", "null instead of a list"),
    "replicas null": (METADATA, null_arrays("replica_nodes"), "Metadata", "null instead of a list"),
    "a broker below zero": (METADATA, set_each(node_id=-7), "Metadata", "broker -7 is listed"),
    "a broker twice": (METADATA, twice("brokers"), "Metadata", "is listed twice"),
    "a partition below zero": (METADATA, set_each(partition_index=-7), "Metadata", "-7 is listed"),
    "a partition twice": (METADATA, twice("topics", "partitions"), "Metadata", "is listed twice"),
    "a topic twice": (METADATA, twice("topics"), "Metadata", "a topic is listed twice"),
    "a topic of 30,000": (METADATA, set_each(name="t" * 30_000), "Metadata (names)", "of 30000 characters"),
    "metadata of noise": (METADATA, b"\xff" * 64, "Metadata", "no Metadata answer of version"),
    "versions below zero": (VERSIONS, set_each(min_version=-5), "ApiVersions", "in versions -5 to"),
    "versions turned round": (VERSIONS, set_each(min_version=300), "ApiVersions", "in versions 300 to"),
    "fenced brokers null": (CLUSTER, null_arrays("brokers"), "DescribeCluster", "brokers: null instead of a list"),
    "log dirs of topics null": (LOG_DIRS, null_arrays("topics"), "DescribeLogDirs", "topics in a log dir: null"),
    "a log dir without name": (LOG_DIRS, set_each(log_dir=None), "DescribeLogDirs", "a log dir without a name"),
    "a log dir twice": (LOG_DIRS, twice("results"), "DescribeLogDirs", "a log dir appears twice"),
    "sizes below zero": (LOG_DIRS, set_each(total_bytes=-(2**62)), "DescribeLogDirs", f"bytes of a log dir: {-(2**62)}"),
    "offsets null": (OFFSETS, null_arrays("topics"), "ListOffsets", "null instead of a list"),
    "offsets of noise": (OFFSETS, b"\xff" * 64, "ListOffsets", "unreadable"),
}

NOISE = ("settings no UTF-8", "settings of noise")
HANGS_UP = [BROKER_ATTACKS[name][1] for name in NOISE]  # what kafka-python cannot decode ends its connection


@pytest.mark.parametrize("attack", BROKER_ATTACKS)
def test_an_odd_answer_of_a_broker_is_one_failed_row(cluster, tmp_path, attack):
    key, behaviour, operation, words = BROKER_ATTACKS[attack]
    cluster.brokers[2].script[key] = behaviour
    snapshot = snap(cluster, tmp_path)
    assert honest(snapshot, {0, 1}) == in_full({0, 1})
    found = failed(snapshot)
    assert {read.observer for read in found} == {"broker:2"}
    assert any(read.operation == operation and words in f"{read.error}: {read.message}" for read in found), found
    if behaviour not in HANGS_UP and key not in {VERSIONS, METADATA}:  # by these it is known how to ask the rest
        asked = {operation, *({"read_committed offsets"} if key == OFFSETS else ())}
        assert {read.operation for read in found} - {"DescribeConfigs identity"} == asked


def test_reassignments_without_topics_are_no_healthy_cluster(cluster, tmp_path):
    cluster.brokers[0].script[MOVES] = null_arrays("topics")
    (read,) = failed(snap(cluster, tmp_path))
    assert (read.observer, read.operation, read.error) == (
        "broker:0",
        "ListPartitionReassignments",
        ReadFailure.MALFORMED_ANSWER.words,
    )


def test_settings_that_are_lost_are_no_setting_of_a_broker(cluster, tmp_path):
    """Of an answer with one entry that makes no sense nothing is kept: the entry may be the one that decides."""
    cluster.brokers[2].script[CONFIGS] = twice("results", "configs")
    assert [row for row in snap(cluster, tmp_path).of(BrokerConfig) if row.broker_id == 2] == []


ZNODE_ATTACKS = {
    "/brokers/ids/99999999999999999999": ("/brokers/ids/99999999999999999999", "no broker id"),
    f"/brokers/ids/{HUGE}": (f"/brokers/ids/{HUGE}", "no broker id"),
    "/brokers/ids/2147483648": ("/brokers/ids/2147483648", "no broker id"),
    "/brokers/ids/007": ("/brokers/ids/007", "no broker id"),
    "/config/brokers/99999999999999999999": ("/config/brokers/99999999999999999999", "no broker id and not"),
    f"/config/brokers/{HUGE}": (f"/config/brokers/{HUGE}", "no broker id and not"),
    f"/brokers/topics/{'t' * 40_000}": (f"/brokers/topics/{'t' * 40_000}", "a name of 40000 characters that no topic has"),
}


@pytest.mark.parametrize("attack", [*ZNODE_ATTACKS], ids=lambda path: path[:40])
def test_a_name_that_no_kafka_gives_a_znode_is_one_failed_row(cluster, tmp_path, attack):
    path, words = ZNODE_ATTACKS[attack]
    cluster.zookeeper.znodes[path] = b'{"version":1,"config":{},"partitions":{},"endpoints":["PLAINTEXT://127.0.0.99:1"]}'
    snapshot = snap(cluster, tmp_path)
    assert honest(snapshot, {0, 1, 2}) == in_full({0, 1, 2})
    assert len(snapshot.of(RegisteredBroker)) == 3 * max(row.sample for row in snapshot.of(RegisteredBroker))
    (read,) = failed(snapshot)
    assert read.observer == "zookeeper"
    assert read.operation.startswith(f"zookeeper {path[:100]}")
    assert words in read.message


CONTENTS = {
    "a partition of 40 bits": ("/brokers/topics/orders", {"partitions": {str(2**40): [0, 1, 2]}}, "the number is too long"),
    "a partition of 5,000 digits": ("/brokers/topics/orders", {"partitions": {"9" * 5000: [0]}}, "a number was expected"),
    "a partition below zero": ("/brokers/topics/orders", {"partitions": {"-1": [0]}}, "partition -1"),
    "a replica of 40 bits": ("/brokers/topics/orders", {"partitions": {"0": [2**40]}}, "not a list of numbers"),
    "a rack that is a number": ("/brokers/ids/2", {"endpoints": [], "rack": 7}, "rack is no text"),
    "a state of 40 bits": (
        "/brokers/topics/orders/partitions/0/state",
        {"leader": 0, "leader_epoch": 2**40, "controller_epoch": 1, "isr": [0]},
        "leader_epoch is not a number",
    ),
}


@pytest.mark.parametrize("attack", CONTENTS)
def test_a_number_that_no_column_or_request_holds_is_one_failed_row(cluster, tmp_path, attack):
    path, content, words = CONTENTS[attack]
    cluster.zookeeper.znodes[path] = json.dumps(content).encode()
    snapshot = snap(cluster, tmp_path)
    assert {read.observer for read in failed(snapshot)} == {"zookeeper"}
    assert any(words in read.message and read.operation == f"zookeeper {path}" for read in failed(snapshot))
    assert {"Metadata", "DescribeConfigs BROKER"} <= {r.operation for r in snapshot.of(SourceRead) if r.outcome == "answered"}
    assert honest(snapshot, {0, 1}).keys() >= {("BrokerConfig", 0), ("BrokerConfig", 1), ("LogDir", 0), ("LogDir", 1)}


def test_names_that_are_no_utf_8_are_a_failed_row(cluster, tmp_path):
    """What kazoo raises while it decodes is no error of its own."""
    listed = struct.pack("!i", 1) + write_buffer(b"\xff\xfe") + b"\0" * 68

    def odd_users(exchange):
        exchange.send(exchange.honest) if exchange.about["paths"] != ["/config/users"] else exchange.send_body(listed)

    cluster.zookeeper.script[GET_CHILDREN2] = odd_users
    (read,) = failed(snap(cluster, tmp_path))
    assert (read.operation, read.error) == ("zookeeper /config/users", ReadFailure.MALFORMED_ANSWER.words)
    assert re.fullmatch(r"UnicodeDecodeError at collect/[\w/]+\.py:\d+", read.message)


def test_an_error_that_no_zookeeper_knows_is_a_failed_row(cluster, tmp_path):
    """kazoo waits on, as for an answer that does not come."""
    cluster.zookeeper.errors["/config/users"] = -7777
    snapshot = snap(cluster, tmp_path, replace(QUICK, read_s=5.0))
    assert {read.observer for read in failed(snapshot)} == {"zookeeper"}
    assert "zookeeper /config/users" in {read.operation for read in failed(snapshot)}
    assert honest(snapshot, {0, 1, 2}) == in_full({0, 1, 2})


def test_a_zxid_that_no_column_holds_is_a_failed_row(cluster, tmp_path):
    cluster.zookeeper.srvr = cluster.zookeeper.srvr.replace("{zxid:#x}", "0xffffffffffffffff")
    snapshot = snap(cluster, tmp_path)
    (read,) = failed(snapshot)
    assert (read.operation, read.error, read.message) == (
        "srvr",
        ReadFailure.MALFORMED_ANSWER.words,
        "Zxid is 0xffffffffffffffff",
    )
    assert {(row.state, row.mode, row.zxid, row.connections) for row in snapshot.of(ZookeeperMember)} == {
        ("serving", "standalone", None, 4)
    }


@pytest.mark.parametrize("latency", ["0/0.4/7", "0/0/0", "0/1.5E7/30000000", "0/0.3333333333333333/1"])
def test_numbers_as_zookeeper_writes_them_are_no_odd_ones(latency):
    text = f"Latency min/avg/max: {latency}\nZxid: 0x7fffffffffffffff\nOutstanding: 0\nMode: leader\n"
    assert zookeeper_view.odd_parts(text) == []
    assert zookeeper_view.parse_server_answer(text, 1, "zk").latency_avg_ms == float(latency.split("/")[1])


@pytest.mark.parametrize("latency", ["nan/nan/nan", "0/1e999/1", "0/-1/1", "x"])
def test_a_latency_that_is_no_number_is_told(latency):
    assert zookeeper_view.odd_parts(f"Latency min/avg/max: {latency}\n") == [f"Latency min/avg/max is {latency}"]


def test_what_nobody_expected_is_told_by_kind_and_place_alone(caplog):
    rows = []
    asking = Asking(sample=1, observer="broker:1", target="b1:9092")
    assert asking.read(rows, "Metadata", lambda: json.loads('{"password":"hunter2"}')["user"]) is None
    (row,) = rows
    assert (row.outcome, row.error) == ("failed", ReadFailure.MALFORMED_ANSWER.words)
    assert row.message.startswith("KeyError at collect/rows/source_reads.py:")
    assert "hunter2" not in f"{row}{caplog.text}"
    assert len(caplog.records) == 1


def test_rows_of_one_answer_that_do_not_fit_their_table_fail_the_read():
    rows = []
    asking = Asking(sample=1, observer="broker:1", target="b1:9092")
    api = BrokerApi(observer="broker:1", broker_id=1, api_key=3, min_version=0, max_version=12)
    odd = BrokerApi(observer="broker:1", broker_id=1, api_key=2**63, min_version=0, max_version=12)
    assert asking.read(rows, "ApiVersions", lambda: (api, odd)) is None
    assert rows[0].message == "broker_api.api_key is a number of more than 64 bits"
    assert asking.read(rows, "ApiVersions", lambda: (api,)) == (api,)


BYTES = st.binary(max_size=400)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
STATES = st.fixed_dictionaries(
    {},
    optional={
        "leader": st.integers(-2, 5) | st.sampled_from([2**31, 2**70, True, 1.0, "1", None]),
        "leader_epoch": st.integers(0, 5) | st.sampled_from([-(2**31) - 1, {}]),
        "controller_epoch": st.integers(0, 5),
        "isr": st.lists(st.integers(0, 9)) | st.sampled_from([None, [[]], [True], ["0"], [2**31], 7]),
        "leader_recovery_state": st.sampled_from([0, 1, None, "x", 2**31, True]),
        "version": JSON,
    },
).map(lambda content: json.dumps(content).encode())
HONEST = b'{"controller_epoch":1,"leader":0,"version":1,"leader_epoch":3,"isr":[2,0,1]}'
ODD = st.sampled_from(
    [b"", b" ", HONEST + b",5", HONEST + HONEST, HONEST[:-1], b"[" + HONEST + b"]", HONEST + b"\xff", b'{"a":"x', b'x"}']
)


@given(st.lists(STATES | ODD | BYTES | st.just(HONEST), max_size=6))
def test_states_that_are_decoded_together_are_what_each_is_alone(contents):
    """Whatever one znode holds, it says nothing of another's partition."""
    mzxid = np.arange(len(contents))
    together = partition_states.decoded(contents, mzxid)
    if together is not None:
        alone = partition_states.States.of([znodes.parse_state(content) for content in contents], mzxid.tolist())
        for name in ("leader", "leader_epoch", "controller_epoch", "leader_recovery_state", "mzxid"):
            assert getattr(together, name).tolist() == getattr(alone, name).tolist()
        assert together.isr.arrow().to_pylist() == alone.isr.arrow().to_pylist()
    assert partition_states.decoded([HONEST] * 3, np.arange(3)) is not None


def talk(answer):
    """Return what stands for a conversation in which this is the only answer."""
    return SimpleNamespace(version=lambda *_: 1, ask=lambda _: answer, add_rows=lambda *_: None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"topics": None}, "topics: null"),
        ({"current_voters": None}, "voters: null"),
        ({"observers": None}, "observers: null"),
        ({"leader_id": -7}, "the leader's id: -7"),
        ({"replica_id": -7}, "the id of a node of the quorum: -7"),
    ],
)
def test_an_odd_quorum_is_no_quorum(change, words):
    replica = {"replica_id": 1, "log_end_offset": 5, "last_fetch_timestamp": -1, "last_caught_up_timestamp": -1}
    voter = SimpleNamespace(**{key: change.get(key, value) for key, value in replica.items()})
    partition = {
        "error_code": 0, "error_message": None, "leader_id": 1, "leader_epoch": 3, "high_watermark": 5,
        "current_voters": [voter], "observers": [],
    }  # fmt: skip
    partition |= {key: value for key, value in change.items() if key in partition}
    topics = change.get("topics", [SimpleNamespace(partitions=[SimpleNamespace(**partition)])])
    with pytest.raises(ReadError, match=words):
        quorum(talk(SimpleNamespace(error_code=0, error_message=None, topics=topics)), 1, "broker:1", 1)


def test_a_voter_that_lost_its_disk_is_both_voter_and_observer():
    """KIP-853: the old log dir still votes, the new one observes; that is no odd answer."""
    node = SimpleNamespace(replica_id=1, log_end_offset=5)
    partition = SimpleNamespace(
        error_code=0, error_message=None, leader_id=2, leader_epoch=3, high_watermark=5, current_voters=[node], observers=[node]
    )
    answer = SimpleNamespace(error_code=0, error_message=None, topics=[SimpleNamespace(partitions=[partition])])
    assert len(quorum(talk(answer), 1, "broker:1", 1)) == 3


@pytest.mark.parametrize("garbage", [b"", b"\xff" * 40, b"\x00\x01\x00\x00\x00\x01\xff\xff", None])
def test_what_clients_write_into_a_group_harms_nobody(garbage):
    member = SimpleNamespace(client_id="c", client_host="/10.0.0.1", member_assignment=garbage)
    group = SimpleNamespace(error_code=0, group_id="", group_state="Stable", members=[member], protocol_type="consumer")
    answer = SimpleNamespace(error_code=0, groups=[group])
    target = SimpleNamespace(observer="broker:1", broker_id=1)
    asking = Asking(sample=1, observer="broker:1", target="b1:9092")
    (row, read) = GroupReads(talk(answer), target, asking).rows()
    assert (row.partitions, read.outcome) == ((), "answered")
    group.members = None
    (read,) = GroupReads(talk(answer), target, asking).rows()
    assert (read.outcome, read.message) == ("failed", "members of a group: null instead of a list")


def test_half_characters_of_a_properties_file_become_whole_ones(tmp_path):
    """Java's escapes may be half a character, which neither UTF-8 nor a column can hold."""
    (tmp_path / "a").write_text("broker.id=1\nbroker.rack=\\ud800\nk\\udc00=1\n")
    (tmp_path / "b").write_text(f'broker.id=2\nsasl.jaas.config={JAAS} username="u\\ud800" password="\\ud800";\n')
    (tmp_path / "c").write_text("broker.id=99999999999\n")
    rows = sources.read_properties_files([str(tmp_path / name) for name in "abc"], Nodes(), 1, 60.0, time.monotonic() + 600)
    assert [misfit(row) for row in rows if misfit(row)] == []
    assert {row.username for row in rows if isinstance(row, PropertyLogin)} == {"u\ufffd"}
    (read,) = [row for row in rows if isinstance(row, SourceRead) and row.outcome == "failed"]
    assert "not a number that Kafka accepts" in read.message


def test_a_broker_id_in_a_log_that_no_broker_has_is_left_out():
    line = (
        "[Controller id=0, targetBrokerId={}] Connection to node {} (b:1) could not be established. Broker may not be available."
    )
    (match,) = scan(line.format("9" * 10, 7), 0).matches
    assert match.about is None
    (match,) = scan(line.format(7, 7), 0).matches
    assert match.about == 7
    assert scan(line.format("9" * 4000, 7), 0).matches == ()


def test_an_odd_answer_of_a_queue_is_one_failed_row(cluster):
    vantage = Vantage(name="edge", role="client", queue="edge")
    queue_answer = QueueAnswer(endpoints=[[1, 2]], samples=["", ""])
    snapshot = taken_of(cluster, vantages=(vantage,), answers={"edge": queue_answer})
    (read,) = failed(snapshot)
    assert (read.observer, read.error) == ("vantage:edge", ReadFailure.MALFORMED_ANSWER.words)
    assert honest(snapshot, {0, 1, 2}) == in_full({0, 1, 2})


def test_what_is_known_passes_the_boundary():
    with pytest.raises(ZnodeError), any_answer(ZnodeError):
        raise ZnodeError
    with pytest.raises(ReadError, match="ZnodeError"), any_answer():
        raise ZnodeError


def test_partitions_are_there_whatever_the_others_say(cluster, tmp_path):
    cluster.zookeeper.znodes["/brokers/topics/odd"] = b'{"partitions":{"0":null}}'
    rows = snap(cluster, tmp_path).of(RegisteredPartition)
    assert {(row.topic, row.partition) for row in rows} == {
        (name, partition) for name, held in cluster.topics.items() for partition in held
    }
