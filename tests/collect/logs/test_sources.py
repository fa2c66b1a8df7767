"""Logs from paths and commands: whose time is known by what, what counts as newer than a start, and what fails."""

import os
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from kafka_audit.clients.budget import Budget
from kafka_audit.collect.logs import sources
from kafka_audit.collect.nodes import Nodes
from kafka_audit.model.cluster import Cluster, Limits, Logs
from kafka_audit.model.tables import LogLine, RegisteredBroker, SourceRead
from kafka_audit.says.signs import shown_by
from made_rows import made

HOUR = 3_600_000
REFUSED = (
    "{at} WARN Controller 0's connection to broker b2:9092 (id: 2 rack: null) was unsuccessful (k.c.RequestSendThread)\n"
    "java.io.IOException: Connection to b2:9092 (id: 2 rack: null) failed.\n"
)
REGISTERED = (
    "{at} INFO Registered broker 0 at path /brokers/ids/0 with addresses: PLAINTEXT://b0:9092, czxid (broker epoch): 41 (x)\n"
)


def now():
    return round(time.time() * 1000)


def at(ms, zone_h=0):
    return f"[{datetime.fromtimestamp(ms / 1000, UTC) + timedelta(hours=zone_h):%Y-%m-%d %H:%M:%S},{ms % 1000:03}]"


def registration(broker, ms, czxid=41):
    return made(RegisteredBroker, broker_id=broker, ephemeral_owner=1, registered_ms=ms, czxid=czxid, mzxid=czxid)


def read(logs, brokers=(0,), registered=(), settle_s=0.3, controllers=()):
    cluster = Cluster(name="c", logs=logs, limits=Limits(settle_s=settle_s, read_s=60))
    rows = sources.read_logs(
        cluster,
        Nodes(brokers=tuple(brokers), controllers=tuple(controllers)),
        registered,
        1,
        Budget(deadline=time.monotonic() + 600),
    )
    return [r for r in rows if isinstance(r, LogLine)], [r for r in rows if isinstance(r, SourceRead)]


def in_folder(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text)
    return Logs(paths=(f"{folder}/*.log",))


@pytest.mark.parametrize("zone_h", [0, 5.5, -8])
def test_the_registration_tells_the_zone(tmp_path, zone_h):
    start = now() - HOUR
    logs = in_folder(
        tmp_path,
        server=REGISTERED.format(at=at(start + 7, zone_h)),
        controller="".join(REFUSED.format(at=at(start + step, zone_h)) for step in (-5000, 1000, 2000)),
    )
    os.utime(tmp_path / "controller.log", (1, 1))
    (row,), (asked,) = read(logs, registered=[registration(0, start), registration(2, start - HOUR)])
    assert (row.zone, row.matches, row.since_start, row.since_ms, row.last_ms) == (
        "registration", 3, 2, start + 1000, start + 2000,
    )  # fmt: skip
    assert (row.broker_id, row.about_broker, shown_by(row), row.address) == (0, 2, "KA302", "b2:9092")
    assert (asked.observer, asked.operation, asked.outcome) == ("logs:0", "logs *.log", "answered")


def test_what_the_broker_at_fault_did_before_its_restart_is_old(tmp_path):
    start = now() - HOUR
    text = REGISTERED.format(at=at(start)) + "".join(REFUSED.format(at=at(start + step)) for step in (1000, 2000))
    (row,), _ = read(in_folder(tmp_path, server=text), registered=[registration(0, start), registration(2, start + 1500)])
    assert (row.matches, row.since_start) == (2, 1)


def test_without_zookeeper_each_brokers_own_log_tells_its_start(tmp_path):
    start = now() - HOUR
    started = "{at} INFO [BrokerLifecycleManager id={broker}] Successfully registered broker {broker} with broker epoch 7 (x)\n"
    refused = (
        "{at} ERROR [ReplicaFetcher replicaId=0, leaderId=2, fetcherId=0] Connection to node 2 (b2/10.0.0.2:9092) failed "
        "authentication due to: Authentication failed: Invalid username or password (org.apache.kafka.clients.NetworkClient)\n"
    )
    lines = "".join(refused.format(at=at(start + step)) for step in (1000, 2000, 3000))
    (tmp_path / "0.log").write_text(started.format(at=at(start), broker=0) + lines)
    (tmp_path / "2.log").write_text(started.format(at=at(start + 2500, 2), broker=2))
    for broker, newest in ((0, start + 3000), (2, start + 2500)):
        os.utime(tmp_path / f"{broker}.log", (newest / 1000, newest / 1000))
    (row,), _ = read(Logs(paths=(f"{tmp_path}/{{broker_id}}.log",)), brokers=(0, 2))
    assert (row.about_broker, row.matches, row.since_start, row.since_ms) == (2, 3, 1, start + 3000)


