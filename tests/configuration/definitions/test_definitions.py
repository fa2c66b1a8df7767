"""How values are read by their definitions. Whether these are Kafka's own, tests/configuration/starts asks Kafka."""

import math

import pytest

from kafka_audit.configuration.definitions import VERSIONS, ConfigError, definitions, shown
from kafka_audit.configuration.definitions.values import decimal, integer


@pytest.mark.parametrize("version", VERSIONS)
def test_every_default_passes_its_own_validator(version):
    for definition in definitions(version).values():
        if not definition.required and definition.default is not None and definition.validator is not None:
            assert definition.validator(definition.name, definition.default) is None


@pytest.mark.parametrize(
    ("text", "bits", "number"),
    [
        ("+5", 32, 5),
        ("-0", 32, 0),
        ("\u0661\u0662", 32, 12),
        ("2147483647", 32, 2147483647),
        ("2147483648", 32, None),
        ("2147483648", 64, 2147483648),
        ("-32769", 16, None),
        ("1_000", 32, None),
        ("", 32, None),
        ("9" * 5000, 64, None),
        ("0" * 5000 + "7", 32, 7),
    ],
)
def test_whole_numbers_are_read_as_java_reads_them(text, bits, number):
    assert integer(text, bits) == number


def test_decimals_are_read_and_shown_as_java_does():
    assert [decimal(text) for text in ("1.5f", "1e3", ".5", "0x1p4", "Infinity", "1,5", "inf", "0x1")] == [
        *(1.5, 1000.0, 0.5, 16.0, math.inf),
        *(None, None, None),
    ]
    numbers = [shown(number) for number in (0.5, 12.0, 1e7, 2147483647.0, 1e-4, math.nan)]
    assert numbers == ["0.5", "12.0", "1.0E7", "2.147483647E9", "1.0E-4", "NaN"]


def test_a_refused_value_names_its_key():
    with pytest.raises(ConfigError) as caught:
        definitions("3.9.1")["broker.id"].value("x")
    assert (caught.value.message, caught.value.key) == (
        "Invalid value x for configuration broker.id: Not a number of type INT",
        "broker.id",
    )


def test_whose_own_a_class_may_be_is_taken_to_be_there():
    builder = definitions("3.9.1")["principal.builder.class"]
    assert builder.value("com.example.Builder") == "com.example.Builder"
    for name in ("org.apache.kafka.common.security.auth.NoSuchBuilder", "", "Builder", "1.5", "com..Builder"):
        with pytest.raises(ConfigError, match="could not be found"):
            builder.value(name)
