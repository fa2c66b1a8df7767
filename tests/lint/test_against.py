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

BASE = yaml.load((Path(__file__).parents[1] / "checks" / "base.yaml").read_text(), yaml.CSafeLoader)
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
        findings = [
            finding.finding for file in files.lint_files([str(tmp_path)], rules).files for finding in file.linted_findings
        ]
        return {(judgement.code, judgement.resource.name, judgement.status.value): judgement for judgement in findings}

    return judged


def _address(broker):
    held = BASE["brokers"][broker]["listeners"]["PLAINTEXT"]
    return held.partition("://")[2]


def test_the_running_files_break_nothing(broken):
    found = broken(b1=(f"PLAINTEXT://{_address(1)}", ""))
    assert not {key for key in found if key[0] in {"KA312", "KA301", "KA412"} and key[2] in {"FAIL", "UNKNOWN"}}


def test_the_address_of_another_broker_is_taken(broken):
    found = broken(b1=(f"PLAINTEXT://{_address(0)}", ""))
    assert "Brokers 0 and 1 advertise the same address" in found["KA304", "broker/1/listener/PLAINTEXT", "FAIL"].message


def test_an_address_that_its_broker_leaves_is_free(broken):
    found = broken(b0=("PLAINTEXT://10.0.0.50:9092", ""), b1=(f"PLAINTEXT://{_address(0)}", ""))
    assert not {key for key in found if key[0] == "KA304" and key[2] == "FAIL"}


def test_a_listener_that_others_use_must_not_go(broken):
    more = "inter.broker.listener.name=INNER\nsasl.enabled.mechanisms=PLAIN\nsasl.mechanism.inter.broker.protocol=PLAIN"
    found = broken(b1=("INNER://b1.example.com:9094", more))
    gone = found["KA312", "broker/1/listener/PLAINTEXT", "FAIL"]
    assert gone.severity.name == "CRITICAL"
    assert "while only broker 1 runs with its new file" in gone.message


def test_a_switch_before_all_offer_the_listener_breaks_on_the_way(broken):
    more = "inter.broker.listener.name=INNER\nsasl.enabled.mechanisms=PLAIN\nsasl.mechanism.inter.broker.protocol=PLAIN"
    change = {f"b{broker}": (f"PLAINTEXT://{_address(broker)},INNER://b{broker}.example.com:9094", more) for broker in (0, 1, 2)}
    found = broken(**change)
    assert found["KA312", "broker/0/listener/INNER", "FAIL"].evidence["when"].startswith("while only broker 1 runs")


def test_adding_a_listener_first_breaks_nothing_and_its_address_is_not_known(broken):
    more = "sasl.enabled.mechanisms=PLAIN"
    found = broken(
        **{f"b{broker}": (f"PLAINTEXT://{_address(broker)},INNER://b{broker}.example.com:9094", more) for broker in (0, 1, 2)}
    )
    assert not {key for key in found if key[0] in {"KA312", "KA412"} and key[2] == "FAIL"}
    assert "no vantage has probed it" in found["KA301", "broker/1/listener/INNER", "UNKNOWN"].message


def test_a_listener_that_changes_its_protocol_in_place_breaks_on_the_way(broken):
    """In the end all agree again, and KA312 of a running cluster compares names and kinds, not who reaches whom."""
    more = "listener.security.protocol.map=PLAINTEXT:SSL"
    found = broken(**{f"b{broker}": (f"PLAINTEXT://{_address(broker)}", more) for broker in (0, 1, 2)})
    cut = found["KA312", "broker/1/listener/PLAINTEXT", "FAIL"]
    assert (
        "listener PLAINTEXT is PLAINTEXT there, and broker 0 uses SSL, while only broker 0 runs with its new file" in cut.message
    )
    assert not {key for key in found if key[2] == "FAIL" and "after all brokers" in found[key].message}


LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="kafka" password="p" user_kafka="p";'
TO_SASL = "\n".join(
    (
        "inter.broker.listener.name=INNER",
        "sasl.enabled.mechanisms=PLAIN",
        "sasl.mechanism.inter.broker.protocol=PLAIN",
        f"listener.name.inner.plain.sasl.jaas.config={LOGIN}",
    )
)
BOTH = {broker: {"listeners": {"INNER": f"SASL_PLAINTEXT://b{broker}.example.com:9094"}} for broker in (0, 1, 2)}
AUTHORIZED = {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer", "super.users": "hidden"}


def test_a_right_that_nothing_shows_after_the_change_is_unknown(broken):
    """Every broker accepts its controller now, as another principal than after the change."""
    more = f"{TO_SASL}\nauthorizer.class.name=kafka.security.authorizer.AclAuthorizer\nsuper.users=User:kafka;User:ANONYMOUS"
    now = {"brokers": BOTH, "configs": AUTHORIZED}
    found = broken(now, b1=(f"PLAINTEXT://{_address(1)},INNER://b1.example.com:9094", more))
    unknown = found["KA401", "broker/0", "UNKNOWN"]
    assert "User:kafka" in unknown.evidence["principal"]
    assert "super.users of broker 0 is set but hidden, while only broker 1 runs with its new file" in unknown.message
    assert not {key for key in found if key[0] == "KA401" and key[2] == "FAIL"}


def test_rights_that_the_change_does_not_touch_are_not_asked_again(broken):
    more = "authorizer.class.name=kafka.security.authorizer.AclAuthorizer\nsuper.users=User:ANONYMOUS"
    found = broken({"configs": AUTHORIZED}, b1=(f"PLAINTEXT://{_address(1)}", more))
    assert not {key for key in found if key[0] == "KA401" and key[2] in {"FAIL", "UNKNOWN"} and "broker/1" not in key[1]}


def test_what_views_and_logs_show_now_does_not_excuse_the_change(broken):
    """The controller of the running cluster is let in: what a file denies is as certain as without it."""
    more = "authorizer.class.name=kafka.security.authorizer.AclAuthorizer\nsuper.users=User:admin"
    found = broken(b1=(f"PLAINTEXT://{_address(1)}", more))
    denied = found["KA401", "broker/1", "FAIL"]
    assert (denied.severity.name, denied.confidence.value) == ("CRITICAL", "measured")


def test_a_login_whose_mechanism_nobody_reported_is_unknown(broken):
    now = {"brokers": BOTH, "configs": {"sasl.enabled.mechanisms": "hidden"}}
    found = broken(now, b1=(f"PLAINTEXT://{_address(1)},INNER://b1.example.com:9094", TO_SASL))
    unknown = found["KA412", "broker/0/listener/INNER", "UNKNOWN"]
    assert "broker 1 would log in with PLAIN" in unknown.message
    assert "sasl.enabled.mechanisms" not in unknown.message
    assert "a probe of the listener" in unknown.evidence["needs"]
