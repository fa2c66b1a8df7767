"""Queue vantages: an errand holds no secret, its answer becomes rows, and what was not seen there is unknown."""

import json
import time
from dataclasses import replace
from functools import partial

import pytest

from collect import fakes, taken
from collect.fakes import FakeBroker, server
from collect.secured_fakes import SecuredBroker
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.collect import queue_vantages
from kafka_audit.collect.brokers.discovery import Discovery
from kafka_audit.collect.probes import command_vantages
from kafka_audit.collect.queue_vantages import QueueAnswer
from kafka_audit.model.cluster import Cluster, Limits, Security, Tls, Vantage
from kafka_audit.model.tables import Probe, RegisteredBroker, RegisteredEndpoint, SourceRead
from made_rows import made
from testbed.certificates import Authority

DMZ = Vantage(name="clients", queue="dmz")
target = partial(taken.target, via="elsewhere:1")
NOBODY = ClusterLogins(Cluster(name="none"), {})


def registration(broker_id=0, mzxid=7):
    return made(RegisteredBroker, broker_id=broker_id, ephemeral_owner=1, czxid=mzxid, mzxid=mzxid)


def errand(targets, registered):
    written = {row.broker_id: row.mzxid for row in registered}
    endpoints = [
        [target.broker_id, target.listener, target.protocol, target.host, target.port, written.get(target.broker_id)]
        for target in targets
    ]
    asked = {"read_s": 60.0, "settle_s": 0.2, "endpoints": endpoints, "script": command_vantages.asked(targets, NOBODY)}
    return json.loads(json.dumps(asked))  # as XCom does


def told(rows):
    return [(row.broker_id, row.layer, row.outcome, row.error, row.needs) for row in rows if isinstance(row, Probe)]


@pytest.fixture
def healthy():
    with server(FakeBroker(0)) as address:
        yield target(address)


def test_a_queue_sees_what_a_worker_there_sees_twice(healthy):
    closed, registered = target(fakes.refused(), 1), [registration(), registration(1)]
    asked = errand([healthy, closed], registered)
    started = time.monotonic()
    samples = queue_vantages.probe_errands({"prod": asked})["prod"]
    assert time.monotonic() - started >= asked["settle_s"]
    answer = QueueAnswer(endpoints=asked["endpoints"], samples=json.loads(json.dumps(samples)))
    for sample in (1, 2, 3):
        rows = answer.rows(DMZ, sample, [healthy, closed], registered, NOBODY)
        assert told(rows) == [
            *[(0, layer, "ok", None, None) for layer in ("dns", "tcp", "api", "identity", "packets")],
            (1, "dns", "ok", None, None),
            (1, "tcp", "failed", "connection refused", None),
        ]
        assert {(row.sample, row.vantage, row.role, row.via) for row in rows if isinstance(row, Probe)} == {
            (sample, "clients", "client", None)
        }
        (read,) = [row for row in rows if isinstance(row, SourceRead)]
        assert (read.observer, read.target, read.outcome) == ("vantage:clients", "queue dmz", "answered")


def test_the_second_look_is_the_one_that_later_samples_get(healthy):
    asked = errand([healthy], [registration()])
    failed = "kafka-audit\t0\tdns\tfailed\ttimeout\tby nameserver 10.0.0.2\t\t9\n"
    answer = QueueAnswer(endpoints=asked["endpoints"], samples=[failed, queue_vantages.probe_errands({"c": asked})["c"][1]])
    found = [told(answer.rows(DMZ, sample, [healthy], [registration()], NOBODY))[0][2] for sample in (1, 2, 3)]
    assert found == ["failed", "ok", "ok"]


@pytest.mark.parametrize("since", ["registered anew", "another address", "new broker"])
def test_what_was_registered_since_is_not_judged_by_what_was_there_before(healthy, since):
    asked = errand([healthy], [registration()])
    answer = QueueAnswer(endpoints=asked["endpoints"], samples=queue_vantages.probe_errands({"c": asked})["c"])
    now = {
        "registered anew": ([healthy], [registration(mzxid=8)]),
        "another address": ([replace(healthy, port=1)], [registration()]),
        "new broker": ([replace(healthy, broker_id=5)], [registration(5)]),
    }
    (row,) = told(answer.rows(DMZ, 2, *now[since], NOBODY))
    assert row[1:] == ("dns", "unknown", "registered again since, or not probed", "another audit")


@pytest.mark.parametrize("samples", [(), ("",), ("", "", "")])
def test_no_answer_is_a_read_that_failed(healthy, samples):
    rows = QueueAnswer(endpoints=errand([healthy], [])["endpoints"], samples=samples).rows(DMZ, 1, [healthy], [], NOBODY)
    assert told(rows) == [(0, "dns", "unknown", "no answer", "a worker of queue dmz")]
    assert [(row.outcome, row.needs) for row in rows if isinstance(row, SourceRead)] == [("failed", "a worker of queue dmz")]


def test_without_queues_it_is_unknown_and_says_what_it_needs(healthy):
    assert command_vantages.runs(Cluster(name="c", vantages=(DMZ,)), 1, [healthy], [0]) == []
    (row,) = queue_vantages.without_queues(DMZ, 1, [healthy])
    assert (row.vantage, row.outcome, row.needs) == ("clients", "unknown", "an Airflow executor with queues")


