"""What `kafka-audit logs` makes of files: nodes, starts, times, what is ordinary, what is not known, and hostile ones."""

import gzip
import json

import pytest

from counted_work import counted_calls
from kafka_audit.cli import main
from kafka_audit.logs.diagnosis import exit_code, log_document
from kafka_audit.logs.redaction import Redaction
from kafka_audit.report import log_report
from logs.read import diagnosed, tallied

AT = "[2026-11-29 10:{:02}:{:02},000] "


def line(minute, text, second=0):
    return f"{AT.format(minute, second)}{text}\n"


def roll(node, minute):
    """A broker's orderly stop and start."""
    logger = "(kafka.server.KafkaServer)"
    return "".join((
        line(minute, "INFO Terminating process due to signal SIGTERM (org.apache.kafka.common.utils.LoggingSignalHandler)"),
        line(minute, f"INFO [KafkaServer id={node}] shutting down {logger}", 1),
        line(minute, f"INFO [KafkaServer id={node}] shut down completed {logger}", 5),
        line(minute, f"INFO [KafkaServer id={node}] starting {logger}", 20),
        line(minute, f"INFO [KafkaServer id={node}] started {logger}", 40),
    ))  # fmt: skip


LOST = "".join((
    line(0, "INFO [KafkaServer id=2] starting (kafka.server.KafkaServer)"),
    line(1, "ERROR [KafkaServer id=2] Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)"),
    "org.apache.kafka.common.KafkaException: Found directory /data/lost+found, 'lost+found' is not in the form of topic\n",
    "\tat kafka.log.LogManager.loadLogs(LogManager.scala:1)\n",
    line(1, "INFO [KafkaServer id=2] shut down completed (kafka.server.KafkaServer)", 2),
))  # fmt: skip


def test_a_roll_is_ordinary_and_said():
    document = diagnosed(one=roll(1, 0), two=roll(2, 10), three=roll(3, 20))
    assert (document["incidents"], exit_code(document)) == ([], 0)
    assert [node["node"] for node in document["nodes"]] == ["broker 1", "broker 2", "broker 3"]
    assert any("restarted in an orderly way" in text for text in document["ordinary"])
    assert document["nodes"][0]["starts"] == [{"at": "2026-11-29T10:00:20", "ended": None, "cause": None}]


def test_a_node_that_does_not_start_explains_connections_to_it():
    other = "".join(
        line(minute, "WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Connection to node 2 (b2/10.0.0.12:9092) could "
             "not be established. Node may not be available. (org.apache.kafka.clients.NetworkClient)")
        for minute in range(1, 6)
    )  # fmt: skip
    (incident,) = diagnosed(two=LOST, one=other)["incidents"]
    assert incident["headline"] == "Broker 2 does not start: its log dir holds lost+found"
    assert incident["also"] == ["Broker 1 gets no connection to broker 2 (5 lines)"]
    assert diagnosed(one=other)["incidents"][0]["headline"].startswith("Broker 1 gets no connection: possibly node 2 is down")


def test_connections_to_a_node_that_was_stopped_are_ordinary():
    stop = roll(2, 0).partition(f"{AT.format(0, 20)}")[0]
    other = "".join(
        line(minute, "WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Connection to node 2 (b2/10.0.0.12:9092) could "
             "not be established. Node may not be available. (org.apache.kafka.clients.NetworkClient)")
        for minute in range(1, 6)
    )  # fmt: skip
    document = diagnosed(two=stop, one=other)
    assert document["incidents"] == []
    assert any("Broker 2 was stopped in an orderly way" in text for text in document["ordinary"])
    assert any(text.startswith("Broker 1: 5 lines of `node_not_reached`") for text in document["ordinary"])


def not_reached(minute, node=2):
    connection = f"Connection to node {node} (b{node}/10.0.0.1{node}:9092) could not be established. Node may not be available."
    return line(
        minute,
        f"WARN [ReplicaFetcher replicaId=1, leaderId={node}, fetcherId=0] {connection} (org.apache.kafka.clients.NetworkClient)",
    )


def test_connections_that_failed_until_the_other_node_started_are_earlier():
    """They failed for longer than a start takes: its address was wrong, and it was restarted with the right one."""
    document = diagnosed(one="".join(map(not_reached, range(10))), two=roll(2, 10))
    assert document["incidents"] == []
    (earlier,) = document["earlier"]
    assert earlier.startswith("Broker 1 gets no connection: possibly broker 2 is down")
    assert log_report.verdict(document) == "No fault is left at the end of these logs (1 earlier one below)"
    (incident,) = diagnosed(one="".join(map(not_reached, range(30))), two=roll(2, 10))["incidents"]
    assert incident["confidence"] == "suspected"


