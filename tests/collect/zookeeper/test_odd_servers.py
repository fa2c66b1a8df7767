"""What a hostile ZooKeeper answers costs one row and no line on stderr."""

import json
import threading

from kazoo.protocol.states import ZnodeStat

from collect.taken import taken_of
from counted_work import exponent
from hostile_parties.cluster import HostileCluster
from hostile_parties.party import wrong_correlation
from hostile_parties.zookeeper import registration
from kafka_audit.collect.zookeeper.znode_reads import ZnodeReads
from kafka_audit.collect.zookeeper.znodes import parse_registration
from kafka_audit.model.tables import BrokerView, SourceRead


def snap(parties):
    return taken_of(parties, bootstrap=(parties.brokers[0].address,))


def failed(snapshot):
    return {row.operation: row for row in snapshot.of(SourceRead) if row.outcome == "failed" and row.observer == "zookeeper"}


def test_a_wrong_xid_is_failed_reads_and_no_trace(monkeypatch):
    traces = []
    monkeypatch.setattr(threading, "excepthook", traces.append)  # what prints them
    with HostileCluster(brokers=1) as parties:
        parties.zookeeper.script["/controller"] = wrong_correlation
        snapshot = snap(parties)
    assert traces == []
    assert failed(snapshot)["zookeeper /controller"].error == "unreadable answer"
    assert snapshot.of(BrokerView), "brokers are asked all the same"


def test_thousands_of_unreadable_endpoints_are_one_row(monkeypatch):
    """Each was a row that replaced the one before."""
    failures = []
    fail = ZnodeReads.fail
    monkeypatch.setattr(ZnodeReads, "fail", lambda *arguments: (failures.append(arguments), fail(*arguments)))
    with HostileCluster(brokers=1) as parties:
        path = "/brokers/ids/0"
        content = json.loads(parties.zookeeper.znodes[path])
        content["endpoints"] += ["no address"] * 4_500
        parties.zookeeper.znodes[path] = json.dumps(content).encode()
        snapshot = snap(parties)
    assert failed(snapshot)[f"zookeeper {path}"].error == "unreadable endpoint"
    assert len(failures) <= snapshot.rows[0].samples * 2
    assert snapshot.of(BrokerView), "the endpoint that can be read is asked"


def test_a_registration_is_read_in_work_that_grows_with_its_endpoints():
    def content(count):
        registered = json.loads(registration(("127.0.0.1", 9092)))
        registered["endpoints"] += ["no address"] * count
        return json.dumps(registered).encode()

    stat = ZnodeStat(**dict.fromkeys(ZnodeStat._fields, 0))
    assert exponent(lambda data: parse_registration(1, 0, data, stat), [500, 4_000], content) < 1.1
