"""Texts that were written to keep a reader busy are read, or refused, in time that grows with their length alone."""

import re
from functools import partial
from itertools import pairwise

import pytest

from counted_work import counted_calls, counted_copies, exponent
from kafka_audit.configuration.files import described, environment, forms, java
from kafka_audit.configuration.files.java import PropertiesError
from kafka_audit.configuration.starts import start_refusal

SIZES = (200, 800)
"""Of texts whose work is counted; what is quadratic in them costs 16 times as much."""
MOST_EXPONENT = 1.2
PROPERTIES = "broker.id=1\nzookeeper.connect=zk1:2181\n"
ENV = "KAFKA_BROKER_ID=1\n"
LEVELS = "abcdefghijklmnop"


def lists(first, *, kind=""):
    """Return lists of nine times the list before."""
    text = f"{LEVELS[0]}: &{LEVELS[0]} {first}\n"
    for before, name in pairwise(LEVELS):
        nine = ",".join([f"*{before}"] * 9)
        text += f"{name}: &{name} {{kind: List, items: [{nine}]}}\n" if kind else f"{name}: &{name} [{nine}]\n"
    return text


READ = {
    "braces that never close": ("a.properties", PROPERTIES, lambda size: f"log.dirs={'{{' * size}\n", 100_000),
    "dollars and braces that never close": ("a.properties", PROPERTIES, lambda size: f"log.dirs={'${' * size}\n", 100_000),
    "dollars and parentheses that never close": ("a.properties", PROPERTIES, lambda size: f"log.dirs={'$(' * size} )\n", 100_000),
    "braces in an env file": ("a.env", ENV, lambda size: f"KAFKA_LOG_DIRS={'{{' * size}\n", 100_000),
    "blanks before a letter": ("a.env", ENV, lambda size: f"KAFKA_LOG_DIRS=a{' ' * size}b\n", 200_000),
    "blanks at the end": ("a.env", ENV, lambda size: f"KAFKA_LOG_DIRS=a{' ' * size}\n", 200_000),
    "blanks behind a quote": ("a.env", ENV, lambda size: f'KAFKA_LOG_DIRS="a"{" " * size}b #c\n', 200_000),
    "continuation lines": ("a.properties", PROPERTIES, lambda size: "log.dirs=" + "a\\\n" * size, 1_300_000),
    "continuation lines of nothing": ("a.properties", PROPERTIES, lambda size: "log.dirs=" + "\\\n" * size, 1_900_000),
    "backslashes": ("a.properties", PROPERTIES, lambda size: "log.dirs=" + "\\" * size + "\n", 1_000_000),
}


class CountedSearches:
    """A pattern that counts the characters which it goes through; how it does that is a matter of `test_linear_patterns`."""

    read = 0

    def __init__(self, pattern):
        self._pattern = pattern

    def __getattr__(self, method):
        return partial(self._use, method)

    def _use(self, method, *arguments):
        subject = arguments[method in {"sub", "subn"}]
        found = getattr(self._pattern, method)(*arguments)
        at = arguments[1] if method in {"search", "match", "fullmatch"} and len(arguments) > 1 else 0
        CountedSearches.read += (found.end() if isinstance(found, re.Match) else len(subject)) - at
        return found


def counted_searches(function, *arguments):
    """Return how many characters patterns go through, as `exponent` counts."""
    CountedSearches.read = 0
    with pytest.MonkeyPatch.context() as patch:
        for module in (described, environment, java):
            for name, value in [*vars(module).items()]:
                if isinstance(value, re.Pattern):
                    patch.setattr(module, name, CountedSearches(value))
        patch.setattr(described, "_ENDS", {kind: CountedSearches(pattern) for kind, pattern in described._ENDS.items()})
        function(*arguments)
    return CountedSearches.read


def read(data, name):
    (broker,) = forms.read_described(data, name)
    return broker


@pytest.mark.parametrize(("name", "first", "line", "size"), READ.values(), ids=READ.keys())
def test_long_texts_are_read(name, first, line, size):
    assert read(f"{first}{line(size)}".encode(), name).properties["broker.id"].value == "1"


