"""Every regular expression of the package takes time in proportion to the text, because any party writes the text.

The patterns are collected from the sources, with the methods by which each is used, so that a new one is covered when it is
written. What is measured are the steps of a model of Python's matcher, which are the same on each machine. Bounds such as
{0,1024} are lower in it: such a pattern takes up to 1,024 steps for a character, whatever the length of the text.
"""

import ast
import functools
import importlib
import math
import re
from pathlib import Path
from re import _constants as constants
from re import _parser as parser

import pytest

import kafka_audit
from regex_steps import CountedPattern, TooManyStepsError, parsed
from seed import dice_of_seed

ROOT = Path(kafka_audit.__file__).parent
SIZES = (48, 128, 512)
"""Characters: of all texts, and of those with the most steps."""
MOST_HEADS, MOST_SUSPECTS = 40, 10
MOST_EXPONENT = 1.3  # 1 is linear, 2 quadratic
MOST_STEPS = 1_000  # for a character; a quadratic pattern takes fewer for these texts, and one that tries every way far more
MOST_REPEATS = 4
USED = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


def sources():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).parts
        if not path.name.startswith("__main__"):
            yield path, ".".join(("kafka_audit", *parts)).removesuffix(".py").removesuffix(".__init__")


def called(nodes):
    """Yield (name, method) for NAME.method(…), and (NAME, method) of what is passed on as NAME.method."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in USED and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr


def collected():
    """Return {id: (pattern, methods)}: compiled ones of modules, and constants in calls of `re`. Equal ones are one."""
    found = {}
    for path, module in sources():
        text = path.read_text(encoding="utf-8")
        try:
            loaded = importlib.import_module(module)
        except ImportError:  # Airflow's, where that is not installed
            loaded = None
        patterns = [
            (f"{name}{f'[{number}]' if number else ''}", name, item)
            for name, value in (vars(loaded).items() if loaded else ())
            for number, item in enumerate(patterns_in(value))
            if isinstance(item.pattern, str | bytes)
        ]
        if not patterns and not re.search(r"\bre\.(?:" + "|".join(USED) + r")\(", text):
            continue  # parsing hundreds of files takes each of the processes that run tests seconds
        nodes = list(ast.walk(ast.parse(text)))
        used = {}
        for name, method in called(nodes):
            used.setdefault(name, set()).add(method)
        for place, name, pattern in patterns:
            known = found.setdefault(pattern, ([], set()))
            known[0].append(f"{module.removeprefix('kafka_audit.')}.{place}")
            known[1].update(used.get(name) or passed_on(used, loaded))
        for call in (node for node in nodes if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "re":
                first = call.args[0] if call.args else None
                if call.func.attr in USED and isinstance(first, ast.Constant):
                    flags = functools.reduce(int.__or__, [getattr(re, n.attr).value for n in ast.walk(call) if is_flag(n)], 0)
                    known = found.setdefault(re.compile(first.value, flags), ([], set()))
                    known[0].append(f"{module.removeprefix('kafka_audit.')}:{call.lineno}")
                    known[1].add(call.func.attr)
    return {" ".join(names): (pattern, sorted(methods) or ["search"]) for pattern, (names, methods) in found.items()}


def passed_on(used, module):
    """Return the methods of patterns that are passed to functions: those called on what is no pattern of the module."""
    return {method for name, methods in used.items() if not hasattr(module, name) for method in methods - {"split"}}


def is_flag(node):
    return isinstance(node, ast.Attribute) and isinstance(getattr(re, node.attr, None), re.RegexFlag)


def patterns_in(value, depth=2):
    """Yield compiled patterns in a value, in tuples and mappings of it, and in fields of what these hold."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, tuple | list):
        for item in value:
            yield from patterns_in(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in value.values():
            yield from patterns_in(item, depth - 1)
    elif depth and isinstance(getattr(value, "pattern", None), re.Pattern):
        yield value.pattern


@pytest.fixture(scope="module")
def patterns():
    """All patterns: collecting them takes a second, and not every process that runs tests needs them."""
    return collected()


def words(pattern):
    """Return texts that stand in a pattern, its characters, and one of each set of its characters."""
    found, run = set(), ""

    def walk(tokens):
        nonlocal run
        for operator, argument in tokens:
            if operator is constants.LITERAL:
                run += chr(argument)
                continue
            if run:
                found.add(run)
                found.add(run[-1])
            run = ""
            if operator is constants.IN:
                found.update(some_of(argument))
            for inside in nested(argument):
                walk(inside)
        if run:
            found.add(run)
            found.add(run[0])
        run = ""

    walk(parsed(pattern))
    return {pattern for pattern in found if pattern}


def nested(argument):
    if isinstance(argument, parser.SubPattern):
        yield argument
    elif isinstance(argument, tuple | list):
        for item in argument:
            yield from nested(item)


def some_of(options):
    for operator, argument in options:
        if operator is constants.LITERAL:
            yield chr(argument)
        elif operator is constants.RANGE:
            yield chr(argument[0])


def units(pattern):
    """Return what is repeated: characters and the pattern's own words; and pairs of these, and all of them in a row."""
    own = sorted(words(pattern), key=len, reverse=True)[:12]
    single = [
        "a",
        "0",
        " ",
        "\t",
        "\n",
        ":",
        "/",
        "\\",
        '"',
        "'",
        ".",
        ",",
        "=",
        "@",
        "-",
        "_",
        "[",
        "(",
        "{",
        "$",
        "A",
        "é",
        "\\u",
    ]
    pairs = [one + other for one in own[:8] for other in own[:8] if one != other]
    mixed = ["://:", "a:", " a", "a=", "a.", '\\"', "a,", " ,", "\n ", "://", "a@", "::", "=a", "0.", "{{", "}}", "- ", "#"]
    rows = ["".join(own), "".join(reversed(own))]
    return list(dict.fromkeys([*single, *own, *mixed])), list(dict.fromkeys(filter(None, [*pairs, *rows])))


def heads(tokens, before=""):
    """Yield what a text may begin with: nothing, and short texts that the first parts of a pattern match, for each way in."""
    yield before
    for number, token in enumerate(tokens):
        operator, argument = token
        if operator is constants.BRANCH:
            for way in argument[1]:
                yield from heads(way, before)
        elif operator is constants.SUBPATTERN:
            yield from heads(argument[-1], before)
        before += shortest([token])
        following = tokens[number + 1][0] if number + 1 < len(tokens) else None
        if operator is not constants.LITERAL or following is not constants.LITERAL:  # no half words
            yield before


def shortest(tokens):
    """Return one short text that these parts match, as far as that is told by them alone."""
    made = ""
    for operator, argument in tokens:
        if operator is constants.LITERAL:
            made += chr(argument)
        elif operator is constants.IN:
            made += next(some_of(argument), "a")
        elif operator in {constants.ANY, constants.NOT_LITERAL}:
            made += "a"
        elif operator in {constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT}:
            made += shortest(argument[2]) * min(argument[0], 20)
        elif operator is constants.BRANCH:
            made += shortest(argument[1][0])
        elif operator in {constants.SUBPATTERN, constants.ATOMIC_GROUP}:
            made += shortest(argument[-1] if operator is constants.SUBPATTERN else argument)
    return made


def slow(pattern, method):
    """Return the text by which the steps grow faster than the text, None where there is none."""
    ways = list(dict.fromkeys(heads(parsed(pattern))))[:MOST_HEADS]
    single, paired = units(pattern)
    suspects = [(unit, head) for unit in single for head in ways] + [(unit, head) for unit in paired for head in ways[:2]]
    counted = CountedPattern(pattern, most_repeats=MOST_REPEATS)
    try:
        first = {suspect: steps(counted, method, *suspect, SIZES[0]) for suspect in suspects}
        for unit, head in sorted(first, key=first.get, reverse=True)[:MOST_SUSPECTS]:
            less, more = (steps(counted, method, unit, head, size) for size in SIZES[1:])
            if math.log(more / less) / math.log(SIZES[2] / SIZES[1]) > MOST_EXPONENT:
                return f"{unit!r} behind {head!r}: {less} and {more} steps for {SIZES[1]} and {SIZES[2]} characters"
    except TooManyStepsError as error:
        return str(error)
    return None


def steps(counted, method, unit, head, size):
    try:
        counted.use(method, text(unit, head, size), MOST_STEPS * size)
    except TooManyStepsError:
        message = f"{unit!r} behind {head!r}: more than {MOST_STEPS} steps for each of {size} characters"
        raise TooManyStepsError(message) from None
    return counted.steps


def text(unit, head, size):
    return head + unit * (size // len(unit)) + "\x01"


def test_there_are_patterns_and_those_that_were_slow_are_among_them(patterns):
    names = " ".join(patterns)
    assert len(patterns) > 100
    for pattern in (
        "secret_keys.USERINFO",
        "masking._PAIR",
        "znodes._ENDPOINT",
        "signs.SIGNS",
        "zookeeper_view._LINE",
    ):
        assert pattern in names


def test_the_model_finds_what_python_finds(patterns):
    dice = dice_of_seed()
    for name, (pattern, methods) in patterns.items():
        counted, (single, paired) = CountedPattern(pattern), units(pattern)
        ways = list(heads(parsed(pattern)))
        for _ in range(40):
            shown = dice.choice(ways) + "".join(
                dice.choice(single + paired) * dice.randint(1, 3) for _ in range(dice.randint(0, 6))
            )
            subject = shown.encode() if isinstance(pattern.pattern, bytes) else shown
            for method in methods:
                once = method in {"search", "match", "fullmatch"}
                found = filter(None, [getattr(pattern, method)(subject)]) if once else pattern.finditer(subject)
                assert counted.use(method, subject) == [match.end() for match in found], (name, method, subject)


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.large)])
def test_the_steps_grow_with_the_text(patterns, every):
    tried = [*patterns.items()][::every]
    found = {(name, method): slow(pattern, method) for name, (pattern, methods) in tried for method in methods}
    assert {use: text for use, text in found.items() if text is not None} == {}


SLOW = (
    r"://[^/\s@]*:[^/\s@]*@",
    r"LoginModule|://[^/\s@]*:[^/\s@]*@",
    r"\s*,\s*",
    r"(?:a|aa)*#",
    r"x(?:[^=]|[a-z])*##",
    r"(\w+\s?)*:$",
)


@pytest.mark.parametrize("pattern", SLOW)
def test_a_slow_pattern_is_found(pattern):
    assert "behind" in slow(re.compile(pattern), "search")


def test_a_linear_pattern_is_none():
    assert slow(re.compile(r"://[^/\s@]++@"), "search") is None
