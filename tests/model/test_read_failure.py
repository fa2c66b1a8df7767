"""Why reads fail is a closed list: what sets it, what is stored, and that nothing outside of the edges reads words."""

import ast
import re
from pathlib import Path

import pytest

import kafka_audit
from kafka_audit.clients import failures, sockets
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Probe, SourceRead
from kafka_audit.report.schema import findings_schema
from made_rows import made

PACKAGE = Path(kafka_audit.__file__).parent
GENERAL = {ReadFailure.UNKNOWN, ReadFailure.NO_ANSWER, ReadFailure.THROTTLED}  # their words mean other things as well
WORDS = {member.words for member in ReadFailure if member not in GENERAL}
READS_TEXT = frozenset(
    [
        *("startswith", "endswith", "lower", "upper", "casefold", "find", "index", "count"),
        *("partition", "rpartition", "split", "rsplit", "removeprefix", "removesuffix"),
    ]
)
WRITTEN = frozenset(["error", "message", "headline", "evidence", "remediation", "summary", "last_known", "needs", "kafka_says"])
"""Texts that the edges, a check, a cause or Kafka wrote, by their attributes and keys."""


def read_of(**columns):
    return SourceRead(sample=1, observer="broker:1", operation="Metadata", target="b1:9092", outcome="failed", **columns)


def test_members_have_words_of_their_own():
    assert len({member.words for member in ReadFailure}) == len(ReadFailure)


@pytest.mark.parametrize("member", ReadFailure)
def test_a_stored_reason_decides_whatever_the_text_says(member):
    assert read_of(error="timeout", reason=member.name).failure is member


@pytest.mark.parametrize("member", ReadFailure)
def test_a_row_without_the_column_has_the_failure_of_its_text(member):
    assert read_of(error=member.words).failure is member


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("GROUP_AUTHORIZATION_FAILED", ReadFailure.NOT_AUTHORIZED),
        ("NoAuthError", ReadFailure.NOT_AUTHORIZED),
        ("AuthFailedError", ReadFailure.LOGIN_REFUSED),
        ("not dialled: link-local address", ReadFailure.NOT_DIALLED),
        ("Connection Refused by something", ReadFailure.UNKNOWN),
        (None, ReadFailure.UNKNOWN),
    ],
)
def test_a_row_of_an_earlier_version_is_judged_by_its_exact_text(text, member):
    assert read_of(error=text).failure is member


def test_a_member_of_a_later_version_is_unknown_and_not_guessed_by_its_text():
    assert read_of(error="timeout", reason="LOST_IN_SPACE").failure is ReadFailure.UNKNOWN


def test_a_layer_that_works_has_no_failure():
    head = {"sample": 1, "vantage": "worker", "role": "client", "from_broker": None, "broker_id": 1, "listener": "A"}
    probe = made(Probe, **head, host="b1")
    assert probe.failure is None


def test_what_scripts_report_are_members():
    names = {*sockets.OF_ERRNO.values(), *(name for _, name in sockets.OF_OPENSSL), *sockets.MISTRUST}
    shell = (PACKAGE / "collect/probes/probe_script.sh").read_text(encoding="utf-8")
    names |= set(re.findall(r"FAILURE='?([A-Z_]{4,})", shell)) | set(re.findall(r"step (?:failed|unknown)\|([A-Z_]+)", shell))
    script = (PACKAGE / "clients/probe_script.py").read_text(encoding="utf-8")
    names |= set(re.findall(r"\"([A-Z]+_[A-Z_]+|TIMEOUT|CLOSED)\"", script))
    assert len(names) >= 20
    assert names <= set(ReadFailure.__members__)


@pytest.mark.parametrize(
    ("report", "found"),
    [
        ("REFUSED", (ReadFailure.REFUSED, "connection refused")),
        ("KAFKA_ERROR error 58", (ReadFailure.KAFKA_ERROR, "error 58")),
        ("connection refused", (ReadFailure.REFUSED, "connection refused")),  # of an earlier version
        ("nothing we know", (ReadFailure.UNKNOWN, "nothing we know")),
        ("", (ReadFailure.UNKNOWN, "")),
    ],
)
def test_a_report_of_a_vantage_is_a_member_or_unknown(report, found):
    assert failures.of_report(report) == found


def test_the_schema_of_reports_lists_the_members():
    read = findings_schema()["$defs"]["UnansweredRead"]
    assert read["properties"]["reason"]["enum"] == [member.name for member in ReadFailure]


def modules():
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in {"clients", "collect"}]


def test_no_module_behind_the_edges_repeats_the_words_of_a_failure():
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"
        for path in modules()
        if path.name not in {"read_failure.py", "signs.py"}  # the latter has the words of Kafka's log lines
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in WORDS
    ]
    assert found == [], "compare `failure`, a member of ReadFailure; its words are made in one place"


def is_written(node):
    """Return whether an expression is such a text: `read.error`, `finding["message"]`, `(read.error or "")`."""
    if isinstance(node, ast.BoolOp):
        return any(map(is_written, node.values))
    if isinstance(node, ast.Subscript):
        return getattr(node.slice, "value", None) in WRITTEN
    return isinstance(node, ast.Attribute) and node.attr in WRITTEN


def reads_text(node):
    """Return whether an expression takes such a text apart, looks for words in it, or compares it with some."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        of, called = node.func.value, node.func.attr
        searched = isinstance(of, ast.Name) and called in {"search", "match", "fullmatch", "findall"}
        within = [of] if called in {"lower", "upper", "casefold"} else ast.walk(of)
        return (called in READS_TEXT and any(map(is_written, within))) or (searched and any(map(is_written, node.args)))
    if not isinstance(node, ast.Compare):
        return False
    if any(isinstance(operator, ast.In | ast.NotIn) for operator in node.ops) and is_text_with_words(node.comparators[0]):
        return True
    sides = [node.left, *node.comparators]
    literal = (ast.Constant, ast.Set, ast.Tuple, ast.List)
    words = [part for side in sides if isinstance(side, literal) for part in ast.walk(side) if is_word(part)]
    return bool(words) and any(map(is_written, sides))


def is_word(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_text_with_words(node):
    """Evidence is a mapping, in which keys are looked for."""
    return is_written(node) and "evidence" not in {getattr(node, "attr", ""), getattr(getattr(node, "slice", None), "value", "")}


@pytest.mark.parametrize(
    ("code", "bad"),
    [
        ("'refused' in read.error", True),
        ("read.error == 'timeout'", True),
        ("read.error in {'a', 'b'}", True),
        ("(read.error or '').lower()", True),
        ("_LOGINS.search(read.message)", True),
        ("read.failure is ReadFailure.TIMEOUT", False),
        ("row.error == STORAGE_ERROR", False),
        ("read.error is None", False),
        ("str(finding['headline']).split()", True),
        ("word in finding.message", True),
        ("'broker' in finding.evidence", True),
        ("key in finding.evidence", False),
    ],
)
def test_the_rule_knows_what_reads_a_text(code, bad):
    assert any(map(reads_text, ast.walk(ast.parse(code)))) is bad


def test_no_module_behind_the_edges_reads_a_written_text():
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if reads_text(node)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"error": "timeout", "message": "after 10 s"}, "timeout: after 10 s"),
        ({"error": "connection refused", "message": "tcp to b1:9092: Connection refused"}, "tcp to b1:9092: Connection refused"),
        ({"error": "timeout"}, "timeout"),
        ({"message": "m"}, "m"),
        ({}, ""),
    ],
)
def test_a_read_says_once_why_it_failed(columns, why):
    assert read_of(**columns).why == why
