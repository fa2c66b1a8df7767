"""A pasted line is the line of the catalogue that it was written from, whatever its names, prefixes and ends; others are none."""

import json
from pathlib import Path

import pytest

from kafka_audit.says.catalogue import meanings, templates
from kafka_audit.says.others import program_of
from kafka_audit.says.reading import MOST_ANSWERS, read_pasted
from seed import dice_of_seed

WARNED = [template for template in templates() if template.level in "FEW"]
NAMES = (
    *("orders-3", "__consumer_offsets-17", "broker-2.example.com:9093", "42", "1732873612345", "/data/kafka-logs", "User:alice"),
    *("3", "[orders-1, payments-7]", "java.io.IOException: Broken pipe", "my-group", "0x1000a2b3c", "LEADER_NOT_AVAILABLE"),
    "(id: 2 rack: null)",
)
TIME = "[2026-03-04 10:11:12,345]"
IN_RAFT = "Unexpected error in raft IO thread"
FOREIGN = Path(__file__).with_name("foreign.txt").read_text().splitlines()


def rendered(template, dice):
    first, *others = template.text.split("…")
    text = first + "".join(dice.choice(NAMES) + piece for piece in others)
    level = {"F": "FATAL", "E": "ERROR", "W": "WARN", "I": "INFO"}[template.level]
    package = "org.apache.zookeeper.server" if template.since.startswith("z") else "kafka.server"
    return text, level, f"{package}.{dice.choice(template.loggers)}"


def plain(text, level, logger):
    return f"{TIME} {level} [KafkaServer id=1] {text} ({logger})"


