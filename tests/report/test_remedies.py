"""Remedies in a report are values: what is loaded is what was written, and a report without them shows its text."""

import pytest

from kafka_audit.model.commands import Code, Command, CommentLine, SettingLine, command, remark, setting
from kafka_audit.model.report import report_json
from kafka_audit.report import remedies

PARTS = (
    "Run ",
    command("nc -vz {host} 9092 | tail", host="a b"),
    Command(stages=(("kafka-acls.sh", "--list"),), own_line=True),
    command("nc {host}", host="\0"),
    Code(text="server.log"),
    setting("super.users", "User:a"),
    SettingLine(key="trusted_hosts", value=("a", "b"), file="yaml"),
    remark("on the host of {host}", host="a;b"),
)


def test_what_is_loaded_is_what_was_written():
    written = report_json(remedies.reported_parts(PARTS))
    assert remedies.finding_remedy({"remediation": "x", "remedy": written}) == PARTS
    assert remedies.step_text({"text": "x", "parts": written}) == PARTS


def test_the_lines_of_a_step_are_written_from_their_values():
    lines = [command("nc {host}", host="a;b"), remark("x"), setting("a", "b c")]
    step = {"commands": ["rm -rf x"], "lines": report_json(remedies.reported_parts([lines[1], lines[0], lines[2]]))}
    assert remedies.step_lines(step) == ["# x", "nc 'a;b'", "a=b\\ c"]
    assert remedies.first_command(step) == "nc 'a;b'"


@pytest.mark.parametrize(
    "malformed",
    [
        None, 1, "x", {}, [1], [None], ["x"], [{}], [{"text": 1}], [{"command": []}], [{"command": "nc"}],
        [{"command": [["a", 1]]}],
        [{"setting": {"key": "a"}}],
        [{"setting": {"key": "a", "value": ["b"], "file": "properties"}}], [{"remark": "x"}],
        [{"text": "a", "withheld": "b"}], [{"unknown": 1}],
    ],
)  # fmt: skip
def test_malformed_values_of_a_bundle_are_as_none(malformed):
    assert remedies.finding_remedy({"remediation": "Ask.", "remedy": malformed}) == "Ask."
    assert remedies.step_lines({"commands": ["nc a"], "lines": malformed}) == ["nc a"]


def test_a_report_of_an_earlier_release_shows_its_text():
    step = {"text": "See.", "commands": ["# here", "nc a 1", "a\tb"]}
    assert remedies.finding_remedy({"remediation": "Ask `nc a`."}) == "Ask `nc a`."
    assert remedies.step_text(step) == "See."
    assert remedies.step_lines(step) == ["# here", "nc a 1", "a\\u0009b"]
    assert remedies.first_command(step) == "nc a 1"
    assert remedies.first_command({"text": "", "commands": []}) == ""
    assert isinstance(PARTS[-1], CommentLine)
