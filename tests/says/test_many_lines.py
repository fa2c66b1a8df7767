"""2,000 lines, rendered and written by real beds, cut, wrapped and prefixed: each has its meaning, an ambiguous one says so."""

import random
from functools import cache

import pytest

from kafka_audit.checks import catalogue
from kafka_audit.cli import main
from kafka_audit.report.plain_text.explain import explained
from kafka_audit.report.plain_text.lines import fault_shown, line_text
from kafka_audit.says.others import program_of
from kafka_audit.says.reading import read_pasted
from says.test_reading import FOREIGN, LAYOUTS, TIME, WARNED, plain, rendered
from seed import SEED
from testbed.corpus import kept_logs

HALF, PART = 1_000, 100  # lines; those that `make test` tries of each
LEVELS = (" WARN ", " ERROR ", " FATAL ")
PREFIXES = (
    "kafka-1  | ",
    "[pod/kafka-0/kafka] ",
    "Mar 04 10:11:12 node-1 kafka[812]: ",
    "2026-03-04T10:11:12.345678901Z stdout F ",
)
LEAST = 25  # fixed characters that are left of a line which was cut: with fewer it may be any


def cut(line, at):
    return line[: max(at, len(line) * 3 // 4)]


def wrapped(line):
    return "\n".join(line[start : start + 80] for start in range(0, len(line), 80))


def made(number):
    """Return a line that is rendered from a template, and what is demanded: the meaning, and whether `not known` will do."""
    dice = random.Random(SEED * 10_000 + number)  # noqa: S311 -- no secret
    template = dice.choice(WARNED)
    text, level, logger = rendered(template, dice)
    if number % 4 == 0:
        shown = cut(text, 60)
        fixed = sum(map(len, template.text.split("…"))) - max(0, len(text) - len(shown))
        return f"{TIME} {level} [KafkaServer id=1] {shown}", template.meaning, fixed < LEAST
    if number % 4 == 1:
        return wrapped(plain(text, level, logger)), template.meaning, False
    return LAYOUTS[sorted(LAYOUTS)[number % len(LAYOUTS)]](text, level, logger), template.meaning, False


@cache
def written():
    """Return lines of real beds with what each of them means as it was written: one template alone fits, with its logger."""
    found = {}
    for logs in kept_logs.read().values():
        for text in logs.values():
            for line in text.splitlines():
                if any(level in line[:40] for level in LEVELS) and line not in found:
                    found[line] = {template.meaning for template in read_pasted(line)[0].found}
    return sorted(found.items())


def real(number):
    lines = written()
    line, meanings = lines[number * 7 % len(lines)]
    shown = (lambda: cut(line, 110), lambda: wrapped(line), lambda: PREFIXES[number % len(PREFIXES)] + line)[number % 3]()
    return shown, meanings


def check_made(numbers):
    wrong = []
    for number in numbers:
        line, meaning, may_be_unknown = made(number)
        answer = read_pasted(line)[0]
        found = {template.meaning for template in answer.found}
        if meaning not in found and not (may_be_unknown and not found):
            wrong.append((meaning, found, line))
        if len(found) > 1:
            assert line_text(catalogue(), [answer], width=100).startswith("Ambiguous: ")
    assert wrong == []


def check_real(numbers):
    wrong = [(number, line) for number in numbers for line, meanings in [real(number)]
             if not meanings or not meanings & {template.meaning for template in read_pasted(line)[0].found}]  # fmt: skip
    assert wrong == []


def test_rendered_lines_have_their_meaning():
    check_made(range(PART))


def test_lines_of_real_beds_have_their_meaning():
    assert len(written()) >= HALF
    check_real(range(PART))


@pytest.mark.large
def test_all_rendered_lines_have_their_meaning():
    check_made(range(HALF))


@pytest.mark.large
def test_all_lines_of_real_beds_have_their_meaning():
    check_real(range(HALF))


def test_200_lines_of_other_programs_are_named_or_not_known():
    assert len(FOREIGN) >= 200
    unnamed = [line for line in FOREIGN if not any(program_of(answer.record) for answer in read_pasted(line))]
    assert len(unnamed) <= len(FOREIGN) // 8, unnamed
    checks, wrong = catalogue(), []
    for line in FOREIGN:
        found = explained(checks, line, width=100, color=False)
        answers = read_pasted(line)
        of_client = any(known.client for answer in answers if (known := program_of(answer.record)))
        if found.fits and not of_client and not any(map(fault_shown, answers)):  # a fault that is about this very line
            wrong.append((line, found.text.splitlines()[0]))
    assert wrong == []
    shown = {line: fault.name for line in FOREIGN for answer in read_pasted(line) if (fault := fault_shown(answer))}
    assert set(shown.values()) <= {
        "few_pages_refused",
        "no_maps_or_threads",
        "files_of_another_owner",
        "java_too_old",
        "jvm_crashed",
        "jvm_without_memory",
        "killed_by_its_host",
        "other_processor",
        "out_of_memory",
    }  # they end any process
    for line in shown:  # whose it is, the line does not say, so it is not taken for that of a broker
        text = " ".join(explained(checks, line, width=100, color=False).text.split())
        assert "It shows: the process" in text
        assert "Any program may have such a line, not a broker alone" in text


def test_a_line_of_another_program_ends_with_4(capsys):
    assert main(["explain", FOREIGN[0]]) == 4
    assert "Kafka Connect" in " ".join(capsys.readouterr().out.split())
