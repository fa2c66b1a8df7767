"""Evidence is data: what a text lists is there as a list, too, so that no reader takes a text apart."""

import re
from collections.abc import Iterator, Mapping

import pytest

from checks.cases import Judged, cases
from kafka_audit.checks import catalogue
from kafka_audit.model.finding import Resource, Status, Value

BROKERS = re.compile(r"(?:controller |brokers? )(\d+(?:, \d+)*(?: and \d+)?)(?! more)", re.IGNORECASE)
LIST = re.compile(r"[^\s,;]+(?:[,;] ?[^\s,;]+)+")
"""Names or numbers with commas between them, and nothing else."""


def numbers(value: Value) -> Iterator[int]:
    """Yield the whole numbers of a value."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from numbers(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


@pytest.mark.parametrize("code", catalogue())
def test_what_a_text_of_the_evidence_lists_is_a_list(judged: Judged, code: str) -> None:
    wrong = []
    for name in (f"{code}-{case}" for case in cases(code)):
        for judgement in judged.of(code, name):
            if judgement.status is not Status.FAIL:
                continue
            known = {number for value in judgement.evidence.values() for number in numbers(value)} | {
                Resource.of(judgement.resource).broker
            }
            for key, value in judgement.evidence.items():
                if not isinstance(value, str):
                    continue
                if value.lower() == judgement.resource.replace("/", " ", 1):
                    continue
                named = {int(digits) for match in BROKERS.finditer(value) for digits in re.findall(r"\d+", match[1])}
                if named - known or LIST.fullmatch(value):
                    wrong.append((code, key, value[:150]))
    assert wrong == []
