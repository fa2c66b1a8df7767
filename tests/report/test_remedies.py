"""Remedies in a report are values: what is loaded is what was written, and a report without them shows its text."""

import pytest

from kafka_audit.model.commands import Code, Command, CommentLine, SettingLine, command, remark, setting
from kafka_audit.model.report import ReportedFinding, ReportedStep, report_json
from kafka_audit.report import remedies
from reported import FINDING, part_of

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


def finding(**written):
    return part_of(ReportedFinding, FINDING | {"remediation": "Ask.", **written})


def step(**written):
    return part_of(ReportedStep, {"kind": "see", "text": "See.", "commands": [], "cost": None} | written)


def test_what_is_loaded_is_what_was_written():
    written = report_json(remedies.reported_parts(PARTS))
    assert remedies.finding_remedy(finding(remedy=written)) == PARTS
    assert remedies.step_text(step(parts=written)) == PARTS


def test_the_lines_of_a_step_are_written_from_their_values():
    lines = [command("nc {host}", host="a;b"), remark("x"), setting("a", "b c")]
    written = report_json(remedies.reported_parts([lines[1], lines[0], lines[2]]))
    found = step(commands=["rm -rf x"], lines=written)
    assert remedies.step_lines(found) == ["# x", "nc 'a;b'", "a=b\\ c"]
    assert remedies.first_command(found) == "nc 'a;b'"


@pytest.mark.parametrize(
    "malformed",
    [
        None, 1, "x", {}, [1], [None], ["x"], [{"text": 1}], [{"command": []}], [{"command": "nc"}],
        [{"command": [["a", 1]]}],
        [{"setting": {"key": "a"}}],
        [{"setting": {"key": "a", "value": ["b"], "file": "properties"}}], [{"remark": "x"}],
        [{"text": "a", "withheld": "b"}],
    ],
)  # fmt: skip
def test_malformed_values_are_of_no_report(malformed):
    with pytest.raises(ValueError, match=r"Expected|required|lists"):
        finding(remedy=malformed)
    with pytest.raises(ValueError, match=r"Expected|required|lists"):
        step(lines=malformed)


@pytest.mark.parametrize("unknown", [[{}], [{"unknown": 1}]])
def test_of_parts_that_only_a_later_version_knows_the_text_stands(unknown):
    assert remedies.finding_remedy(finding(remedy=unknown)) == "Ask."
    assert remedies.step_lines(step(commands=["nc a"], lines=unknown)) == ["nc a"]


def test_a_report_of_an_earlier_release_shows_its_text():
    found = step(commands=["# here", "nc a 1", "a\tb"])
    assert remedies.finding_remedy(finding(remediation="Ask `nc a`.")) == "Ask `nc a`."
    assert remedies.step_text(found) == "See."
    assert remedies.step_lines(found) == ["# here", "nc a 1", "a\\u0009b"]
    assert remedies.first_command(found) == "nc a 1"
    assert remedies.first_command(step()) == ""
    assert isinstance(PARTS[-1], CommentLine)
