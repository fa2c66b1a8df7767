"""Names that no cluster has, from every party that can choose one: each is one failed row, and all else is kept."""

import json
from dataclasses import replace

import pytest

from collect.taken import taken_of
from hostile_parties.cluster import HostileCluster
from hostile_parties.zookeeper import registration
from kafka_audit.collect.rows.possible_names import without_impossible_names
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    Acl,
    BrokerView,
    GroupMember,
    LogDir,
    Probe,
    RegisteredBroker,
    RegisteredEndpoint,
    Row,
    ScramUser,
    SourceRead,
    ViewBroker,
    ViewTopic,
)
from made_rows import made

SHELL = "x ;touch /tmp/P;#"
LONG = "h" * 32_000


def snap(parties, *, zookeeper=True):
    return taken_of(parties, zookeeper=zookeeper, bootstrap=tuple(broker.address for broker in parties.brokers))


def refused(snapshot):
    reads = [row for row in snapshot.of(SourceRead) if row.outcome == "failed"]
    last = max(row.sample for row in snapshot.of(SourceRead))
    return {(row.observer, row.operation): (row.error, row.message) for row in reads if row.sample == last}


def texts(snapshot):
    """Yield every text of a snapshot but the rows of reads, which quote a part."""
    rows = (row for row in snapshot.rows if not isinstance(row, SourceRead))
    yield from (str(value) for row in rows for value in vars(row).values())
    for table in snapshot.large.values():
        yield from (str(value) for name in table.column_names for value in table.column(name).to_pylist())


@pytest.mark.parametrize("host", [SHELL, LONG, "$(touch /tmp/P)"])
@pytest.mark.parametrize("zookeeper", [False, True])
def test_a_host_that_a_broker_lists_is_refused_and_the_other_brokers_are_kept(host, zookeeper):
    with HostileCluster(brokers=3) as parties:
        parties.brokers[2].brokers = {**parties.brokers[2].brokers, 7: (host, 9092)}
        snapshot = snap(parties, zookeeper=zookeeper)
    assert {row.broker_id for row in snapshot.of(BrokerView) if row.broker_id >= 0} == {0, 1, 2}
    assert {row.broker_id for row in snapshot.of(ViewBroker)} == {0, 1, 2}
    assert 7 not in {row.broker_id for row in snapshot.of(Probe)}, "it is not dialled"
    found = refused(snapshot)
    assert {key[1] for key in found} == {"Metadata (names)"}
    assert {key[0] for key in found} <= {"broker:2", f"broker@{parties.brokers[2].address}"}
    for error, message in found.values():
        assert (error, "1 host that no cluster has" in message) == (ReadFailure.IMPOSSIBLE_NAMES.words, True)
        assert len(message) < 200
    assert not any(host in text for text in texts(snapshot))


def test_ports_that_a_broker_lists():
    with HostileCluster(brokers=3) as parties:
        parties.brokers[2].brokers = {**parties.brokers[2].brokers, 7: ("b7", 70_000), 8: ("b8", -5)}
        snapshot = snap(parties)
    found = refused(snapshot)
    assert found["broker:2", "Metadata (names)"][1].startswith("2 ports that no cluster has, the first: ")
    assert {row.broker_id for row in snapshot.of(ViewBroker)} == {0, 1, 2}


def test_a_topic_that_a_broker_lists_is_refused_and_the_others_are_kept():
    with HostileCluster(brokers=3) as parties:
        parties.brokers[2].topics = {**parties.topics, "a b;$(x)": parties.topics["orders"], "..": parties.topics["orders"]}
        snapshot = snap(parties)
    (((who, operation), (error, message)),) = refused(snapshot).items()
    assert (who, operation, error) == ("broker:2", "Metadata (names)", ReadFailure.IMPOSSIBLE_NAMES.words)
    assert message.startswith("2 topics that no cluster has, the first: ")
    assert {row.topic for row in snapshot.of(ViewTopic)} == set(parties.topics)
    assert len({row.topics_digest for row in snapshot.of(BrokerView)}) == 1, "the rest of the view is that of the others"


@pytest.mark.parametrize(
    "endpoint", [f"PLAINTEXT://{SHELL}:9092", f"PLAINTEXT://{LONG}:9092", "$(x)://b7:9092", "A B://b7:1", "L://b7:70000"]
)
def test_an_endpoint_of_a_registration_is_refused_and_the_others_are_kept(endpoint):
    with HostileCluster(brokers=2) as parties:
        path = "/brokers/ids/1"
        content = json.loads(parties.zookeeper.znodes[path])
        content["endpoints"].append(endpoint)
        parties.zookeeper.znodes[path] = json.dumps(content).encode()
        snapshot = snap(parties)
    assert {key for key in refused(snapshot) if key[0] == "zookeeper"} == {("zookeeper", f"zookeeper {path}")}
    assert {(row.broker_id, row.listener) for row in snapshot.of(RegisteredEndpoint)} == {(0, "PLAINTEXT"), (1, "PLAINTEXT")}
    assert not any(endpoint in text for text in texts(snapshot))


