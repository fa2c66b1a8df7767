"""Proposed files against a running cluster: what breaks on the way, and in the end."""

from datetime import date
from pathlib import Path

import pytest
import yaml

from checks import world
from kafka_audit.checks import catalogue
from kafka_audit.cluster.view import ClusterView
from kafka_audit.lint import files
from kafka_audit.lint.judging import Rules

BASE = yaml.safe_load((Path(__file__).parents[1] / "checks" / "base.yaml").read_text())
FILE = """broker.id={id}
zookeeper.connect=zk:2181
listeners={listeners}
advertised.listeners={advertised}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,INNER:SASL_PLAINTEXT
{more}
"""


@pytest.fixture
def broken(tmp_path):
    """Return a function that lints files against the healthy cluster and returns what fails, by code and resource."""

    def judged(now=None, **settings):
        snapshot, _ = world.snapshots(BASE, "running", {"now": now or {}})
        for number, (advertised, more) in settings.items():
            broker = int(number.removeprefix("b"))
            listeners = ",".join(entry.split("://")[0] + "://:" + entry.rpartition(":")[2] for entry in advertised.split(","))
            text = FILE.format(id=broker, listeners=listeners, advertised=advertised, more=more)
            (tmp_path / f"{number}.properties").write_text(text)
        rules = Rules(checks=catalogue(), mutes=(), today=date(2026, 1, 1), against=ClusterView.of_files(snapshot))
        told = [one.finding for file in files.lint([str(tmp_path)], rules).files for one in file.told]
        return {(one.code, one.resource.name, one.status.value): one for one in told}

    return judged


def _address(broker):
    held = BASE["brokers"][broker]["listeners"]["PLAINTEXT"]
    return held.partition("://")[2]


def test_the_running_files_break_nothing(broken):
    found = broken(b1=(f"PLAINTEXT://{_address(1)}", ""))
    assert not {key for key in found if key[0] in {"KA312", "KA301", "KA412"} and key[2] in {"FAIL", "UNKNOWN"}}


def test_a_listener_that_others_use_must_not_go(broken):
    more = "inter.broker.listener.name=INNER\nsasl.enabled.mechanisms=PLAIN\nsasl.mechanism.inter.broker.protocol=PLAIN"
    found = broken(b1=("INNER://b1.example.com:9094", more))
    gone = found["KA312", "broker/1/listener/PLAINTEXT", "FAIL"]
    assert gone.severity.name == "CRITICAL"
    assert "while only broker 1 runs with its new file" in gone.message


def test_a_switch_before_all_offer_the_listener_breaks_on_the_way(broken):
    more = "inter.broker.listener.name=INNER\nsasl.enabled.mechanisms=PLAIN\nsasl.mechanism.inter.broker.protocol=PLAIN"
    change = {f"b{one}": (f"PLAINTEXT://{_address(one)},INNER://b{one}.example.com:9094", more) for one in (0, 1, 2)}
    found = broken(**change)
    assert found["KA312", "broker/0/listener/INNER", "FAIL"].evidence["when"].startswith("while only broker 1 runs")


def test_adding_a_listener_first_breaks_nothing_and_its_address_is_not_known(broken):
    more = "sasl.enabled.mechanisms=PLAIN"
    found = broken(**{f"b{one}": (f"PLAINTEXT://{_address(one)},INNER://b{one}.example.com:9094", more) for one in (0, 1, 2)})
    assert not {key for key in found if key[0] in {"KA312", "KA412"} and key[2] == "FAIL"}
    assert "no vantage has probed it" in found["KA301", "broker/1/listener/INNER", "UNKNOWN"].message