BEGUN = {
    # What server.log has before the line, minutes ago, and whether the line counts.
    "an older line of any kind": ("{at} INFO [GroupCoordinator 0]: Stabilized group a (x)\n", 30, 1),
    "nothing": ("", 30, None),
    "an older start": ("{at} INFO [BrokerServer id=0] Transition from SHUTDOWN to STARTING (x)\n", 30, 1),
    "a start after it": ("{at} INFO [BrokerServer id=0] Transition from SHUTDOWN to STARTING (x)\n", 10, None),
    "a registration after it": ("{at} INFO Successfully registered broker 0 with broker epoch 7 (x)\n", 10, 0),
}


@pytest.mark.parametrize("before", BEGUN)
def test_without_zookeeper_a_broker_registered_before_the_part_that_was_read(tmp_path, before):
    text, minutes, count = BEGUN[before]
    moment = now() - 20 * 60_000
    written = [(now() - minutes * 60_000, text), (moment, "{at} WARN Stopping serving logs in dir /d (x)\n")]
    logs = in_folder(tmp_path, server="".join(line.format(at=at(ms)) for ms, line in sorted(written) if line))
    newest = max(ms for ms, line in written if line)
    os.utime(tmp_path / "server.log", (newest / 1000, newest / 1000))
    (row,), _ = read(logs)
    assert (row.signature, row.zone, row.last_ms, row.since_start) == ("log_dir_stopped", "file", moment, count)


def test_another_log_does_not_show_when_a_broker_registered(tmp_path):
    """The cleaner's line is older than the part of server.log that was read: the broker may have started since, or not."""
    texts = {"server": "{at} INFO any line (x)\n", "log-cleaner": "{at} ERROR [kafka-log-cleaner-thread-0]: Error due to (x)\n"}
    times = {"server": now() - 60_000, "log-cleaner": now() - HOUR}
    logs = in_folder(tmp_path, **{name: text.format(at=at(times[name])) for name, text in texts.items()})
    for name, ms in times.items():
        os.utime(tmp_path / f"{name}.log", (ms / 1000, ms / 1000))
    (row,), _ = read(logs)
    assert (row.signature, row.last_ms, row.since_start) == ("cleaner_stopped", times["log-cleaner"], None)


def test_another_registration_tells_nothing(tmp_path):
    start = now() - HOUR
    logs = in_folder(tmp_path, server=REGISTERED.format(at=at(start)) + REFUSED.format(at=at(start + 9)))
    os.utime(tmp_path / "server.log", (1, 1))
    (row,), _ = read(logs, registered=[registration(0, start, czxid=99)])
    assert (row.zone, row.since_start, row.last_ms) == ("not known", None, None)
    assert row.written == at(start + 9).strip("[]")


def test_a_files_own_time_tells_the_zone(tmp_path):
    newest = now() - 30_000
    logs = in_folder(tmp_path, controller=REFUSED.format(at=at(newest, -3)))
    os.utime(tmp_path / "controller.log", (newest / 1000, newest / 1000))
    (row,), _ = read(logs, registered=[registration(0, newest - HOUR), registration(2, newest - HOUR)])
    assert (row.zone, row.last_ms, row.since_start) == ("file", newest, 1)


def test_a_log_that_grows_tells_the_zone():
    script = (
        "import datetime as d\n"
        "n = d.datetime.now(d.timezone(d.timedelta(hours=2)))\n"
        f"print({REFUSED!r}.format(at=f'[{{n:%Y-%m-%d %H:%M:%S}},000]'))"
    )
    logs = Logs(command=(sys.executable, "-c", script))
    (row,), (asked,) = read(logs, registered=[registration(0, now() - HOUR), registration(2, now() - HOUR)], settle_s=1.1)
    assert (row.zone, row.since_start, row.log) == ("growth", 1, "command")
    assert abs(row.last_ms - now()) < HOUR / 4, "zones differ by half an hour at least"
    assert asked.outcome == "answered"


def test_a_command_with_a_zone_in_its_lines_is_read_once(tmp_path):
    counter = tmp_path / "count"
    line = "2026-11-22T01:02:03.456Z ERROR Error while appending records to t-0 in dir /d (x)"
    script = f"open({str(counter)!r}, 'a').write('x'); print({line!r})"
    (row,), _ = read(Logs(command=(sys.executable, "-c", script, "{broker_id}")))
    assert (row.zone, row.last_ms, row.since_start) == ("line", 1795309323456, None)
    assert counter.read_text() == "x"