def test_since_is_of_the_last_time_that_it_happened():
    (incident,) = diagnosed(one="".join(map(not_reached, [0, 1, 2, 20, 21, 22])))["incidents"]
    assert (incident["since"], incident["first"]) == ("2026-11-29T10:20:00", "2026-11-29T10:00:00")


def test_nodes_that_were_away_together_did_not_go_one_after_the_other():
    for minute, how in ((0, "some of them at the same time"), (10, "one after the other as far as their times tell")):
        assert (
            f"Nodes were restarted in an orderly way, {how}: broker 1 and broker 2."
            in diagnosed(one=roll(1, 0), two=roll(2, minute))["ordinary"]
        )


def test_a_start_has_its_end_and_its_cause():
    (node,) = diagnosed(LOST)["nodes"]
    assert node["starts"] == [{"at": "2026-11-29T10:00:00", "ended": "failed", "cause": "lost_and_found"}]


def test_a_process_that_was_killed_ended_without_a_word():
    started = line(0, "INFO [KafkaServer id=2] starting (kafka.server.KafkaServer)") + line(
        1, "INFO [KafkaServer id=2] started (kafka.server.KafkaServer)"
    )
    (node,) = diagnosed(started + started.replace("10:0", "11:0"))["nodes"]
    assert [start["ended"] for start in node["starts"]] == ["without a word", None]


def test_files_of_one_node_are_one_and_a_compose_log_is_several():
    controller = line(3, "INFO [Controller id=2] 2 successfully elected as the controller (kafka.controller.KafkaController)")
    document = diagnosed(server=LOST, controller=controller)
    assert [node["node"] for node in document["nodes"]] == ["broker 2"]
    compose = "".join(f"kafka-{n}  | {text}\n" for n in (1, 2) for text in roll(n, n).splitlines())
    assert [node["node"] for node in diagnosed(compose)["nodes"]] == ["broker 1", "broker 2"]


def test_logs_that_were_appended_are_of_their_nodes():
    document = diagnosed("".join(roll(node, minute) for node in (1, 2, 3) for minute in (0, 30)))
    assert [node["node"] for node in document["nodes"]] == ["broker 1", "broker 2", "broker 3"]
    once = diagnosed(roll(1, 0) + roll(1, 30))
    assert [node["node"] for node in once["nodes"]] == ["broker 1"]


def test_two_files_of_one_name_without_an_id_are_two_nodes():
    full = "[2026-11-29 10:00:00,000] ERROR x (kafka.log.LogManager)\njava.io.IOException: No space left on device\n"
    document = diagnosed(**{"a/b/server": full, "c/b/server": full})
    assert [node["node"] for node in document["nodes"]] == ["node of b/server.log", "node of b/server.log (c/b/server.log)"]
    assert document["incidents"][0]["headline"] == "Node of b/server.log: a disk is full"


def test_further_files_in_the_folder_of_one_node_are_its_own():
    cleaner = line(5, "ERROR [kafka-log-cleaner-thread-0]: Error due to (kafka.log.LogCleaner)")
    document = diagnosed(**{"b2/server": roll(2, 0), "b2/log-cleaner": cleaner, "b3/server": roll(3, 0)})
    assert [node["node"] for node in document["nodes"]] == ["broker 2", "broker 3"]
    assert document["incidents"][0]["headline"] == "Broker 2 no longer compacts topics"


def test_what_no_fault_explains_is_quoted_and_no_all_clear():
    document = diagnosed(line(0, "ERROR Nobody has ever logged this (kafka.server.KafkaServer)"))
    assert exit_code(document) == 4
    (unknown,) = document["unknown"]
    assert (unknown["file"], unknown["line"], unknown["count"], unknown["error"]) == ("server.log", 1, 1, True)
    assert log_report.verdict(document).startswith("No known fault fits")


def test_a_sign_without_a_fault_says_what_it_means_and_what_next():
    document = diagnosed(line(0, "ERROR Error while accepting connection (kafka.network.Acceptor)"))
    (sign,) = document["signs"]
    assert sign["meaning"] == "acceptor_error"
    assert sign["next"]
    assert exit_code(document) == 4


def test_times_of_several_nodes_without_a_zone_are_not_compared():
    assert "no time zone" in diagnosed(one=roll(1, 0), two=roll(2, 1))["order"]
    zoned = {name: roll(node, 0).replace(",000]", ".000+0200]") for name, node in (("one", 1), ("two", 2))}
    assert "UTC" in diagnosed(**zoned)["order"]
    assert diagnosed(roll(1, 0))["order"] == ""


def test_a_compressed_log_is_read_and_a_broken_one_says_how_far():
    packed = gzip.compress(LOST.encode())
    assert diagnosed(one=packed)["incidents"][0]["fault"] == "lost_and_found"
    document = diagnosed(one=gzip.compress((LOST * 2000).encode())[:300])
    assert "was read up to line" in document["not_read"][0]
    assert exit_code(document) in {3, 4}