@pytest.mark.parametrize(("name", "first", "line"), [case[:3] for case in READ.values()], ids=READ.keys())
def test_long_texts_are_read_once(name, first, line):
    for count in (counted_calls, counted_copies, counted_searches):
        grows = exponent(lambda data: read(data, name), SIZES, lambda size: f"{first}{line(size)}".encode(), count)
        assert grows < MOST_EXPONENT, count


SERVICES = (
    f"x: &x [{','.join(['K=v'] * 2000)}]\nb: &b {{environment: *x}}\nservices: {{{','.join(f's{i}: *b' for i in range(2000))}}}\n"
)
REFUSED = {
    "lists of lists": (f"kind: ConfigMap\n{lists('[x,x,x,x,x,x,x,x,x]')}", "aliases that expand to more than 500000 values"),
    "Lists of Lists": (
        f"kind: List\n{lists('{kind: List, items: []}', kind='List')}items: [*p]\n",
        "aliases that expand to more than 500000 values",
    ),
    "environments of services": (SERVICES, "aliases that expand to more than 500000 values"),
    "values": (f"a: [{'x,' * 600_000}x]\n", "contains more than 500000 values"),
    "brackets": ("[" * 100_000, "is nested too deeply"),
}


@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_yaml_that_stands_for_too_much_is_refused(text, words):
    with pytest.raises(PropertiesError, match=words):
        forms.read_described(text.encode(), "a.yaml")


LONG = {
    "log.dirs": lambda size: f"a{' ' * size}b",
    "advertised.listeners": lambda size: f"a{' ' * size}b",
    "super.users": lambda size: f"a{' ' * size}b",
    "listeners": lambda size: f"PLAINTEXT{'://:' * size}",
    "listener.security.protocol.map": lambda size: f"a{' ' * size}b",
    "sasl.kerberos.principal.to.local.rules": lambda size: f"a{' ' * size}b",
    "controller.quorum.voters": lambda size: f"1@{'a' * size}:x",
    "controller.quorum.voters ": lambda size: f"1@{'a' * size}",
}


@pytest.mark.parametrize(("key", "value"), LONG.items(), ids=LONG)
@pytest.mark.parametrize("version", ["2.8.2", "3.9.1"])
def test_long_values_are_judged_once(key, value, version):
    key = key.strip()
    settings = {"zookeeper.connect": "zk1:2181", "broker.id": "1"}
    if key.startswith("controller"):
        settings = {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C"}
    start_refusal({**settings, key: value(200_000)}, version)
    for count in (counted_calls, counted_copies):
        grows = exponent(lambda long: start_refusal({**settings, key: long}, version), SIZES, value, count)
        assert grows < MOST_EXPONENT


def test_a_file_of_five_thousand_lines_and_a_chart_of_two_megabytes_are_read():
    lines = "".join(f"# what line {i} is for\nlistener.name.internal.key{i}=value {i}\n" for i in range(2500))
    (broker,) = forms.read_described(f"{PROPERTIES}{lines}".encode(), "a.properties")
    assert len(broker.properties) == 2502
    chart = "".join(
        f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}, labels: {{app: kafka, tier: 'data'}}}}\n"
        f"data:\n  server.properties: |\n    broker.id={i}\n    zookeeper.connect=zk1:2181\n{'    # a comment' * 80}\n"
        for i in range(1500)
    )
    assert len(chart) > 2_000_000
    assert len(forms.read_described(chart.encode(), "chart.yaml")) == 1500


def test_anchors_that_services_share_are_merged():
    common = "x-common: &common {KAFKA_ZOOKEEPER_CONNECT: 'zk1:2181', KAFKA_LOG_DIRS: /d}\n"
    services = "".join(f"  k{i}: {{environment: {{<<: *common, KAFKA_BROKER_ID: {i}}}}}\n" for i in range(500))
    assert len(forms.read_described(f"{common}services:\n{services}".encode(), "compose.yaml")) == 500
