"""Patterns that brokers and files bring: as Java matches them or not known, and in linear time either way."""

import subprocess
import sys
from pathlib import Path

import pytest
import re2

import kafka_audit
from kafka_audit.configuration.principals import MappingError, UnsupportedError, of_certificate, of_login, ssl_rules
from kafka_audit.configuration.principals.java_regex import LONGEST, Effort, JavaPattern
from seed import SEED
from testbed.regexes import cases, compare

PLUGINS = str(Path(kafka_audit.__file__).parents[1])
SUBJECT = f"CN={'a' * 400},O=Acme"


def test_we_match_as_java_does():
    found = compare(list(cases(SEED, 4000)))
    assert not found.differences, f"seed {SEED}: {found.differences[0]}"
    assert found.unknown < found.patterns * 0.55
    assert found.matched > found.texts / 3
    assert found.unknown_texts < found.texts / 10


@pytest.mark.parametrize(
    "pattern", ["(.|..)*#", "(a|aa)*#", "(?:a|a)+#", "(a+a+)+#", ".*.*.*.*.*.*.*.*#", "(?:[^=]|[a-z])*##", "(?:a|b|ab|.){30}#"]
)
def test_patterns_that_are_endless_elsewhere_end(pattern):
    """RE2 takes time in proportion to the text, by construction; that of Python and that of Java take hours for these."""
    assert isinstance(JavaPattern(pattern)._compiled, type(re2.compile("a")))
    with pytest.raises(MappingError, match="No rules apply to"):
        of_certificate(SUBJECT, f"RULE:{pattern}/x/")
    assert of_login("GSSAPI", f"{'a' * 400}@R", f"RULE:[1:$1]s/{pattern}/x/", "R") == f"User:{'a' * 400}"


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (f"RULE:{'(a|b)' * 20_000}/x/", "rules of 100008 characters; 16384 are read"),
        (f"RULE:{'a?' * 1000}/x/", f"rules without a slash in {LONGEST} characters"),
        (",".join(f"RULE:CN={number}/x/" for number in range(10_000)), "16384 are read"),
        ("RULE:a{1001}/x/", "something"),
        (",".join(f"RULE:.{{{number}}}/x/" for number in range(100, 500)), "rules of more than 200000 instructions"),
        (",".join(["RULE:CN=(.*?),OU=(.*?),O=(.*?)/$1/"] * 300), "more work than is done for one name"),
        (f"RULE:.*?/{'$0x' * 300}/", f"a name of more than {LONGEST} characters"),
        (f"RULE:.*/{'$0x' * 9}/", f"a name of more than {LONGEST} characters"),
    ],
)
def test_rules_that_are_too_large_are_not_known(rules, words):
    """Each limit has its own words: the one that ends the work is the one that is meant."""
    with pytest.raises(UnsupportedError, match=words.replace("(", "\\(")):
        of_certificate(f"CN={'a' * 900}", rules)


def test_many_long_honest_rules_are_known():
    rules = ",".join(f"RULE:^CN=user-{number:03d}\\.(.*?),OU=.*$/u{number}-$1/L" for number in range(200)) + ",DEFAULT"
    subject = f"CN=user-199.Berlin,OU={'ops ' * 40},O=Acme,C=DE"
    assert of_certificate(subject, rules) == "User:u199-berlin"
    assert of_certificate(f"CN={'x' * 600}", rules) == f"User:CN={'x' * 600}"
    assert of_certificate(f"CN={'x' * (LONGEST - 3)}", "RULE:^CN=(.*)$/$1/") == f"User:{'x' * (LONGEST - 3)}"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?=a)b", "a lookahead"),
        ("(?<!a)b", "a group that begins with \\(\\?"),
        ("(a)\\1", "a backreference"),
        ("(?<n>a)\\k<n>", "a backreference"),
        ("a*+", "a possessive quantifier"),
        ("(?>a)", "an atomic group"),
        ("(?:a(b))*", "a group within a repeated group"),
        ("(?:a(b)){1}", "a group within a repeated group"),
        ("(a?)*", "a repeated group that can match an empty string"),
        ("\\Gx", "\\\\G"),
        ("\\p{IsAlphabetic}", "\\\\p"),
    ],
)
def test_what_re2_does_not_know_or_java_reads_otherwise_is_not_known(pattern, words):
    with pytest.raises(UnsupportedError, match=words):
        JavaPattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "words"),
    [
        ("a$", "a\n", "an end before the end of a line"),
        ("(?i)s", "\u017f", "an S or a K"),
        ("\\bé", "é", "a word boundary"),
        ("[a-\uffff]b", "\U0001f600b", "halves of letters"),
    ],
)
def test_texts_that_java_reads_otherwise_are_not_known(pattern, text, words):
    with pytest.raises(UnsupportedError, match=words):
        JavaPattern(pattern).matches(text, Effort())


def test_rules_are_read_once_and_errors_are_kept():
    assert ssl_rules("RULE:(a).*/$1/") is ssl_rules("RULE:(a).*/$1/")
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="a lookahead"):
            ssl_rules("RULE:(?=a)/x/")


def test_checks_are_imported_where_no_re2_is():
    """Spark's driver may stand on another machine, imports all checks, and matches nothing."""
    code = "import sys; sys.modules['re2'] = None\nfrom kafka_audit.checks import catalogue\nassert 'KA404' in catalogue()"
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": PLUGINS}
    )
    assert completed.returncode == 0, completed.stderr
