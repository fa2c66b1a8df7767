"""Names full of syntax in the evidence of every case of every check: what its page prints keeps its words in every release."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.cases import cases
from kafka_audit.checks import catalogue
from kafka_audit.configuration.files.java import parse_properties
from kafka_audit.incidents.remedies import filled_page, remedy, what_to_do
from kafka_audit.incidents.tools import Tools
from kafka_audit.model import quoting
from kafka_audit.model.commands import Code, Command, SettingLine
from kafka_audit.model.finding import Status
from printed_commands import HOSTILE, ODD, RELEASES, files_made, meant, words_of

CHECKS = catalogue()
every_check = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)


def wrapped(value, odd):
    if isinstance(value, tuple):
        return tuple(wrapped(part, odd) for part in value)
    return f"{odd}{value}{odd}" if isinstance(value, str) else value


def demand(parts, odd):
    """Demand that the code of a remedy is what was meant, and return it as it is printed."""
    parts = [part for part in parts if not isinstance(part, str)]
    for part in parts:
        if isinstance(part, Command):
            assert words_of(quoting.shell(part)) == meant(part)
            assert not [word for word in meant(part) if odd.startswith("-") and word.startswith(odd)]
        elif isinstance(part, SettingLine):
            read = parse_properties(quoting.setting_line(part).encode("latin-1"))
            assert {key: found.value for key, found in read.items()} == {part.key: part.value}
    printed = [quoting.code(part) for part in parts]
    assert all(shown.isprintable() and "`" not in shown for shown in printed)
    return {shown for part, shown in zip(parts, printed, strict=True) if not isinstance(part, Code)}


@every_check
def test_hostile_evidence_of_every_case_is_a_value(judged, check):
    written = {
        remedy(
            check, judgement.status, {key: wrapped(value, hostile_text) for key, value in judgement.evidence.items()}
        ): hostile_text
        for case in cases(check.code)
        for judgement in judged.of(check.code, f"{check.code}-{case}")
        for hostile_text in HOSTILE
    }
    tools = [Tools(release=release, zookeeper="zk:2181/kafka") for release in RELEASES]
    printed = {
        shown for parts, hostile_text in written.items() for tool in tools for shown in demand(tool.prose(parts), hostile_text)
    }
    assert files_made(sorted(printed)) == []


PLACEHOLDERS = {key for check in CHECKS.values() for part in what_to_do(check).split("{") for key in [part.partition("}")[0]]}


@given(st.text(st.sampled_from(ODD), max_size=20))
@settings(max_examples=settings.default.max_examples // 5)
def test_any_evidence_is_a_value(odd):
    odd = f"{odd}odd{odd}"  # a page's own options begin with - as well
    evidence = dict.fromkeys(PLACEHOLDERS, odd)
    pages = [filled_page(what_to_do(check), evidence) for check in CHECKS.values()]
    printed = {shown for page in pages for shown in demand(page, odd)}
    assert len(printed) > len(CHECKS)
    assert files_made(sorted(printed)) == []


@every_check
def test_a_page_has_no_placeholder_that_is_a_redirection(check):
    """Pasted into a shell, `<broker>:9092` reads a file and writes another one."""
    parts = filled_page(what_to_do(check), {})
    assert not [
        part for part in parts if isinstance(part, Command | Code) and ("<" in (shown := quoting.code(part)) or ">" in shown)
    ]
    assert files_made([quoting.code(part) for part in parts if not isinstance(part, str)]) == []


@every_check
def test_a_page_prints_its_commands_as_they_are_written(check):
    """Our own words keep exactly the quotes of the page: others would quote what a shell expands, such as a glob."""
    for part in filled_page(what_to_do(check), {}):
        for word in meant(part) if isinstance(part, Command) else ():
            assert not any(char in word for char in "~$`\n")
            assert not word.endswith("/*")


def test_a_status_without_a_fault_has_no_remedy():
    assert all(remedy(check, Status.PASS, {}) == () for check in CHECKS.values())
