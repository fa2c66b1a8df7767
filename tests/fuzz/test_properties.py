"""What holds of every input of a form: honest ones come back as they went in, and none breaks what the reader promises."""

import json
import string

from hypothesis import assume, given
from hypothesis import strategies as st

from collect.columns import Partition, read_topic
from collect.fakes import metadata
from fuzz import watch, words
from fuzz.readers import READERS
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.clients.secrets.secret_keys import is_secret_key
from kafka_audit.collect.brokers.metadata import decode_metadata_answer
from kafka_audit.configuration.files import jaas, java
from kafka_audit.model.text import clean

_INT = st.integers(0, 2**31 - 1)
_NAME = st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=40)
_IDS = st.lists(_INT, min_size=1, max_size=4, unique=True)
_PARTITIONS = st.dictionaries(_INT, st.tuples(_INT, _IDS, _INT, _IDS), max_size=4)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
_KEYS = tuple(word.decode().strip('"') for word in words.JSON if word.startswith(b'"'))
_ZNODE = st.dictionaries(st.sampled_from(_KEYS), _JSON | st.lists(st.dictionaries(st.sampled_from(_KEYS), _JSON)), max_size=8)


def holds(reader, data):
    found = watch.counted_failure(READERS[reader], data)
    assert found is None, f"{found.kind}\n{found.text}"


@given(st.integers(1, 13), st.dictionaries(_INT, st.tuples(_NAME, st.integers(0, 65535)), max_size=4), st.data())
def test_metadata_comes_back_as_it_went_in(version, brokers, data):
    topics = data.draw(st.dictionaries(_NAME, _PARTITIONS, max_size=3))
    body = bytes(metadata(version, brokers, topics, 0, "c").encode())
    answer = decode_metadata_answer(body, version)
    assert {broker.broker_id: (broker.host, broker.port) for broker in answer.brokers} == brokers
    read = [read_topic(topic, version) for topic in answer.topics]
    assert {topic.name: {part.partition for part in topic.partitions} for topic in read} == {
        name: set(partitions) for name, partitions in topics.items()
    }
    for topic in read:
        for part in topic.partitions:
            leader, replicas, epoch, isr = topics[topic.name][part.partition]
            assert part == Partition(
                part.partition, 0, leader, epoch if version >= 7 else None, tuple(replicas), tuple(sorted(isr)), ()
            )


@given(st.integers(1, 13), st.dictionaries(_NAME, _PARTITIONS, max_size=3), st.data())
def test_metadata_that_is_changed_anywhere_is_read_or_refused(version, topics, data):
    body = bytearray(metadata(version, {0: ("b0", 9092)}, topics, 0, "c").encode())
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(body)))
    holds("wire_metadata", bytes([version - 1, *body[:cut]]))
    holds("wire_views", bytes([version - 1, *body]))


@given(st.integers(0, 7), _ZNODE | _JSON)
def test_a_znode_may_hold_any_json(which, content):
    holds("znode", bytes([which]) + json.dumps(content).encode())


@given(st.integers(0, 4), st.sampled_from(["0", "<default>", "99999999999999999999", "9" * 4301, "²", "orders"]), _ZNODE | _JSON)
def test_a_secured_znode_may_hold_any_json_under_any_name(which, name, content):
    holds("znode_security", bytes([which]) + name.encode() + b"\n" + json.dumps(content).encode())


_JAVA = st.text(st.characters(min_codepoint=1, max_codepoint=0xFFFF, exclude_categories=("Cs",)), max_size=20)


def _written(text):
    return "".join(char if char.isalnum() and char.isascii() else f"\\u{ord(char):04x}" for char in text)


@given(st.dictionaries(_JAVA.filter(bool), _JAVA, max_size=5))
def test_properties_come_back_as_java_writes_them(settings):
    text = "".join(f"{_written(key)}={_written(value)}\n" for key, value in settings.items())
    assert {key: setting.value for key, setting in java.parse_properties(text.encode()).items()} == settings


@given(
    st.dictionaries(
        st.text(string.ascii_letters, min_size=1), st.text(string.printable.replace('"', "").replace("\\", "")), max_size=4
    )
)
def test_options_of_jaas_come_back(options):
    assume(not any("\n" in value or "\r" in value for value in options.values()))
    text = "a.b.PlainLoginModule required " + " ".join(f'{key}="{value}"' for key, value in options.items()) + ";"
    assert dict(jaas.parse_jaas(text).options) == options


_SECRET = st.text(string.ascii_letters + string.digits, min_size=12, max_size=40)


@given(
    st.sampled_from(
        ["ssl.key.password", "ldap.bind.pw", "sasl.jaas.config", "azure.sas", "db.secret", "x.api.key", "some.creds"]
    ),
    _SECRET,
    st.sampled_from(["{}={}", "{}: {}", '{}="{}"', "{} = '{}'", "Invalid value {1} for configuration {0}", '"{}":"{}"']),
    st.text(string.ascii_lowercase + " ", max_size=30),
)
def test_no_secret_is_left_in_a_text(key, secret, form, around):
    assert is_secret_key(key)
    assume(secret.lower() not in around)
    assert secret not in masked(f"{around} {form.format(key, secret)} {around}")


@given(st.text(max_size=300))
def test_a_text_that_is_shown_is_one_line_that_controls_nothing(text):
    shown = clean(text)
    assert len(shown) <= 300
    assert shown.isprintable() or not shown


@given(st.sampled_from(sorted(READERS)), st.binary(max_size=300))
def test_any_reader_takes_any_bytes(reader, data):
    holds(reader, data)
