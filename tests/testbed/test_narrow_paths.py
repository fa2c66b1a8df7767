"""A path that loses large packets without a word: what both ends notice of it, on a real network, without any Kafka."""

import sys
from pathlib import Path

import pytest

from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.targets import Target
from kafka_audit.collect.probes import command_vantages
from kafka_audit.model.cluster import Cluster
from testbed import Bed

pytestmark = pytest.mark.bed

PORT = 9092
TESTS = Path(__file__).parents[1]
BROKER = """
import sys, time
sys.path[:0] = sys.argv[3:]
from collect.fakes import FakeBroker, server
broker = FakeBroker(0)
broker.configs |= {f"key.{number}": ("x" * 50, False) for number in range(200)}
broker.may_describe_configs = sys.argv[2] == "all"
with server(broker, host=sys.argv[1], port=9092):
    print("ready", flush=True)
    time.sleep(1e6)
"""


@pytest.fixture(scope="module")
def bed(tmp_path_factory):
    with Bed(tmp_path_factory.mktemp("bed")) as bed:
        yield bed


@pytest.fixture(scope="module", params=["all", "versions alone"])
def hosts(bed, request):
    number = 120 if request.param == "all" else 125
    source, target = (bed.hosts.add(f"{name}-{number}", f"10.99.0.{number + at}") for at, name in enumerate(("near", "far")))
    paths = [str(TESTS), str(TESTS.parent / "plugins"), str(TESTS.parent)]
    bed.stay(target, [sys.executable, "-c", BROKER, target.address, request.param, *paths])
    return source, target, request.param == "all"


def probed(source, target):
    """Return what the last layer says, from a vantage with python3."""
    end = Target(broker_id=0, listener="L", protocol="PLAINTEXT", host=target.address, port=PORT, via=None)
    script = command_vantages.python_text([end], 10.0, ClusterLogins(Cluster(name="none"), {}))
    output = source.run(["python3", "-"], input=script, cwd="/").stdout
    steps = command_vantages.parse_probe_output(output, [end])[0]
    assert {"tcp", "api"} <= {step.layer for step in steps if step.outcome == "ok"}
    return [(step.outcome, step.error) for step in steps if step.layer == "packets"]


def test_large_requests_get_lost_and_arrive_again(bed, hosts):
    source, target, _ = hosts
    assert probed(source, target) == [("ok", None)]
    bed.narrow(source, target)
    try:
        assert probed(source, target) == [("failed", "timeout")]
    finally:
        bed.heal(source, target)
    assert probed(source, target) == [("ok", None)]


def test_large_answers_get_lost_where_they_may_be_asked_for(bed, hosts):
    source, target, large = hosts
    bed.narrow(target, source)
    try:
        assert probed(source, target) == [("failed", "timeout") if large else ("ok", None)]
    finally:
        bed.heal(target, source)
    assert probed(source, target) == [("ok", None)]