def test_a_rack_with_a_line_break_is_refused_and_its_broker_is_kept():
    with HostileCluster(brokers=2) as parties:
        path = "/brokers/ids/1"
        content = json.loads(parties.zookeeper.znodes[path])
        parties.zookeeper.znodes[path] = json.dumps({**content, "rack": "a\nb"}).encode()
        snapshot = snap(parties)
    assert set(refused(snapshot)) == {("zookeeper", f"zookeeper {path}")}
    assert {(row.broker_id, row.rack) for row in snapshot.of(RegisteredBroker)} == {(0, None), (1, None)}


def test_names_below_znodes():
    topic = b'{"version":1,"partitions":{"0":[0]}}'
    with HostileCluster(brokers=1) as parties:
        parties.zookeeper.znodes["/brokers/topics/a b;$(x)"] = topic
        parties.zookeeper.znodes["/config/users/eve%0Ax"] = b'{"config":{"SCRAM-SHA-256":"x"}}'
        parties.zookeeper.znodes["/config/users/alice"] = b'{"config":{"SCRAM-SHA-256":"x"}}'
        snapshot = snap(parties)
    found = refused(snapshot)
    assert set(found) == {
        ("zookeeper", "zookeeper /brokers/topics/a b;$(x)"),
        ("zookeeper", "zookeeper /config/users (names)"),
    }
    assert {error for error, _ in found.values()} == {ReadFailure.IMPOSSIBLE_NAMES.words}
    assert {row.user for row in snapshot.of(ScramUser)} == {"alice"}


def test_a_cluster_with_odd_but_legal_names_loses_nothing():
    with HostileCluster(brokers=2) as parties:
        place = (parties.brokers[0].host, parties.brokers[0].port)
        parties.create_topic("A.b-c_9", {0: [0, 1]})
        parties.create_topic("t" * 249, {0: [0, 1]})
        endpoints = {"PLAINTEXT": ("PLAINTEXT", *place), "internal-1.x_Y": ("PLAINTEXT", *place)}
        content = json.loads(registration(endpoints))
        parties.zookeeper.znodes["/brokers/ids/0"] = json.dumps({**content, "rack": "Zürich / 7"}).encode()
        parties.zookeeper.znodes["/config/users/CN=b1,OU=ünit"] = b'{"config":{"SCRAM-SHA-256":"x"}}'
        snapshot = snap(parties)
    assert refused(snapshot) == {}
    assert {row.topic for row in snapshot.of(ViewTopic)} == set(parties.topics) > {"A.b-c_9", "t" * 249}
    assert {row.rack for row in snapshot.of(RegisteredBroker)} == {"Zürich / 7", None}
    assert {row.listener for row in snapshot.of(RegisteredEndpoint)} == {"PLAINTEXT", "internal-1.x_Y"}
    assert {row.user for row in snapshot.of(ScramUser)} == {"CN=b1,OU=ünit"}


MEMBER = GroupMember(sample=2, observer="broker:1", broker_id=1, group="g", state="Stable", client_id="", host="h", partitions=())
DIRECTORY = made(LogDir, path="/data", replicas=1)
RULE = Acl(
    acls_digest="d", resource_type="Topic", resource_name="t", pattern_type="LITERAL", principal="User:a", host="*",
    operation="Read", permission="ALLOW",
)  # fmt: skip


@pytest.mark.parametrize(
    ("row", "odd", "observer", "operation"),
    [
        (MEMBER, {"group": "a\nb"}, "broker:1", "DescribeGroups (names)"),
        (DIRECTORY, {"path": "/data\x1b"}, "broker:1", "DescribeLogDirs (names)"),
        (RULE, {"principal": "User:a\n"}, "zookeeper", "ACLs (names)"),
    ],
)
def test_a_row_with_an_impossible_name_is_a_failed_read_of_its_party(row: Row, odd, observer, operation):
    found = without_impossible_names([row, replace(row, **odd), replace(row, **odd)], 3)
    assert found[0] == row
    (read,) = found[1:]
    assert isinstance(read, SourceRead)
    assert (read.observer, read.operation, read.error) == (observer, operation, ReadFailure.IMPOSSIBLE_NAMES.words)
    assert read.message.startswith("2 ")
    assert read.sample == getattr(row, "sample", 3)
