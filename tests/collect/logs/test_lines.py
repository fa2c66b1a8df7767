"""What is known again in a log: Kafka's own words of each release, times of several layouts, and hostile text."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from kafka_audit.clients.read_error import clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.collect.logs.lines import line_stamp, scan
from kafka_audit.collect.logs.rows import LONGEST, Tail, Zone, log_rows
from kafka_audit.says.signs import login_fault, shown_by

AT = "[2026-11-22 01:02:03,456] "
SAID = yaml.load((Path(__file__).parent / "said.yaml").read_text(), yaml.CSafeLoader)


@pytest.mark.parametrize("message", SAID)
def test_kafkas_words_are_known_again(message):
    (match,) = scan(AT + SAID[message]["text"], 1).matches
    (row,) = rows_of(AT + SAID[message]["text"])
    assert [row.signature, shown_by(row), row.about_broker, row.address] == SAID[message]["is"]
    assert row.detail == SAID[message].get("detail", row.detail)
    assert match.stamp.text == "2026-11-22 01:02:03,456"


def rows_of(text):
    tail = Tail(log="server.log", scan=scan(text, 1), read_ms=0)
    return tuple(log_rows(1, [tail], Zone(offset_ms=0, known_by="file"), {}, 1))


LOGIN = "WARN [Controller id=0, targetBrokerId=2] Connection to node 2 (b2/10.99.0.12:9093) failed authentication due to: "
REFUSED = """WARN Controller 0's connection to broker b2:9093 (id: 2 rack: null) was unsuccessful
org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed"""
KAFKA_3 = (
    "ERROR [KafkaApi-1] Unexpected error handling request RequestHeader(apiKey={api}, apiVersion=8, clientId=0, correlationId=0, "
    "headerVersion=2) -- Data(controllerId=0) with context RequestContext(connectionId='1', clientAddress=/10.0.0.1, "
    "principal=User:CN=b0,OU=kafka, listenerName=ListenerName(INTERNAL), securityProtocol=SSL) (kafka.server.KafkaApis)"
)
DENIED = (
    "org.apache.kafka.common.errors.ClusterAuthorizationException: Request Request(processor=0, connectionId=1, "
    "session=org.apache.kafka.network.Session@41618611, listenerName=ListenerName(INTERNAL)) is not authorized."
)
FAULTS = {
    "SSL handshake failed": "certificate",
    "Authentication failed: Invalid username or password": "credential",
    "Client SASL mechanism 'PLAIN' not enabled in the server, enabled mechanisms are [SCRAM-SHA-512]": "mechanism",
}


@pytest.mark.parametrize("reason", FAULTS)
def test_a_failed_login_has_a_fault_of_its_own(reason):
    (row,) = rows_of(f"{AT}{LOGIN}{reason} (org.apache.kafka.clients.NetworkClient)")
    assert (shown_by(row), login_fault(row)) == ("KA412", FAULTS[reason])


def test_a_row_of_an_earlier_version_has_the_meaning_that_its_line_has_now():
    (row,) = rows_of(f"{AT}{REFUSED}")
    assert shown_by(replace(row, exception=None)) == shown_by(row) == "KA412"


def test_a_line_of_a_later_version_has_no_meaning():
    (row,) = rows_of(f"{AT}{REFUSED}")
    assert shown_by(replace(row, signature="written_by_nobody_yet")) is None


def test_the_end_of_a_line_of_megabytes_is_read_as_well():
    begin, end = KAFKA_3.format(api="UPDATE_METADATA").split("-- ")
    (row,) = rows_of(f"{AT}{begin}-- {'x' * 4_000_000}{end}\n{DENIED}")
    assert (row.detail, shown_by(row)) == ("User:CN=b0,OU=kafka", "KA401")
    assert "ClusterAuthorizationException" in row.text
    assert "INTERNAL" in row.exception


def test_what_a_client_is_refused_is_no_refused_controller():
    (row,) = rows_of(f"{AT}{KAFKA_3.format(api='DESCRIBE_ACLS')}\n{DENIED}")
    assert (row.signature, shown_by(row)) == ("request_failed", None)


def test_a_refused_request_for_another_reason_is_no_missing_right():
    (row,) = rows_of(f"{AT}{KAFKA_3.format(api='LEADER_AND_ISR')}\njava.lang.NullPointerException: null")
    assert shown_by(row) is None


def test_clients_inside_a_broker_are_no_brokers():
    line = "WARN [AdminClient clientId=x] Connection to node -1 (/h:9092) could not be established. Node may not be available."
    assert scan(AT + line, 1).matches == ()


def test_the_exception_of_the_next_line_is_not_taken_for_this_ones():
    first = f"{AT}WARN Controller 0's connection to broker b2:9093 (id: 2 rack: null) was unsuccessful"
    other = f"{AT}ERROR other\njava.io.IOException: Connection to b2:9093 failed."
    row, unused = rows_of(f"{first}\n{other}")
    assert (shown_by(row), row.exception) == (None, None)
    assert (shown_by(unused), unused.signature) == (None, "not_recognised")


@pytest.mark.parametrize(
    ("line", "ms", "zoned"),
    [
        ("[2026-11-22 01:02:03,456] INFO x", 1795309323456, False),
        ("2026-11-22 01:02:03,456 INFO x", 1795309323456, False),
        ("2026-11-22T01:02:03.456789012Z [2026-11-22 02:02:03,456] INFO x", 1795309323456, True),
        ("[2026-11-22T02:02:03.456+0100][12.3s][info][gc] GC(1) x", 1795309323456, True),
        ('{"level":"WARN","@timestamp":"2026-11-22T01:02:03.456Z","message":"x"}', 1795309323456, True),
    ],
)
def test_times_of_the_usual_layouts(line, ms, zoned):
    assert line_stamp(line)[:2] == (ms, zoned)


@pytest.mark.parametrize(
    "line", ["WARN x", "[2026-99-99 01:02:03,456] x", "12:00:01 x", "", "{", "\u0662\u0660\u0662\u0666-01-01 00:00:00,000 x"]
)
def test_a_line_without_a_readable_time_has_none(line):
    assert line_stamp(line) is None


def test_the_last_registration_is_remembered():
    line = "INFO Registered broker {0} at path /brokers/ids/{0} with addresses: PLAINTEXT://b:9092, czxid (broker epoch): {1} (x)"
    lines = [f"[2026-11-22 0{n}:00:00,000] {line.format(broker, n + 100)}" for n, broker in enumerate((1, 1, 7))]
    when, czxid = scan("\n".join(lines), 1).registered
    assert (when.text, czxid) == ("2026-11-22 01:00:00,000", 101)


def test_of_logs_one_after_the_other_the_latest_time_counts():
    text = "[2026-11-22 03:00:00,000] INFO server.log\n[2026-11-22 01:00:00,000] INFO state-change.log\n\tat java.base"
    assert scan(text, 1).newest.text == "2026-11-22 03:00:00,000"


def test_hostile_lines_are_cut_quickly_and_shown_on_one_line():
    """A search whose work is the square of a line reads these for hours, and never ends."""
    size = 1 << 18
    evil = "Controller 0's connection to broker " + "x" * size + " was unsuccessful \x1b[2J\u202e<script>"
    many = "\n".join([AT + evil, "is Denied Principal = " + "(" * size, "{" * size, '{"time":"' + "1" * size] * 10)
    scan(many, 1)
    shown = clean_line(masked(evil), LONGEST)
    assert len(shown) <= LONGEST
    assert shown.isprintable()


@pytest.mark.parametrize(
    "secret",
    [
        "ssl.keystore.password = hunter2, next",
        'sasl.jaas.config: org.x.ScramLoginModule required username="u" password="hunter2";',
        "connect https://user:hunter2@registry/x",
        '{"password":"hunter2","level":"WARN"}',
        "Authorization: Basic hunter2",
        "token=hunter2)",
    ],
)
def test_secrets_are_masked(secret):
    assert "hunter2" not in masked(f"ERROR {secret}")


def test_prose_about_a_login_stays():
    line = "failed authentication due to: Authentication failed: Invalid username or password (o.a.k.clients.NetworkClient)"
    assert masked(line) == line


def test_errors_by_which_nothing_is_judged_are_kept_by_their_meaning_the_first_few():
    known = f"{AT}ERROR Error while accepting connection (kafka.network.Acceptor)"
    strange = [f"{AT}ERROR {'x' * n} was never written {n} (kafka.x)" for n in range(1, 40)]
    rows = rows_of("\n".join([known, known, f"{AT}WARN not kept (kafka.x)", *strange, *strange]))
    assert (rows[0].signature, rows[0].matches, rows[0].about_broker) == ("acceptor_error", 2, 1)
    assert [row.signature for row in rows[1:]] == ["not_recognised"] * 19
    assert {shown_by(row) for row in rows} == {None}
    assert rows_of(f"{AT}ERROR [Controller id=1] Error completing shutdown (kafka.x)")[0].signature == "not_recognised"
