"""Settings are texts of a party, of up to a million characters: none of them keeps a check from judging."""

import pytest

import small_cluster
from kafka_audit.checks import catalogue
from kafka_audit.configuration.definitions import VERSIONS, definitions

MANY = "9" * 5000
"""Digits, more than Python converts."""


@pytest.mark.parametrize("text", [MANY, f"-{MANY}", f"{MANY}.0", f"3.9-IV{MANY}", f"h:{MANY}", f"1@h:{MANY}", f"A://h:{MANY}"])
@pytest.mark.parametrize("source", ["configs", "properties"])
@pytest.mark.parametrize("kraft", [False, True])
def test_every_check_judges_where_every_setting_has_thousands_of_digits(text, source, kraft):
    keys = {key for version in VERSIONS for key in definitions(version)}
    settings = dict.fromkeys(keys, text) | {"process.roles": "broker,controller" if kraft else ""}
    world = {
        "info": {"mode": "kraft" if kraft else "zookeeper"},
        "brokers": {number: {"listeners": {"A": f"PLAINTEXT://b{number}:9092"}} for number in range(3)},
        source: dict.fromkeys(range(3), settings),
    }
    view = small_cluster.view(world | ({"zookeeper": "none"} if kraft else {}))
    judged = [check.code for check in catalogue().values() if [*check.function(view)]]
    assert len(judged) > len(catalogue()) / 2
