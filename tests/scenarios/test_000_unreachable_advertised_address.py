"""Incident 000: brokers advertise an address that clients reach and the controller does not."""

import pytest

from kafka_audit.model.text import LONGEST_HEADLINE
from scenarios.audits import assert_repaired, everything_in, failing, znodes_in

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

KINDS = {"all": [0, 1, 2], "one": [2], "controller": [0]}
ONLY_FILES_AND_LOGS_TELL = {"KA310", "KA311", "KA321", "KA406", "KA413", "KA414", "KA617", "KA618", "KA620", "KA715"}
HEADLINES = {
    (0, 1, 2): "Brokers 0, 1 and 2 are cut off: {}controller 0 cannot reach the addresses they advertise",
    (2,): "Broker 2 is cut off: {}controller 0 cannot reach the address it advertises",
    (0,): "Broker 0 is cut off: {}the controller cannot reach its own advertised address",
}


@pytest.fixture(params=KINDS)
def hidden(request, cluster):
    """The brokers that are hidden from the controller, which is broker 0, for as long as the test does not repair them.

    A topic made after the fault makes the picture perfect: ZooKeeper shows leaders and full ISR for it.
    """
    cluster.make_controller(0)
    ids = KINDS[request.param]
    cluster.advertise_through_forward(ids)
    name = f"after-{request.param}"
    if name not in {path.split("/")[-1] for path in cluster.znodes()}:
        cluster.create_topic(name, {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    yield ids
    cluster.advertise_directly()


HEDGES = {"inferred": "most likely ", "suspected": "possibly "}


def assert_cut_off(report, hidden, *, measured):
    """One incident, which says who cannot reach whom and explains every failure of weight."""
    (incident,) = report["incidents"]
    assert incident["cause"] == "KA302"
    # Without a vantage, a path that drops large packets is ruled out only where a small update must have been sent, too.
    assert incident["confidence"] in ({"measured"} if measured else HEDGES)
    assert incident["severity"] == "CRITICAL"
    left = {candidate["cause"] for candidate in incident["candidates"] if candidate["state"] != "ruled_out"}
    assert left <= {"address", "packets"}
    headline = HEADLINES[tuple(hidden)].format("" if measured else HEDGES[incident["confidence"]])
    if len(headline) > LONGEST_HEADLINE:
        headline = headline.replace("the addresses they advertise", "their addresses")
    assert incident["headline"] == headline
    assert {resource for code, resource in failing(report) if code == "KA302"} == {
        f"broker/{broker}/listener/PLAINTEXT" for broker in hidden
    }
    explained = set(incident["findings"])
    unexplained = [
        finding["code"]
        for finding in report["findings"]
        if finding["status"] == "FAIL" and finding["severity"] in {"HIGH", "CRITICAL"} and finding["fingerprint"] not in explained
    ]
    assert unexplained == []


def test_a_healthy_cluster_is_clean_completely_known_and_untouched(audits, cluster):
    before = everything_in(cluster)
    for name in audits.NAMES:
        audit = audits.by_command(name)
        assert audit.code == 0, audit.said
        assert audit.report["coverage"]["answered"] == audit.report["coverage"]["asked"] > 0
        assert audit.report["coverage"]["unknown"] == []
        unknown = {finding["code"] for finding in audit.report["findings"] if finding["status"] == "UNKNOWN"}
        # Without a vantage there nobody can tell whether brokers reach each other.
        assert unknown == ONLY_FILES_AND_LOGS_TELL | ({"KA302"} if name == "far" else set())
        assert failing(audit.report, at_least="HIGH") == set()
        assert audit.report["incidents"] == []
    assert everything_in(cluster) == before


def test_the_command_names_the_cause_and_its_end(audits, cluster, hidden):
    before = znodes_in(cluster)
    for name in audits.NAMES:
        audit = audits.by_command(name)
        assert audit.code == 3, audit.said
        assert_cut_off(audit.report, hidden, measured=name == "near")
        assert audit.report["incidents"][0]["headline"] in " ".join(audit.stdout.split())  # it may be wrapped
    assert znodes_in(cluster) == before

    cluster.advertise_directly(hidden)
    for name in audits.NAMES:
        audit = audits.by_command(name)
        assert audit.code == 0, audit.said
        assert_repaired(audit.report, "KA302")


@pytest.mark.airflow
def test_the_gate_of_the_dag_fails_with_the_cause_and_passes_after_the_repair(audits, cluster, hidden):
    broken = audits.by_dag("near", "broken.log")
    assert broken.code == 1, broken.tail
    assert_cut_off(broken.report, hidden, measured=True)
    assert f"near: {broken.report['incidents'][0]['headline']}" in broken.said

    cluster.advertise_directly(hidden)
    repaired = audits.by_dag("near", "repaired.log")
    assert repaired.code == 0, repaired.tail
    assert_repaired(repaired.report, "KA302")


@pytest.mark.parametrize("hidden", ["one"], indirect=True)
def test_a_listener_of_their_own_repairs_it_too(audits, cluster, hidden):
    """The clients' address stays unreachable for brokers, which now is nobody's business."""
    assert audits.by_command("near").code == 3
    own = {broker: started.host.address for broker, started in cluster.brokers.items()}
    seen = {broker: cluster.forward_address(broker) if broker in hidden else address for broker, address in own.items()}
    cluster.restart_brokers(
        {
            broker: {
                "listeners": f"INTERNAL://{address}:9094,PLAINTEXT://{address}:9092",
                "advertised.listeners": f"INTERNAL://{address}:9094,PLAINTEXT://{seen[broker]}:9092",
                "listener.security.protocol.map": "INTERNAL:PLAINTEXT,PLAINTEXT:PLAINTEXT",
                "inter.broker.listener.name": "INTERNAL",
            }
            for broker, address in own.items()
        }
    )
    cluster.await_settled()
    try:
        audit = audits.by_command("near")
        assert audit.code == 0, audit.said
        assert_repaired(audit.report, "KA302")
    finally:
        cluster.restart_brokers(
            {
                broker: {
                    "listeners": f"PLAINTEXT://{address}:9092",
                    "advertised.listeners": f"PLAINTEXT://{address}:9092",
                    "listener.security.protocol.map": None,
                    "inter.broker.listener.name": None,
                }
                for broker, address in own.items()
            }
        )
        cluster.await_settled()
