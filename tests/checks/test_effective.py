"""How a setting in effect is read off what several parties said."""

import pytest

from kafka_audit.checks.configuration.effective import Effective, Value, defaults, plain
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, DynamicConfig, Snapshot

KEY = "message.max.bytes"


def of(*rows):
    return Effective(ClusterView.of_files(Snapshot(snapshot_id="s", cluster="c", cluster_id="i", rows=rows)))


def line(value, key=KEY):
    return BrokerProperty(source="f", broker_id=0, key=key, value=value, secret=False, line=1)


def told(value, source=4, key=KEY):
    return BrokerConfig(observer="broker:0", broker_id=0, key=key, value=value, source=source, sensitive=False)


def dynamic(value, broker=None):
    return DynamicConfig(broker_id=broker, key=KEY, value=value, secret=False)


@pytest.mark.parametrize(
    ("rows", "text", "source", "explicit"),
    [
        ([told("7"), line("8"), dynamic("9")], "7", "DescribeConfigs", True),
        ([told("1048588", source=5)], "1048588", "DescribeConfigs", False),
        ([line("8"), dynamic("9"), dynamic("10", broker=0)], "10", "/config/brokers", True),
        ([line("8"), dynamic("9", broker=1)], "8", "server.properties", True),
        ([line(" 8 ")], "8", "server.properties", True),
        ([line("x", key="broker.rack")], "1048588", "server.properties", False),
    ],
)
def test_a_broker_s_own_word_comes_first_then_zookeeper_s_then_its_file_s(rows, text, source, explicit):
    found = of(*rows).get(0, KEY)
    assert (found.text, found.source, found.explicit, found.known) == (text, source, explicit, True)


def test_what_nobody_told_and_what_is_filled_in_later_is_not_known():
    assert not of(line(None)).get(0, KEY).known
    assert not of(line("8")).get(1, KEY).known
    assert not of(line("8"), dynamic(None)).get(0, KEY).known


@pytest.mark.parametrize("text", ["", "1e3", "9" * 5000, str(2**63), "+", "1 000", None])
def test_what_is_no_number_to_java_is_none(text):
    assert Value(key=KEY, known=True, text=text).number is None
    assert plain(KEY, text) == (text if text is not None else "not set")


@pytest.mark.parametrize(
    ("key", "one", "other"),
    [
        (KEY, "+0007", "7"),
        (KEY, "٣", "3"),  # `Character.digit` takes the digits of every alphabet
        ("log.cleanup.policy", "compact, delete,", "delete,compact"),
        ("auto.create.topics.enable", "TRUE", "true"),
    ],
)
def test_spellings_of_one_value_are_equal(key, one, other):
    assert plain(key, one) == plain(key, other)


def test_names_keep_their_case():
    assert plain("broker.rack", "A") != plain("broker.rack", "a")


def test_defaults_are_those_of_the_judged_releases_newest_first():
    assert defaults(KEY) == ("1048588", "1000012")
    assert defaults("auto.create.topics.enable") == ("true",)
    assert defaults("log.cleanup.policy") == ("delete",)
    assert defaults("broker.rack") == (None,)
    assert defaults("no.such.key") == ()
