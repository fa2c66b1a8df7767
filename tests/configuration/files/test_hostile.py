"""Texts that were written to keep a reader busy are read, or refused, in time that grows with their length alone."""

import time
from itertools import pairwise

import pytest

from kafka_audit.configuration.files import forms
from kafka_audit.configuration.files.java import PropertiesError
from kafka_audit.configuration.starts import start_refusal

SECONDS = 5.0  # of this process; those that were endless took from 15 s to hours
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
    "braces that never close": ("a.properties", f"{PROPERTIES}log.dirs={'{{' * 100_000}\n"),
    "dollars and braces that never close": ("a.properties", f"{PROPERTIES}log.dirs={'${' * 100_000}\n"),
    "dollars and parentheses that never close": ("a.properties", f"{PROPERTIES}log.dirs={'$(' * 100_000} )\n"),
    "braces in an env file": ("a.env", f"{ENV}KAFKA_LOG_DIRS={'{{' * 100_000}\n"),
    "blanks before a letter": ("a.env", f"{ENV}KAFKA_LOG_DIRS=a{' ' * 200_000}b\n"),
    "blanks at the end": ("a.env", f"{ENV}KAFKA_LOG_DIRS=a{' ' * 200_000}\n"),
    "blanks behind a quote": ("a.env", f'{ENV}KAFKA_LOG_DIRS="a"{" " * 200_000}b #c\n'),
    "continuation lines": ("a.properties", PROPERTIES + "log.dirs=" + "a\\\n" * 1_300_000),
    "continuation lines of nothing": ("a.properties", PROPERTIES + "log.dirs=" + "\\\n" * 1_900_000),
    "backslashes": ("a.properties", PROPERTIES + "log.dirs=" + "\\" * 1_000_000 + "\n"),
}


@pytest.mark.timeout(40)
@pytest.mark.parametrize(("name", "text"), READ.values(), ids=READ.keys())
def test_long_texts_are_read_once(name, text):
    started = time.process_time()
    (broker,) = forms.read_described(text.encode(), name)
    assert time.process_time() - started < SECONDS
    assert broker.properties["broker.id"].value == "1"


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


@pytest.mark.timeout(40)
@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_yaml_that_stands_for_too_much_is_refused(text, words):
    started = time.process_time()
    with pytest.raises(PropertiesError, match=words):
        forms.read_described(text.encode(), "a.yaml")
    assert time.process_time() - started < SECONDS


@pytest.mark.timeout(40)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("log.dirs", f"a{' ' * 200_000}b"),
        ("advertised.listeners", f"a{' ' * 200_000}b"),
        ("super.users", f"a{' ' * 200_000}b"),
        ("listeners", f"PLAINTEXT{'://:' * 100_000}"),
        ("listener.security.protocol.map", f"a{' ' * 200_000}b"),
        ("sasl.kerberos.principal.to.local.rules", f"a{' ' * 200_000}b"),
        ("controller.quorum.voters", f"1@{'a' * 200_000}:x"),
        ("controller.quorum.voters", f"1@{'a' * 200_000}"),
    ],
)
@pytest.mark.parametrize("version", ["2.8.2", "3.9.1"])
def test_long_values_are_judged_once(key, value, version):
    settings = {"zookeeper.connect": "zk1:2181", "broker.id": "1", key: value}
    if key.startswith("controller"):
        settings = {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C", key: value}
    started = time.process_time()
    start_refusal(settings, version)
    assert time.process_time() - started < SECONDS


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
