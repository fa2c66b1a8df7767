"""Alerts over the wire: a mail server and a webhook on loopback, the providers' own clients, and the state in a store."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from email.header import decode_header, make_header
from pathlib import Path
from socket import gethostname, socket

import pytest
from msgspec import structs

from audit_history import History, cut_off
from kafka_audit.airflow import KafkaAuditNotifier
from kafka_audit.airflow.alerts import alert_channels
from kafka_audit.airflow.alerts.failure_notes import note_failure
from kafka_audit.airflow.errors import GateFailed
from kafka_audit.alerting import delivery
from kafka_audit.alerting.conditions import AlertLimits, AuditResult
from kafka_audit.alerting.delivery import Channel
from kafka_audit.alerting.messages import Links
from kafka_audit.alerting.shared_causes import run_troubles
from kafka_audit.model.errors import UsageError
from kafka_audit.store import Store, alerts
from kafka_audit.store.alerts import AlertFiles

SINK = Path(__file__).parents[2] / "scenarios" / "alert_sink.py"


class Instance:
    """A task instance in the process of its task."""

    dag_id, run_id, log_url = "kafka_audit", "scheduled__2026-09-14T18:00:00+00:00", "http://airflow/log"

    def __init__(self, task_id="gate", map_index=0, **xcoms):
        self.task_id, self.map_index, self.xcoms = task_id, map_index, xcoms

    def xcom_pull(self, *, task_ids, key="return_value", map_indexes=None):
        assert map_indexes is None or key == "why"
        return self.xcoms.get(task_ids)

    def xcom_push(self, *, key, value):
        self.xcoms[key] = value


def free_port():
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    return Store(tmp_path / "store")


@pytest.fixture
def connected(monkeypatch, tmp_path):
    """Both connections, and a function that returns what arrived."""
    smtp, http, arrived = free_port(), free_port(), tmp_path / "arrived.jsonl"
    extra = {"disable_ssl": True, "disable_tls": True, "from_email": "airflow@example.com", "to": "a@example.com,b@example.com"}
    mail = {"conn_type": "smtp", "host": "127.0.0.1", "port": smtp, "extra": extra}
    slack = {"conn_type": "slackwebhook", "host": f"http://127.0.0.1:{http}", "password": "/services/T/B/X"}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SMTP", json.dumps(mail))
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SLACK", json.dumps(slack))
    with subprocess.Popen(
        [sys.executable, str(SINK), str(smtp), str(http), str(arrived)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as sink:
        assert sink.stdout.readline() == "ready\n"
        yield lambda: [json.loads(line) for line in arrived.read_text().splitlines()] if arrived.exists() else []
        sink.stdin.close()


def subjects(messages):
    """Return subjects of mails and first lines of posts, by kind."""
    mails = [str(make_header(decode_header(dict(m["headers"])["Subject"]))) for m in messages if m["kind"] == "mail"]
    return mails, [m["text"].splitlines()[0].strip("*") for m in messages if m["kind"] == "slack"]


class Run:
    """Audits whose gates call the callbacks, as Airflow does."""

    def __init__(self, store):
        self._store = store
        self._history = History()

    def gate(self, *failures, **more):
        document = self._history.audit(*failures, **more)
        self._store.write_report(document.snapshot_id, document)
        judged = {"prod": document.snapshot_id}
        instance = Instance(clusters=["prod"], report=judged)
        shut = bool(failures) or more.get("dead", False)
        exception = GateFailed(cluster="prod", headline="h") if shut else None
        end(instance, exception)


def end(instance, exception):
    """End a task as Airflow does: it has its state when the callback is called."""
    instance.state = "failed" if exception else "success"
    notify(instance, exception)


def notify(instance, exception=None, **context):
    KafkaAuditNotifier()({"ti": instance, "exception": exception, **context})


def test_without_connections_nothing_is_sent_and_nothing_fails(store, tmp_path):
    Run(store).gate(*cut_off(1))
    assert not (tmp_path / "store" / "alerts").exists()


def test_the_story_of_seven_audits_gives_five_messages_each_way(store, connected):
    run = Run(store)
    for failures in ((), cut_off(1), cut_off(1), cut_off(1, 3), ()):
        run.gate(*failures)
    run.gate(dead=True)
    run.gate()
    mails, posts = subjects(connected())
    assert [subject.split(":")[0] for subject in mails] == [
        "[NEW] prod",
        "[WORSE] prod",
        "[RESOLVED] prod",
        "[NOT AUDITED] prod",
        "[AUDITED AGAIN] prod",
    ]
    assert posts == mails
    assert mails[0] == "[NEW] prod: Broker 1 is cut off: controller 0 cannot reach the address it advertises"


def test_a_mail_has_two_parts_a_thread_and_links(store, connected):
    run = Run(store)
    run.gate(*cut_off(1))
    run.gate(*cut_off(1, 3))
    first, second = (message for message in connected() if message["kind"] == "mail")
    assert first["plain"].splitlines()[0] == dict(first["headers"])["Subject"]
    assert first["body"].startswith("<h2")
    assert "Log: http://airflow/log" in first["plain"]
    assert "Stored: " in first["plain"]
    assert dict(second["headers"])["References"] == dict(first["headers"])["Message-ID"]
    assert first["to"] == ["a@example.com", "b@example.com"]


def test_the_report_is_attached_where_there_is_something_to_read(store, connected):
    run = Run(store)
    run.gate(*cut_off(1))
    run.gate()
    assert [message["attached"] for message in connected() if message["kind"] == "mail"] == [
        ["20260914T060000Z-prod-0001.html"],
        [],
    ]


def test_the_page_of_the_run_is_linked_below_the_configured_address(store, connected, monkeypatch):
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.example/base/")
    Run(store).gate(*cut_off(1))
    link = "https://airflow.example/base/dags/kafka_audit/runs/scheduled__2026-09-14T18%3A00%3A00%2B00%3A00/plugin/"
    for message in connected():
        assert link in message.get("text", message.get("plain"))


def test_a_channel_that_failed_gets_its_message_with_the_next_audit(store, connected, monkeypatch):
    run = Run(store)
    working = json.loads(os.environ["AIRFLOW_CONN_KAFKA_AUDIT_SLACK"])
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SLACK", json.dumps(working | {"host": "http://127.0.0.1:1"}))
    with pytest.raises(ExceptionGroup) as error:
        run.gate(*cut_off(1))
    (refused,) = error.value.exceptions
    assert isinstance(refused, OSError)
    assert "refused" in str(refused)
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SLACK", json.dumps(working))
    run.gate(*cut_off(1))
    mails, posts = subjects(connected())
    assert [len(mails), len(posts)] == [1, 1]


def test_a_damaged_state_costs_a_message_too_many_and_a_warning(store, connected, caplog):
    run = Run(store)
    run.gate(*cut_off(1))
    AlertFiles(store.root, "mail").write("prod", b'{"version": 7}')
    run.gate(*cut_off(1))
    mails, posts = subjects(connected())
    assert [len(mails), len(posts)] == [2, 1]
    assert "alerts/mail/prod.json: the alerting state is unknown" in caplog.text


NAMES = ["prod", "stage", "test"]


def test_when_no_cluster_was_audited_one_gate_tells_it_once(connected):
    for _ in range(2):
        for index, name in enumerate(NAMES):
            failed = GateFailed(cluster=name, headline="task compare failed: Spark is gone", audited=False)
            end(Instance(map_index=index, clusters=NAMES), failed)
    mails, posts = subjects(connected())
    assert mails == posts == ["[NOT AUDITED] kafka_audit: task compare failed: Spark is gone; no earlier audit"]


def gates(store, *, dead):
    """End the gates of a run of several clusters with one ZooKeeper, each in its own process."""
    document = History().audit(dead=dead)
    finished = f"2026-09-14T{6 if dead else 7:02}:00:00Z"
    documents = [
        structs.replace(
            document, cluster=name, snapshot_id=f"20260914T0{6 if dead else 7}0000Z-{name}-0001", finished_at=finished
        )
        for name in NAMES
    ]
    for report in documents:
        store.write_report(report.snapshot_id, report)
    xcoms = {
        "clusters": NAMES,
        "report": {document.cluster: document.snapshot_id for document in documents},
        "compare": "run",
    }
    store.write_troubles("run", run_troubles(documents, dict.fromkeys(NAMES), AlertLimits()).to_json())
    for index, name in enumerate(NAMES):
        end(Instance(map_index=index, **xcoms), GateFailed(cluster=name, headline="h") if dead else None)


def test_three_gates_that_fail_for_one_zookeeper_send_one_message(store, connected):
    gates(store, dead=True)
    mails, posts = subjects(connected())
    assert mails == posts == ["[NEW] 3 clusters: ZooKeeper zk1:2181 does not answer (timeout)"]
    (mail,) = (message for message in connected() if message["kind"] == "mail")
    assert all(f"\n{name}: " in mail["plain"] for name in NAMES)
    gates(store, dead=False)
    mails, _ = subjects(connected())
    assert [subject.partition(":")[0] for subject in mails[1:]] == ["[RESOLVED] 3 clusters"]


def test_a_shared_cause_of_another_version_costs_messages_and_no_failure(store, connected, caplog):
    document = History().audit(dead=True)
    store.write_report(document.snapshot_id, document)
    xcoms = {"clusters": ["prod"], "report": {"prod": document.snapshot_id}, "compare": "run"}
    store.write_troubles("run", '{"version": 7}')
    end(Instance(**xcoms), GateFailed(cluster="prod", headline="h"))
    mails, _ = subjects(connected())
    assert [subject.partition(":")[0] for subject in mails] == ["[NOT AUDITED] prod"]
    assert "each cluster is alerted on its own" in caplog.text


def test_the_next_run_says_that_audits_run_again(store, connected):
    end(Instance(task_id="clusters"), UsageError("clusters.yaml: no such file"))
    document = History().audit()
    store.write_report(document.snapshot_id, document)
    for index in range(3):
        end(Instance(map_index=index, clusters=NAMES, report=dict.fromkeys(NAMES, document.snapshot_id)), None)
    mails, _ = subjects(connected())
    assert mails == [
        "[NOT AUDITED] kafka_audit: task clusters failed: clusters.yaml: no such file; no earlier audit",
        "[AUDITED AGAIN] kafka_audit: audits run, after 1 failed audit",
    ]


def test_the_only_cluster_says_so_too_once_its_file_can_be_read_again(store, connected):
    end(Instance(task_id="clusters"), UsageError("clusters.yaml: no such file"))
    Run(store).gate()
    assert [subject.partition("]")[0] for subject in subjects(connected())[0]] == ["[NOT AUDITED", "[AUDITED AGAIN"]


def test_one_cluster_without_a_snapshot_is_told_by_its_own_gate(store, connected):
    document = History().audit()
    store.write_report(document.snapshot_id, document)
    judged = {"prod": document.snapshot_id}
    end(Instance(map_index=0, clusters=["prod", "stage"], report=judged), None)
    end(
        Instance(map_index=1, clusters=["prod", "stage"], report=judged), GateFailed(cluster="stage", headline="x", audited=False)
    )
    assert subjects(connected())[0] == ["[NOT AUDITED] stage: x; no earlier audit"]


@pytest.mark.parametrize("exception", [None, "killed"])
def test_a_gate_whose_process_died_is_told_by_whoever_is_left(store, connected, exception):
    document = History().audit()
    store.write_report(document.snapshot_id, document)
    notify(Instance(clusters=["prod"], report={"prod": document.snapshot_id}), exception)
    why = exception or "its process died"
    assert subjects(connected())[0] == [f"[NOT AUDITED] prod: task gate failed: {why}; no earlier audit"]


def test_what_a_cluster_says_is_no_header_and_no_template(connected):
    hostile = "topic ü\r\nBcc: everyone@example.com\r\n\r\n{{ 7 ** 30 }} {% raw %} <!channel>"
    end(Instance(clusters=["prod"]), GateFailed(cluster="prod", headline=hostile))
    mail, post = connected()
    names = [name for name, _ in mail["headers"]]
    assert names == ["Content-Type", "MIME-Version", "Subject", "From", "To", "Date", "Message-ID"]
    assert "topic ü" in dict(mail["headers"])["Subject"]
    assert mail["to"] == ["a@example.com", "b@example.com"]
    for text in (mail["body"], mail["plain"], post["text"]):
        assert "{{ 7 ** 30 }}" in text
        assert str(7**30) not in text  # too long for a time or an id to show it
    assert "<!channel>" not in post["text"] + mail["body"]


def test_a_reason_is_left_for_the_gates_in_a_few_words():
    instance = Instance(task_id="compare")
    note_failure({"ti": instance, "exception": RuntimeError("x" * 5000)})
    assert instance.xcoms["why"].startswith("task compare failed: xxx")
    assert len(instance.xcoms["why"]) <= 190


def test_a_mail_connection_without_recipients_says_what_it_lacks(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SMTP", '{"conn_type": "smtp", "host": "127.0.0.1", "extra": {"to": "a@b"}}')
    with pytest.raises(ExceptionGroup) as error:
        end(Instance(clusters=["prod"]), GateFailed(cluster="prod", headline="h"))
    assert "its extra must contain from_email" in str(error.value.exceptions[0])


def test_a_wrong_setting_of_the_gate_is_told_too(connected, monkeypatch):
    monkeypatch.setenv("KAFKA_AUDIT_MIN_COVERAGE", "90%")
    end(Instance(clusters=["prod"], report={"prod": "x"}), UsageError("KAFKA_AUDIT_MIN_COVERAGE is '90%'"))
    assert subjects(connected())[0][0].startswith("[NOT AUDITED] prod: task gate failed: KAFKA_AUDIT_MIN_COVERAGE is '90%'")


SENT = []


class Pager:
    """A notifier as providers have them."""

    def __init__(self, **arguments):
        self.arguments = arguments

    def notify(self, _context):
        SENT.append(self.arguments)


def test_any_notifier_is_sent_the_same_with_a_state_of_its_own(store, monkeypatch):
    entry = {
        "notifier": f"{__name__}.Pager",
        "summary": "{subject}",
        "dedup_key": "kafka-{key}",
        "more": {"do": ["{action}"]},
        "n": 1,
    }
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or sys.modules[Pager.__module__])
    monkeypatch.setenv("KAFKA_AUDIT_NOTIFIERS", json.dumps([entry]))
    SENT.clear()
    run = Run(store)
    for failures in (cut_off(1), cut_off(1), ()):
        run.gate(*failures)
    begun, ended = SENT
    assert begun["summary"].startswith("[NEW] prod: Broker 1 is cut off")
    assert (begun["more"], ended["more"], begun["n"]) == ({"do": ["trigger"]}, {"do": ["resolve"]}, 1)
    assert begun["dedup_key"] == ended["dedup_key"]


def test_notifiers_that_cannot_be_read_keep_no_mail_from_going_out(store, connected, monkeypatch):
    monkeypatch.setenv("KAFKA_AUDIT_NOTIFIERS", "{")
    with pytest.raises(ExceptionGroup) as error:
        Run(store).gate(*cut_off(1))
    assert ["KAFKA_AUDIT_NOTIFIERS is not a list" in str(exception) for exception in error.value.exceptions] == [True]
    mails, posts = subjects(connected())
    assert [len(mails), len(posts)] == [1, 1]


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"summary": "x"}]'])
def test_notifiers_that_cannot_be_read_are_one_line(monkeypatch, text):
    monkeypatch.setenv("KAFKA_AUDIT_NOTIFIERS", text if text != "{}" else '{"a": 1}')
    with pytest.raises(UsageError, match="KAFKA_AUDIT_NOTIFIERS is not a list like"):
        alert_channels.notifiers()


def test_one_notifier_that_fails_keeps_no_other_from_its_message(store, monkeypatch):
    entries = [{"notifier": "no.such.Notifier"}, {"notifier": f"{__name__}.Pager", "summary": "{subject}"}]
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or sys.modules[Pager.__module__])
    monkeypatch.setenv("KAFKA_AUDIT_NOTIFIERS", json.dumps(entries))
    SENT.clear()
    with pytest.raises(ExceptionGroup, match="not delivered"):
        Run(store).gate(*cut_off(1))
    assert len(SENT) == 1


def test_what_was_sent_is_kept_before_the_next_is_sent(store):
    """A process that is killed between two messages on one audit."""
    sent = []

    class Killed(BaseException):
        pass

    def send(message):
        if len(sent) == 1 and not sent[0].endswith("!"):
            sent[0] += "!"
            raise Killed
        sent.append(message.subject)

    channel = Channel(name="pager", needs="", send=send, target=lambda: "a pager")
    history = History()
    document = history.audit(*cut_off(1), ("KA312", "broker/2", "CRITICAL", {}))
    result = AuditResult(cluster="prod", document=document)
    with pytest.raises(Killed):
        delivery.deliver(channel, "prod", result, Links(), limits=AlertLimits(), store_root=store.root)
    delivery.deliver(channel, "prod", result, Links(), limits=AlertLimits(), store_root=store.root)
    assert len({subject.rstrip("!") for subject in sent}) == len(sent) == 2


class Audit:
    is_an_audit = True


class AuditInstance(Instance):
    """A task that is an audit of its own."""

    dag_id = "deployment"

    def __init__(self, **left):
        super().__init__(task_id="audit", map_index=-1)
        self.left = left or None

    def xcom_pull(self, *, task_ids, key, map_indexes):
        assert (task_ids, key, map_indexes) == ("audit", "kafka_audit", -1)
        return self.left


def audit_alone(store, history, *failures):
    document = history.audit(*failures)
    store.write_report(document.snapshot_id, document)
    instance = AuditInstance(cluster="prod", snapshot_id=document.snapshot_id)
    instance.state = "failed" if failures else "success"
    notify(instance, GateFailed(cluster="prod", headline="h") if failures else None, task=Audit())


def test_an_audit_of_another_dag_continues_the_alerts_of_the_dag(store, connected, monkeypatch):
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.example/base/")
    run = Run(store)
    run.gate(*cut_off(1))
    audit_alone(store, run._history, *cut_off(1))
    audit_alone(store, run._history, *cut_off(1, 3))
    audit_alone(store, run._history)
    mails, posts = subjects(connected())
    assert [subject.partition(":")[0] for subject in mails] == ["[NEW] prod", "[WORSE] prod", "[RESOLVED] prod"]
    assert posts == mails
    worse = [message for message in connected() if message["kind"] == "mail"][1]
    assert "https://airflow.example/base/kafka-audit/snapshots/20260914T" in worse["plain"]


def test_an_audit_that_came_to_no_report_says_so_and_so_does_one_that_came_to_no_cluster(connected):
    for left, error in (({"cluster": "prod"}, "EngineError: no answer"), ({}, "no such variable")):
        instance = AuditInstance(**left)
        instance.state = "failed"
        notify(instance, RuntimeError(error), task=Audit())
    mails, _ = subjects(connected())
    assert mails == [
        "[NOT AUDITED] prod: task audit failed: EngineError: no answer; no earlier audit",
        "[NOT AUDITED] deployment.audit: task audit failed: no such variable; no earlier audit",
    ]


def test_an_audit_whose_process_died_has_no_state_and_is_a_failure(connected):
    notify(AuditInstance(cluster="prod"), task=Audit())
    assert subjects(connected())[0] == ["[NOT AUDITED] prod: task audit failed: its process died; no earlier audit"]


def test_the_notifier_says_where_it_does_not_belong():
    instance = AuditInstance()
    instance.state = "failed"
    with pytest.raises(UsageError, match=r"deployment\.audit is not an audit"):
        notify(instance, RuntimeError("x"), task=object())


@pytest.fixture
def slow():
    """A channel that takes half a second for a message, and what it was given."""
    sent = []

    def send(message):
        time.sleep(0.5)
        sent.append(message.subject)

    return Channel(name="slow", needs="", send=send, target=lambda: "a"), sent


def test_two_runs_that_audit_a_cluster_at_the_same_time_send_one_message(store, slow):
    """A scheduled audit, and one that a suspicion asked for: both find the incident, and neither knows of the other."""
    channel, sent = slow
    history = History()
    results = [AuditResult(cluster="prod", document=history.audit(*cut_off(1))) for _ in range(2)]
    other = AuditResult(cluster="test", document=History().audit(*cut_off(2)))

    def deliver(result):
        delivery.deliver(channel, result.cluster, result, Links(), limits=AlertLimits(), store_root=store.root)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(deliver, [*results, other]))
    assert [subject.partition(" ")[0] for subject in sorted(sent)] == ["[NEW]", "[NEW]"]
    assert {cluster for cluster in ("prod", "test") for subject in sent if cluster in subject} == {"prod", "test"}
    assert {path.name for path in Path(store.root, "alerts", "slow").iterdir()} == {"prod.json", "test.json"}


@pytest.mark.parametrize("left", ["killed", "old"])
def test_a_turn_that_a_killed_run_left_delays_no_alert(store, slow, left, monkeypatch):
    channel, sent = slow
    with subprocess.Popen(["true"]) as process:
        process.wait()
    sign = Path(store.root, "alerts", "slow", "prod.json.turn")
    sign.parent.mkdir(parents=True)
    sign.write_text(f"{gethostname()} {process.pid}" if left == "killed" else "another 1")
    if left == "old":
        os.utime(sign, (0, 0))
    monkeypatch.setattr(alerts, "_AGAIN_S", 1e6)  # one that waits, waits for ever
    result = AuditResult(cluster="prod", document=History().audit(*cut_off(1)))
    delivery.deliver(channel, "prod", result, Links(), limits=AlertLimits(), store_root=store.root)
    assert len(sent) == 1
    assert not sign.exists()