SECRETS = (
    'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="hunter2";',
    "ssl.keystore.password=hunter2",
    "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.hunter2hunter2hunter2",
    "https://user:hunter2@host/path?sig=hunter2",
    "Invalid value hunter2 for configuration ssl.key.password: x",
    "listener.name.client.ssl.keystore.password=hunter2",
    "listener.name.client.scram-sha-512.sasl.jaas.config=ScramLoginModule required username=a password=hunter2;",
    '{"password": "hunter2"}',
    "KAFKA_OPTS=-Djavax.net.ssl.keyStorePassword=hunter2",
    "SASL_PASSWORD=hunter2",
    "sasl.oauthbearer.client.credentials.client.secret=hunter2",
    "Authorization: Basic hunter2hunter2hunter2",
    "SCRAM-SHA-256=[iterations=8192,password=hunter2]",
    "access_token=hunter2hunter2",
    "--password hunter2",
    "ssl.key.password = hunter2",
    "ssl.truststore.password: hunter2",
    "password='hunter2'",
    'clientSecret="hunter2"',
    "aws_secret_access_key=hunter2",
)  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_is_in_any_form(secret):
    document = diagnosed(
        line(0, f"ERROR Nobody logs {secret} (kafka.x)") + f"org.apache.kafka.common.config.ConfigException: {secret}\n"
    )
    texts = (
        json.dumps(document),
        log_report.log_text(document, width=100),
        log_report.log_markdown(document),
        log_report.log_html(document),
    )
    for text in texts:
        assert "hunter2" not in text


def test_redaction_takes_hosts_and_keeps_which_are_the_same():
    log = line(0, "ERROR Nobody connects with b1/10.0.0.11:9092 or zk1.corp.example.com:2181 (kafka.server.KafkaServer)")
    tally = tallied(server="".join(f"kafka-7  | {text}\n" for text in (log * 2).splitlines()))
    text = json.dumps(log_document(tally, Redaction(["kafka-7"])))
    for name in ("b1", "10.0.0.11", "zk1.corp", "10.0.0"):
        assert name not in text
    assert "host-1" in text
    assert "kafka.server.KafkaServer" in text


def test_a_hostile_log_writes_no_markup():
    document = diagnosed(line(0, "ERROR <script>alert(1)</script> [x](http://evil) \x1b[31m (kafka.server.KafkaServer)"))
    assert "<script>alert" not in log_report.log_html(document)
    assert "](http" not in log_report.log_markdown(document).replace("\\]", "")
    assert "\x1b" not in log_report.log_text(document, width=100)


def test_work_grows_with_the_log_and_what_is_kept_does_not():
    def log(lines):
        return "".join(line(n % 60, f"ERROR Nobody logs {n} of these (kafka.server.KafkaServer)") for n in range(lines))

    small, large = (counted_calls(lambda size=size: diagnosed(log(size))) for size in (500, 4000))
    assert large < 12 * small
    (unknown,) = diagnosed(log(4000))["unknown"]
    assert unknown["count"] == 4000


def test_the_command_prints_each_form(tmp_path, capsys):
    file = tmp_path / "server.log"
    file.write_text(LOST)
    assert main(["logs", str(file)]) == 3
    assert capsys.readouterr().out.startswith("Broker 2 does not start: its log dir holds lost+found")
    for form, start in (("md", "# Broker 2"), ("html", "<!doctype html>"), ("json", "{")):
        assert main(["logs", str(file), "--format", form]) == 3
        assert capsys.readouterr().out.lstrip().startswith(start)
    assert main(["logs", str(tmp_path / "none.log")]) == 2
    assert main(["logs", str(tmp_path)]) == 3
    capsys.readouterr()
    (tmp_path / "empty").mkdir()
    assert main(["logs", str(tmp_path / "empty")]) == 2
    assert "is a folder without logs" in capsys.readouterr().err


def test_a_line_alone_of_a_fault_that_lasts_is_suspected_and_not_called_ordinary():
    line = (
        "[2026-11-29 10:00:00,000] ERROR [RaftManager id=0] Connection to node 1 "
        "(c1/10.0.0.4:9093) failed authentication due to: "
        "Authentication failed: Invalid username or password (org.apache.kafka.clients.NetworkClient)\n"
    )
    later = "[2026-11-29 10:00:40,000] INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)\n"
    (incident,) = diagnosed(line)["incidents"]
    assert incident["confidence"] == "suspected"
    assert diagnosed(line + later)["incidents"] == []


def test_a_log_of_other_programs_is_no_healthy_node():
    document = diagnosed(
        "[2026-11-29 10:00:00,000] ERROR WorkerSinkTask{id=a-0} failed (org.apache.kafka.connect.runtime.WorkerTask)\n"
    )
    assert (document["nodes"], exit_code(document)) == ([], 4)
