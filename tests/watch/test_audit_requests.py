"""The loop behind the trigger, against fakes: one request for a fault, none for the same fault after a restart."""

import asyncio
import json
import logging
from contextlib import aclosing

import pytest

from kafka_audit.model.cluster import Cluster, Limits
from kafka_audit.model.errors import UsageError
from kafka_audit.store.watch_files import WatchFiles
from kafka_audit.watch import audit_requests as module
from kafka_audit.watch import loop, reader
from kafka_audit.watch.audit_requests import SavedWatch, WatchSettings, audit_requests, decode_watch, encode_watch
from kafka_audit.watch.judgement import GAP_S, Patience, next_state
from kafka_audit.watch.pacing import Pacing
from watch.readings import after, broker, down, reading, zookeeper

QUICK = WatchSettings(every_s=2, patience=Patience(grace_s=2), distance_s=3600)


AMPLE = Limits(read_s=60.0)


class Clock:
    """The clock of watches: it stands still during a reading, and no pause between two is waited for."""

    now_ms = 1_800_000_000_000
    left = 0  # readings until the watch ends
    watch = None


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock, pause_s = Clock(), loop.pause_s

    def pass_pause(state, every_s):
        clock.now_ms += round(pause_s(state, every_s) * 1000)
        clock.left -= 1
        if not clock.left:
            clock.watch.cancel()
        return 0.0

    monkeypatch.setattr(loop, "pause_s", pass_pause)
    monkeypatch.setattr(reader, "now_ms", lambda: clock.now_ms)
    return clock


def empty(broker):
    broker.brokers, broker.controller_id = {}, -1


@pytest.fixture
def requests(brokers, clock):
    """What returns what is requested within this many readings, one each two seconds of the clock."""

    def requested(folder, readings, settings=QUICK, described=None):
        async def known():
            return Cluster(name="prod", bootstrap=(brokers[0].address,), limits=AMPLE), {}

        async def collect():
            found, clock.left, clock.watch = [], readings, asyncio.current_task()
            try:
                async with aclosing(audit_requests("prod", described or known, WatchFiles(folder), settings)) as stream:
                    async for event in stream:
                        found.append(event)  # noqa: PERF401 -- what came before the end counts
            except asyncio.CancelledError:
                asyncio.current_task().uncancel()
                return found
            raise AssertionError

        return asyncio.run(collect())

    return requested


def test_a_fault_requests_one_audit_and_none_again_after_a_restart(requests, brokers, tmp_path):
    assert requests(tmp_path, 2) == []
    empty(brokers[2])
    (request,) = requests(tmp_path, 4)
    assert request["cluster"] == "prod"
    (suspicion,) = request["suspicions"]
    assert (suspicion["what"], suspicion["broker"]) == ("view_empty", 2)
    assert suspicion["sentence"] == "Broker 2 answers, but its own view lists no broker"
    assert json.loads(json.dumps(request)) == request
    assert requests(tmp_path, 4) == []


def test_a_second_fault_waits_for_its_distance(requests, brokers, tmp_path):
    empty(brokers[2])
    assert len(requests(tmp_path, 3)) == 1
    empty(brokers[1])
    assert requests(tmp_path, 3) == []
    saved = decode_watch(WatchFiles(tmp_path).read("prod"))
    assert saved.pacing.waiting == ("1",)
    assert {suspicion.broker for suspicion in saved.state.suspicions} == {1, 2}
    at = saved.pacing.requested_ms
    same = Pacing(requested_ms=at, distance_s=3600, waiting=("1",), audited={"1": at, "2": at})
    WatchFiles(tmp_path).write("prod", encode_watch(SavedWatch(state=saved.state, pacing=same)))
    sooner = WatchSettings(every_s=2, patience=Patience(grace_s=2), distance_s=0)
    assert requests(tmp_path, 2, sooner) == []
    WatchFiles(tmp_path).write("prod", encode_watch(saved))
    assert len(requests(tmp_path, 2, sooner)) == 1


def test_a_store_that_is_gone_costs_only_the_memory(requests, brokers, tmp_path, caplog):
    (tmp_path / "file").touch()
    empty(brokers[2])
    with caplog.at_level(logging.WARNING):
        assert len(requests(tmp_path / "file" / "store", 3)) == 1
    assert sum("the state of the watch is not written" in line for line in caplog.messages) == 1


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"version": 2, "state": {}}', b"\xff", b'{"state": {"at_ms": null}}'])
def test_a_damaged_memory_is_a_new_beginning(requests, brokers, tmp_path, content, caplog):
    WatchFiles(tmp_path).write("prod", content)
    empty(brokers[2])
    with caplog.at_level(logging.WARNING):
        assert len(requests(tmp_path, 3)) == 1
    assert any("prod: the watch begins anew" in line for line in caplog.messages)


def test_a_cluster_file_that_is_wrong_is_said_and_tried_again(requests, brokers, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(module, "RETRY_S", 0.1)
    tries = []

    async def described():
        tries.append(1)
        if len(tries) < 3:
            message = "clusters.yaml:1: unknown key"
            raise UsageError(message)
        return Cluster(name="prod", bootstrap=(brokers[0].address,), limits=AMPLE), {}

    empty(brokers[2])
    with caplog.at_level(logging.WARNING):
        assert len(requests(tmp_path, 3, described=described)) == 1
    assert sum("prod is not watched: clusters.yaml:1: unknown key" in line for line in caplog.messages) == 2


def test_the_memory_is_written_when_something_changes_and_not_with_each_reading(requests, tmp_path, monkeypatch):
    written = []
    write = WatchFiles.write

    def noted(self, cluster, content):
        written.append(content)
        write(self, cluster, content)

    monkeypatch.setattr(WatchFiles, "write", noted)
    requests(tmp_path, 5)
    assert len(written) == 1


def test_the_memory_is_read_as_it_was_written():
    state = after(
        reading(0),
        *(reading(s, broker(1, cluster_id="x"), down(2), zk=zookeeper(brokers=frozenset({0, 1}))) for s in (20, 40, 60)),
    )
    saved = SavedWatch(state=state, pacing=Pacing(requested_ms=5, distance_s=600.0, waiting=("2",), audited={"1": 5}))
    assert len(state.suspicions) >= 2
    assert decode_watch(encode_watch(saved)) == saved


def test_two_readings_with_a_long_gap_between_are_not_in_a_row():
    early = after(reading(0), reading(20, down(2)))
    late = next_state(early, reading(20 + int(GAP_S), down(2)))
    assert late.suspicions == ()
    suspected = after(reading(0), reading(20, down(2)), reading(30, down(2)))
    assert next_state(suspected, reading(30 + int(GAP_S), down(2))).suspicions != ()
