"""What kafka-python decodes, checked: an array that is null, a name that is missing or a number out of range is no answer.

None of these is nullable where it is asked for here (the `*Response.json` of Kafka). An empty array means that there is none of
something, a null one means nothing: the read fails.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NoReturn

from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect.priorities import MOST_REPLICAS
from kafka_audit.model.read_failure import ReadFailure

_INT32 = 2**31


def refuse_answer(text: str) -> NoReturn:
    """Raise ReadError for an answer that makes no sense, with what is wrong in it."""
    raise ReadError(ReadFailure.MALFORMED_ANSWER, text, "an answer as Kafka gives it")


def each(array: Sequence[Any] | None, what: str) -> Sequence[Any]:
    """Return an array; raises ReadError where it is null."""
    if array is None:
        refuse_answer(f"{what}: null instead of a list")
    return array


def replicas(array: Sequence[Any] | None, what: str) -> Sequence[Any]:
    """Return the brokers of a partition; raises ReadError for null, or for more than any partition has."""
    found = each(array, what)
    if len(found) > MOST_REPLICAS:
        raise ReadError(ReadFailure.TOO_LARGE, f"{len(found)} {what}, more than {MOST_REPLICAS}")
    return found


def checked_text(value: object, what: str) -> str:
    """Return a text, which may be empty; raises ReadError where it is missing."""
    if not isinstance(value, str):
        refuse_answer(f"{what}: null instead of a text")
    return value


def checked_name(value: object, what: str) -> str:
    """Return a text that is not empty; raises ReadError."""
    if not isinstance(value, str) or not value:
        refuse_answer(f"{what} without a name")
    return value


def at_least(lowest: int, number: int, what: str) -> int:
    """Return a number; raises ReadError where it is below what Kafka has for it."""
    if number < lowest:
        refuse_answer(f"{what}: {number}")
    return number


def int32(number: int, what: str) -> int:
    """Return an id; raises ReadError where it is below zero or has more than 31 bits."""
    if not 0 <= number < _INT32:
        refuse_answer(f"{what}: {number}")
    return number


def once(keys: Iterable[Hashable], what: str) -> None:
    """Raise ReadError for a duplicate entry: which of the two is valid is unknown."""
    known: set[Hashable] = set()
    for key in keys:
        if key in known:
            refuse_answer(f"{what} appears twice")
        known.add(key)
