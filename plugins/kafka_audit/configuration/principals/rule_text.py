"""What Kafka's two readers of principal rules share: each piece must be a rule from its first character to its last. Pure."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache, wraps
from typing import TypeVar

from kafka_audit.configuration.principals.errors import RulesError, UnsupportedError
from kafka_audit.configuration.principals.java_regex import LONGEST, JavaPattern, RegexMatch

MOST_CHARACTERS = 16 * 1024
"""Of all rules of a listener: some 200 of them. Each is read, and then tried for each name."""

MOST_INSTRUCTIONS = 200_000
"""Of all compiled rules of a listener, 16 bytes each; 200 usual ones have 20,000."""

BLANKS = "".join(map(chr, range(0x21)))
"""What String.trim takes away."""

_R = TypeVar("_R")


def trimmed_rules(text: str | None) -> str:
    """Return rules without blanks around them, None for the default; raises UnsupportedError where they are too long."""
    found = ("DEFAULT" if text is None else text).strip(BLANKS)
    if len(found) > MOST_CHARACTERS:
        message = f"rules of {len(found)} characters; {MOST_CHARACTERS} are read"
        raise UnsupportedError(message)
    return found


def rule_match(parser: JavaPattern, piece: str) -> RegexMatch:
    """Return the match of one rule; raises RulesError in Kafka's words, which are the same for SSL and Kerberos."""
    if len(piece) > LONGEST:
        message = f"a rule of {len(piece)} characters, which can end the stack of Java's matcher"
        raise UnsupportedError(message)
    found = parser.looking_at(piece)
    if found is None:
        message = f"Invalid rule: {piece}"
        raise RulesError(message)
    if found.end != len(piece):
        message = f"Invalid rule: `{piece}`, unmatched substring: `{piece[found.end :]}`"
        raise RulesError(message)
    return found


_Rule = TypeVar("_Rule")


def within_size(rules: Iterable[_Rule], patterns: Callable[[_Rule], Iterable[JavaPattern | None]]) -> Iterator[_Rule]:
    """Yield rules as long as their patterns are small enough together, then raise UnsupportedError."""
    size = 0
    for rule in rules:
        size += sum(pattern.size for pattern in patterns(rule) if pattern is not None)
        if size > MOST_INSTRUCTIONS:
            message = f"rules of more than {MOST_INSTRUCTIONS} instructions"
            raise UnsupportedError(message)
        yield rule


def name_within_size(name: str) -> str:
    """Return what rules make of a name; raises UnsupportedError where it is longer than any."""
    if len(name) > LONGEST:
        message = f"a name of {len(name)} characters; {LONGEST} are read"
        raise UnsupportedError(message)
    return name


def cached_by_size(size: int) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Return what keeps answers of a function, errors of rules too: the brokers of a cluster ask the same of each other."""

    def decorate(function: Callable[..., _R]) -> Callable[..., _R]:
        @lru_cache(maxsize=size)
        def answered(*args: Hashable) -> tuple[_R | None, ValueError | None]:
            try:
                return function(*args), None
            except ValueError as error:
                return None, error.with_traceback(None)

        @wraps(function, updated=())
        def asked(*args: Hashable) -> _R:
            answer, error = answered(*args)
            if error is not None:
                raise type(error)(*error.args)
            return answer  # type: ignore[return-value]  # either of the two is there

        return asked

    return decorate