def test_an_answer_that_makes_no_sense_is_unknown(healthy):
    asked = errand([healthy], [registration()])
    answer = QueueAnswer(endpoints=asked["endpoints"], samples=["kafka-audit\t7\tdns\tok\t\t\t\t1\nnonsense"] * 2)
    (row,) = told(answer.rows(DMZ, 1, [healthy], [registration()], NOBODY))
    assert row[2] == "unknown"


def test_no_password_and_no_key_travels(tmp_path, monkeypatch):
    authority = Authority(tmp_path)
    (tmp_path / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n")
    security = {"protocol": "SASL_SSL", "mechanism": "PLAIN", "username": "auditor", "password_env": "HIDDEN"}
    secure = Security(**security, tls=Tls(ca_file=str(authority.ca_file)))
    endpoint = RegisteredEndpoint(sample=1, broker_id=0, listener="L", protocol="SASL_SSL", host="b0.example", port=9093)
    monkeypatch.setattr(Discovery, "listed", lambda _: (endpoint,))
    cluster = Cluster(name="c", bootstrap=("b0.example:9093",), security=secure, limits=Limits(read_s=1, settle_s=3))
    asked = queue_vantages.errand(cluster, {"HIDDEN": "hunter2"})
    text = json.dumps(asked)
    assert "hunter2" not in text
    assert "auditor" not in text
    assert "PRIVATE" not in text
    assert "BEGIN CERTIFICATE" in text
    assert asked["endpoints"] == [[0, "L", "SASL_SSL", "b0.example", 9093, None]]
    assert (asked["read_s"], asked["settle_s"]) == (1, 3)


def test_an_endpoint_that_no_kafka_could_have_advertised_goes_nowhere(monkeypatch):
    rows = [
        RegisteredEndpoint(sample=1, broker_id=0, listener="L", protocol="PLAINTEXT", host=host, port=9092)
        for host in ("good.example", "$(id)", "a b")
    ]
    monkeypatch.setattr(Discovery, "listed", lambda _: tuple(rows))
    asked = queue_vantages.errand(Cluster(name="c", bootstrap=("good.example:9092",)), {})
    assert [key[3] for key in asked["endpoints"]] == ["good.example"]
    strict = Cluster(name="c", bootstrap=("b.example:9092",), limits=Limits(dial_untrusted=False))
    assert queue_vantages.errand(strict, {})["endpoints"] == []
    assert queue_vantages.errand(replace(strict, trusted_hosts=("good.example",)), {})["endpoints"] == asked["endpoints"]


WORDY = tuple(f"{number:0255}" for number in range(100))
"""Names of mechanisms, as many and as long as a probe reads."""


@pytest.mark.parametrize("names", [WORDY, ("\N{SNOWMAN}" * 80,) * 100, (*WORDY[:50], "PLAIN")])
def test_names_that_are_no_mechanisms_do_not_travel(names):
    with server(SecuredBroker(1, mechanisms=names)) as address:
        samples = queue_vantages.probe_errands({"c": errand([target(address, 1, "S", "SASL_PLAINTEXT")], [])})["c"]
    assert len(json.dumps(samples)) < 1_000, "51 KB, and three times as much of other letters"
    assert ["PLAIN" in sample for sample in samples] == ["PLAIN" in names] * 2


def test_answers_of_more_bytes_than_a_sample_has_displace_themselves_and_no_honest_one(healthy, monkeypatch):
    monkeypatch.setattr(queue_vantages, "MOST_BYTES", 10_000)
    with server(SecuredBroker(1, mechanisms=tuple(f"X-{number:018}" for number in range(100)))) as address:
        targets = [*[target(address, number, "S", "SASL_PLAINTEXT") for number in range(1, 41)], healthy]
        asked = errand(targets, [])
        samples = queue_vantages.probe_errands({"c": asked})["c"]
    assert len(json.dumps(samples)) < 2 * (10_000 + 40 * 150)
    rows = QueueAnswer(endpoints=asked["endpoints"], samples=samples).rows(DMZ, 1, targets, [], NOBODY)
    assert [row[1:3] for row in told(rows) if row[0] == 0] == [
        (layer, "ok") for layer in ("dns", "tcp", "api", "identity", "packets")
    ]
    left_out = [row for row in told(rows) if row[1:4] == ("dns", "unknown", "over the limit")]
    assert len(left_out) >= 36
    assert {needs for *_, needs in left_out} == {f"answers of all endpoints that take {4 * 1024 * 1024} bytes at most"}
    assert {row[0] for row in told(rows)} == {*range(41)}, "each endpoint has a row"


def test_an_errand_has_no_more_bytes_than_its_bound(monkeypatch):
    rows = [
        RegisteredEndpoint(sample=1, broker_id=number, listener="L", protocol="PLAINTEXT", host=f"{number:063}.x" * 3, port=9092)
        for number in range(400)
    ]
    monkeypatch.setattr(Discovery, "listed", lambda _: tuple(rows))
    monkeypatch.setattr(queue_vantages, "MOST_BYTES", 50_000)
    asked = queue_vantages.errand(Cluster(name="c", bootstrap=("b:1",)), {})
    assert 20_000 < len(json.dumps(asked)) < 50_000
    assert len(asked["endpoints"]) == len(asked["script"]["targets"])
    rows[:] = rows[:50]
    assert len(queue_vantages.errand(Cluster(name="c", bootstrap=("b:1",)), {})["endpoints"]) == 50  # nearest: it fits