def test_of_a_long_log_the_end_is_read(tmp_path):
    old = "x" * 99 + "\n"
    (tmp_path / "server.log").write_text(old * (sources.MOST_BYTES // 50) + REFUSED.format(at=at(now())))
    rows, _ = read(Logs(paths=(f"{tmp_path}/server.log",)))
    assert len(rows) == 1
    long = f"for n in range(100000): print('y' * 99)\nprint({REFUSED.format(at=at(now()))!r})"
    rows, _ = read(Logs(command=(sys.executable, "-c", long)))
    assert len(rows) == 1


def test_of_each_log_the_newest_files_are_read(tmp_path):
    for age, name in enumerate(
        ["server.log", "controller.log", "state-change.log", "controller.log.2026-11-21-17", "controller.log.old"]
    ):
        (tmp_path / name).write_text(REFUSED.format(at=at(now())))
        os.utime(tmp_path / name, (now() / 1000 - age * 60, now() / 1000 - age * 60))
    rows, _ = read(Logs(paths=(f"{tmp_path}/*.log*",)))
    assert {row.log for row in rows} == {"server.log", "controller.log", "state-change.log", "controller.log.2026-11-21-17"}


@pytest.mark.parametrize(
    ("logs", "brokers", "error"),
    [
        (Logs(paths=("{tmp}/nothing-*.log",)), (0,), "no such file"),
        (Logs(paths=("{tmp}/nothing.log",)), (0,), "no such file"),
        (Logs(paths=("{tmp}/server.log",)), (0, 1), "no broker id"),
        (Logs(paths=("{tmp}/{broker_id}.log",)), (), "no broker id"),
        (Logs(paths=("{tmp}/{node_id}.log",)), (), "no broker id"),
        (Logs(paths=("{tmp}/{controller_id}.log",)), (0,), "no broker id"),
        (Logs(command=("no-such-program-here",)), (0,), "cannot run"),
        (Logs(command=("sh", "-c", "echo forbidden >&2; exit 3")), (0,), "the command failed"),
        (Logs(command=("sleep", "3600")), (0,), "timeout"),
    ],
)
def test_what_cannot_be_read_is_a_row_that_says_what_is_needed(tmp_path, logs, brokers, error):
    filled = Logs(paths=tuple(path.replace("{tmp}", str(tmp_path)) for path in logs.paths), command=logs.command)
    cluster = Cluster(name="c", logs=filled, limits=Limits(read_s=0.5 if error == "timeout" else 60.0))
    (row,) = sources.read_logs(cluster, Nodes(brokers=brokers), (), 1, Budget(deadline=time.monotonic() + 600))
    assert (row.outcome, row.error) == ("failed", error)
    assert row.needs
    assert row.message


def test_a_login_in_a_command_or_url_is_no_part_of_a_row():
    for logs in (
        Logs(command=("false", "--password", "hunter2")),
        Logs(paths=("nosuch://me:hunter2@conf/server.log",)),
        Logs(paths=("memory://AKIA123:hun/ter2@conf/{broker_id}.log",)),
    ):
        rows = read(logs)[1]
        assert rows
        assert not [part for part in ("hunter2", "hun/", "ter2") if part in repr(rows)]


def test_a_command_gets_no_password(monkeypatch):
    monkeypatch.setenv("KAFKA_AUDIT_PASSWORD", "hunter2")
    script = (
        "import os; print('ERROR Error while appending records to t-0 in dir /' + os.environ.get('KAFKA_AUDIT_PASSWORD', 'none'))"
    )
    (row,), _ = read(Logs(command=(sys.executable, "-c", script)))
    assert row.detail == "/none"


DENIED = """{at} ERROR [ControllerApis nodeId=200] Unexpected error handling request RequestHeader(apiKey=VOTE, apiVersion=1, \
clientId=raft-client-201, correlationId=13, headerVersion=2) -- VoteRequestData() with context RequestContext(\
principal=User:ANONYMOUS, listenerName=ListenerName(CONTROLLER)) (kafka.server.ControllerApis)
org.apache.kafka.common.errors.ClusterAuthorizationException: Request is not authorized.
"""
STARTED = "{at} INFO [ControllerServer id=200] Starting controller (kafka.server.ControllerServer)\n"


@pytest.mark.parametrize("started", [False, True])
def test_lines_of_a_controller_count_since_its_start_or_from_the_beginning_of_what_was_read(tmp_path, started):
    end = now() - 1000
    text = DENIED.format(at=at(end - 60_000)) + (STARTED.format(at=at(end - 30_000)) if started else "")
    (tmp_path / "0.log").write_text("")
    (tmp_path / "200.log").write_text(text + "".join(DENIED.format(at=at(end - ago)) for ago in (2000, 1000, 0)))
    os.utime(tmp_path / "200.log", (end / 1000, end / 1000))
    (row,), asked = read(Logs(paths=(f"{tmp_path}/{{node_id}}.log",)), controllers=(200,))
    assert [read.observer for read in asked] == ["logs:0", "logs:200"]
    assert (row.broker_id, row.about_broker, row.detail, shown_by(row)) == (200, 201, "User:ANONYMOUS", "KA220")
    assert (row.matches, row.since_start) == (4, 3 if started else 4)


def test_each_placeholder_stands_for_the_nodes_of_its_role(tmp_path):
    for node in (0, 200):
        (tmp_path / f"{node}.log").write_text("")
    for placeholder, observers in (("broker_id", {0}), ("controller_id", {200}), ("node_id", {0, 200})):
        _, asked = read(Logs(command=("cat", f"{tmp_path}/{{{placeholder}}}.log")), controllers=(200,))
        assert {read.observer for read in asked if read.outcome == "answered"} == {f"logs:{node}" for node in observers}