LAYOUTS = {
    "plain": plain,
    "thread": lambda text, level, logger: f"2026-03-04 10:11:12,345 {level} {text} ({logger}) [main]",
    "zookeeper": lambda text, level, logger: (
        f"2026-03-04 10:11:12,345 [myid:1] - {level}  [QuorumPeer[myid=1](plain=0.0.0.0:2181)(secure=disabled):"
        f"{logger.rpartition('.')[2]}@123] - {text}"
    ),
    "log4j2": lambda text, level, logger: f"2026-03-04T10:11:12.345Z {level:<5} {logger}:77 - {text}",
    "docker compose": lambda *line: f"kafka-1  | {plain(*line)}",
    "kubectl": lambda *line: f"[pod/kafka-0/kafka] {plain(*line)}",
    "journald": lambda *line: f"Mar 04 10:11:12 node-1 kafka-server-start.sh[812]: {plain(*line)}",
    "CRI": lambda *line: f"2026-03-04T10:11:12.345678901Z stdout F {plain(*line)}",
    "coloured": lambda *line: f"\x1b[33m{plain(*line)}\x1b[m",
    "JSON": lambda text, level, logger: json.dumps({"@timestamp": "x", "level": level, "logger_name": logger, "message": text}),
    "JSON of Docker": lambda *line: json.dumps({"log": plain(*line) + "\n", "stream": "stdout", "time": "2026-03-04T10:11:12Z"}),
    "trace": lambda *line: (
        f"{plain(*line)}\njava.lang.RuntimeException: boom\n\tat kafka.Kafka.main(Kafka.scala:1)\n\t... 3 more"
    ),
    "wrapped": lambda *line: "\n".join(plain(*line)[start : start + 80] for start in range(0, len(plain(*line)), 80)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_line_is_found_in_any_layout(layout):
    dice = dice_of_seed()
    missed = []
    for template in dice.sample(WARNED, 200):
        line = LAYOUTS[layout](*rendered(template, dice))
        (answer, *_) = read_pasted(line)
        if template.meaning not in {found.meaning for found in answer.found}:
            missed.append((template.meaning, line))
    assert len(missed) <= 3, missed  # a line of one word that is wrapped within its logger


def test_a_line_without_its_logger_or_bare_is_found_or_not_known():
    dice = dice_of_seed()
    wrong, missed = [], []
    for template in dice.sample(WARNED, 300):
        text, level, _ = rendered(template, dice)
        for line in (text, f"{TIME} {level} {text}"):
            found = {found.meaning for answer in read_pasted(line)[:1] for found in answer.found}
            if template.meaning not in found:
                (wrong if found else missed).append((template.meaning, line))
    assert len(wrong) <= 6, wrong
    assert len(missed) <= 24, missed


def test_a_line_that_was_cut_is_found_or_not_known():
    dice = dice_of_seed()
    wrong = []
    missed = 0
    for template in dice.sample(WARNED, 300):
        text, level, _ = rendered(template, dice)
        line = f"{TIME} {level} {text[: max(40, len(text) * 2 // 3)]}"
        found = {found.meaning for answer in read_pasted(line)[:1] for found in answer.found}
        missed += not found
        if found and template.meaning not in found:
            wrong.append((template.meaning, found, line))
    assert len(wrong) <= 9, wrong
    assert missed <= 15


@pytest.mark.parametrize("line", FOREIGN)
def test_a_line_of_another_program_is_none(line):
    assert not any(answer.found for answer in read_pasted(line))


def test_most_lines_of_other_programs_are_named():
    named = [line for line in FOREIGN if any(program_of(answer.record) for answer in read_pasted(line))]
    assert len(FOREIGN) >= 60
    assert len(named) >= 50


def test_the_logger_and_the_level_decide_between_equal_texts():
    text = "Error processing event x"
    consumer = "org.apache.kafka.clients.consumer.internals.ConsumerNetworkThread"
    by_controller = read_pasted(f"{TIME} ERROR {text} (kafka.controller.KafkaController)")[0].found
    by_consumer = read_pasted(f"{TIME} ERROR {text} ({consumer})")[0].found
    assert [found.meaning for found in by_controller] == ["controller_event_failed"]
    assert [found.meaning for found in by_consumer] == ["consumer_thread_error"]
    assert {found.meaning for found in read_pasted(text)[0].found} >= {"controller_event_failed", "consumer_thread_error"}


def test_exceptions_below_a_line_are_read_with_it():
    (answer,) = read_pasted(
        f"{TIME} ERROR [KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to shutdown "
        "(kafka.server.KafkaServer)\n"
        "org.apache.kafka.common.KafkaException: Socket server failed to bind to 0.0.0.0:9092: Address already in use.\n"
        "\tat kafka.network.Acceptor.openServerSocket(SocketServer.scala:778)\n"
        "Caused by: java.net.BindException: Address already in use\n"
        "\tat java.base/sun.nio.ch.Net.bind0(Native Method)\n\t... 9 more\n"
    )
    assert [found.meaning for found in answer.found] == ["start_failed"]
    assert [found[0].meaning for found in answer.below] == ["listener_refused", "java_port_taken"]


def test_several_lines_get_an_answer_each_once_and_a_bounded_number():
    unreachable = (
        "[RaftManager id=1] Connection to node {} (b/10.0.0.2:9093) could not be established. Node may not be available."
    )
    lines = [
        *(f"{TIME} WARN {unreachable.format(node)}" for node in (2, 3)),
        f"{TIME} ERROR Shutdown broker because all log dirs in /data have failed (kafka.log.LogManager)",
    ]
    assert [answer.found[0].meaning for answer in read_pasted("\n".join(lines))] == ["node_unreachable", "all_log_dirs_failed"]
    assert len(read_pasted("\n".join(f"{TIME} ERROR something else {number}" for number in range(100)))) == MOST_ANSWERS


@pytest.mark.parametrize("level", ["DEBUG", "TRACE"])
def test_a_level_that_is_not_in_the_catalogue_is_none(level):
    assert not read_pasted(f"{TIME} {level} Partition orders-3 marked as failed")[0].found


HOSTILE = (
    "",
    "\n\n",
    "{" * 5_000,
    '{"log": ' * 2_000,
    "[" * 100_000,
    "\x00\x1b[31m" * 9_999,
    "Error " * 50_000,
    "at x(\n" * 9_999,
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_read_in_part(text):
    assert len(read_pasted(text)) <= MOST_ANSWERS


def test_random_texts_made_of_known_words_are_read():
    dice = dice_of_seed()
    words = [word for template in WARNED[::9] for word in template.text.split()]
    for _ in range(60):
        text = "".join(dice.choice(words) + dice.choice([" ", "\n", "…", "", ": ", "(", "\x1b["]) for _ in range(300))
        for answer in read_pasted(text):
            assert all(found.meaning in meanings() for found in answer.found)


def test_a_text_that_is_only_written_behind_another_one_is_found_alone():
    whole, alone = (read_pasted(text)[0].found for text in (f"Encountered fatal fault: {IN_RAFT}", IN_RAFT))
    assert alone == whole
    assert alone[0].meaning != read_pasted("Encountered fatal fault: ")[0].found[0].meaning


@pytest.mark.parametrize("text", ["an error of which nobody has ever heard in a thread", "my producers are slow since today"])
def test_what_no_handler_writes_is_not_found_as_if_one_did(text):
    assert not read_pasted(text)[0].found
