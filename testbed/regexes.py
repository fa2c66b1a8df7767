"""Hold our regular expressions against java.util.regex: ``python -m testbed.regexes --seed 7``."""

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard

from kafka_audit.configuration.principals import MappingError, RulesError, UnsupportedError
from kafka_audit.configuration.principals.java_regex import Effort, JavaPattern, RegexMatch
from testbed.oracle import ask

_VERSION = "3.9.1"  # of Kafka, beside whose jars the oracle runs; the expressions are Java's own
_TOLD = 10
_ATOMS = (
    *"aabbcABC=,.^$",
    *("\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "\\A", "\\z", "\\Z", "\\.", "\\x41", "\\t", "\\u0062", "\\Qa.b\\E"),
    *("[ab]", "[^a]", "[a-c]", "[^,=]", "[\\w.-]", "[B-b]", "[\\S]", "[^\\d\\s]", "[]a]", "[^]a]", "[a-]", "é", "\U0001f600"),
    *("[\\x{61}-\\x{1f600}]", "[a-\\uffff]", "k", "s", "[j-t]", ".", ".", "=,", "ab"),
)
_ODD = (
    "\\1",
    "\\k<n>",
    "\\G",
    "\\p{L}",
    "\\R",
    "\\h",
    "\\X",
    "\\Q",
    "{",
    "}",
    "]",
    "\\",
    "&&",
    "[a[b]]",
    "[a&&b]",
    "[b-a]",
    "(?#a)",
)
_REPEATED = (
    "*",
    "+",
    "?",
    "*?",
    "+?",
    "??",
    "{2}",
    "{1,2}",
    "{0,2}",
    "{2,}",
    "{1,2}?",
    "{0}",
    "{1}",
    "*+",
    "{2",
    "{2,1}",
    "{,2}",
)
_OPENED = ("(", "(", "(", "(?:", "(?:", "(?i:", "(?s:", "(?-i:", "(?<n>", "(?<m1>", "(?=", "(?!", "(?<=", "(?>", "(?i-s:", "(?m:")
_FLAGS = ("(?i)", "(?s)", "(?-i)", "(?is)", "(?x)", "(?u)")
_LETTERS = "aaabbbcABC=,. 1kKsS"
_RARE = "\n\r\t\x0b\x85\u2028é\u212a\u017f\u0130\U0001f600_"
_REPLACEMENTS = ("$1", "<$0>", "$2$1", "x", "", "${n}", "$12", "\\$1", "$", "$3-$4")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A pattern, what stands for its matches, and texts."""

    pattern: str
    replacement: str
    texts: tuple[str, ...]

    def asked(self) -> dict[str, object]:
        """Return it for the oracle."""
        return {"pattern": self.pattern, "replacement": self.replacement, "texts": self.texts}


def cases(seed: int, count: int) -> Iterator[Case]:
    """Yield generated cases, the same for the same seed."""
    dice = random.Random(seed)  # noqa: S311 -- cases, not keys
    for _ in range(count):
        texts = tuple(_text(dice) for _ in range(6))
        yield Case(pattern=_alternatives(dice, 3), replacement=dice.choice(_REPLACEMENTS), texts=("", *texts))


def _alternatives(dice: random.Random, depth: int) -> str:
    return "|".join(_sequence(dice, depth) for _ in range(dice.choice((1, 1, 1, 2, 2, 3))))


def _sequence(dice: random.Random, depth: int) -> str:
    return "".join(_piece(dice, depth) for _ in range(dice.choice((0, 1, 1, 2, 2, 3, 4))))


def _piece(dice: random.Random, depth: int) -> str:
    chance = dice.random()
    if chance < 0.01:  # noqa: PLR2004 -- shares of the odd
        return dice.choice(_ODD)
    if chance < 0.03:  # noqa: PLR2004
        return dice.choice(_FLAGS)
    group = depth > 0 and chance < 0.35  # noqa: PLR2004
    piece = f"{_opening(dice)}{_alternatives(dice, depth - 1)})" if group else dice.choice(_ATOMS)
    return piece + (dice.choice(_REPEATED[:13]) if dice.random() < 0.4 else dice.choice(_REPEATED) * (dice.random() < 0.02))  # noqa: PLR2004


def _opening(dice: random.Random) -> str:
    return dice.choice(_OPENED[:6] if dice.random() < 0.9 else _OPENED)  # noqa: PLR2004


def _text(dice: random.Random) -> str:
    letters = _LETTERS if dice.random() < 0.7 else _LETTERS + _RARE  # noqa: PLR2004
    return "".join(dice.choices(letters, k=dice.choice((1, 2, 3, 5, 8, 12))))


def ours(case: Case) -> dict[str, Any] | None:
    """Return our answer in the shape of the oracle's, None for a pattern that is not known here.

    Of a known pattern None stands for a text whose answer is not known.
    """
    try:
        pattern = JavaPattern(case.pattern)
    except RulesError as refused:
        return {"refused": str(refused)}
    except UnsupportedError:
        return None
    return {"texts": [_known(partial(_matched, pattern, text, case.replacement)) for text in case.texts]}


def _known(answer: Callable[[], dict[str, object]]) -> dict[str, object] | None:
    try:
        return answer()
    except UnsupportedError:
        return None


def _matched(pattern: JavaPattern, text: str, replacement: str) -> dict[str, object]:
    whole = pattern.matches(text, Effort())
    found = [_spans(match) for match in pattern.find(text, Effort())]
    try:
        replaced = pattern.replaced(text, replacement, Effort())
    except MappingError as failed:
        replaced = f"failed: {failed}"
    return {"matches": None if whole is None else _spans(whole), "find": found, "replaced": replaced}


def _spans(found: RegexMatch) -> list[int]:
    return [place for span in found.spans for place in span]


def agree(mine: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Compare: Java's words against a pattern by their beginning, and every text of which our answer is known."""
    if "refused" in mine or "refused" in theirs:
        return "refused" in mine and "refused" in theirs and mine["refused"].startswith(theirs["refused"])
    return all(
        one is None or one == other or "endless" in other for one, other in zip(mine["texts"], theirs["texts"], strict=True)
    )


def _both_match(mine: dict[str, Any] | None, theirs: dict[str, Any]) -> TypeGuard[dict[str, Any]]:
    return mine is not None and "texts" in mine and "texts" in theirs


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How far we agree; counts of patterns, and of texts of patterns that are known."""

    patterns: int
    unknown: int
    refused: int
    texts: int
    unknown_texts: int
    matched: int
    differences: tuple[str, ...]


def compare(asked: Sequence[Case]) -> Outcome:
    """Ask Java and ourselves about every case."""
    oracle_answers, mine = (
        ask("RegexOracle", _VERSION, [question.asked() for question in asked]),
        [ours(question) for question in asked],
    )
    known = [
        (answer["texts"], theirs["texts"])
        for answer, theirs in zip(mine, oracle_answers, strict=True)
        if _both_match(answer, theirs)
    ]
    texts = [pair for answers in known for pair in zip(*answers, strict=True)]
    return Outcome(
        patterns=len(asked),
        unknown=mine.count(None),
        refused=sum("refused" in answer for answer in oracle_answers),
        texts=len(texts),
        unknown_texts=sum(text is None for text, _ in texts),
        matched=sum(bool(other["find"]) for text, other in texts if text is not None),
        differences=tuple(
            f"{case.asked()}: ours {answer}, Java's {theirs}"
            for case, answer, theirs in zip(asked, mine, oracle_answers, strict=True)
            if answer is not None and not agree(answer, theirs)
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(prog="python -m testbed.regexes", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000), help="default: another each time")
    parser.add_argument("--cases", type=int, default=20_000, help="patterns, seven texts each (default 20000)")
    options = parser.parse_args(arguments)
    found = compare(list(cases(options.seed, options.cases)))
    patterns = f"{found.patterns} patterns, {found.refused} refused by Java, {found.unknown} not known here"
    texts = f"{found.texts} texts, {found.matched} matched, {found.unknown_texts} not known here"
    sys.stdout.write(f"seed {options.seed}: {patterns}; {texts}; {len(found.differences)} patterns differ\n")
    sys.stdout.writelines(f"  {difference}\n" for difference in found.differences[:_TOLD])
    return int(bool(found.differences))


if __name__ == "__main__":
    sys.exit(main())
