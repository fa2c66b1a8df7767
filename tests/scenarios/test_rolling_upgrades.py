"""Pairs of releases on real brokers: the gate says go where Kafka runs, and no-go where it does not."""

from pathlib import Path

import pytest
import yaml

from scenarios import beds
from scenarios.gates import gate_of
from testbed.upgrades import upgraded

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test
TABLE = Path(__file__).parents[1] / "migration" / "upgrade_pairs.yaml"
PAIRS = yaml.safe_load(TABLE.read_text())
OWN = frozenset({"KA912", "KA913", "KA914", "KA915"})


def started(bed, pair):
    options = {"properties": pair.get("properties")}
    if pair["mode"] == "zookeeper":
        return bed.cluster(pair["from"], pair["brokers"], **options)
    options["metadata_release"] = pair.get("metadata")
    return bed.kraft(pair["from"], pair["brokers"], controllers=pair.get("controllers", 0), **options)


def release(pair):
    return pair["to"].rpartition(".")[0]


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if "kafka" in pair])
def test_the_verdict_is_what_kafka_does(bed, tmp_path, name):
    pair = PAIRS[name]
    cluster = started(bed, pair)
    brokers = range(pair["brokers"])
    cluster.create_topic("orders", {number: [(number + step) % len(brokers) for step in brokers] for number in brokers})
    cluster.await_settled()

    entry = yaml.safe_load(cluster.clusters_yaml("prod"))["clusters"]["prod"]
    entry |= {"limits": {"settle_s": 1}}
    client = ["--oldest-client", pair["client"]] if "client" in pair else []
    gate = gate_of(bed, tmp_path)
    before = gate("before-migration", entry, "--kind", "rolling-upgrade", "--kafka-version", pair["to"], *client)
    # The audit has a word on clusters of one broker; here the rules of upgrades are asked alone.
    codes = {
        heading: {item["code"]: item["message"] for item in before.report[heading] if item["source"] == "gate"}
        for heading in ("blockers", "not_known")
    }
    verdict = "no-go" if codes["blockers"] else "not decided" if codes["not_known"] else "go"
    refusal = upgraded(cluster, pair["to"])
    assert ("refuses" if refusal else "runs") == pair["kafka"], refusal
    assert pair.get("says", "") in (refusal or "")
    assert (verdict, sorted(codes["blockers"])) == (pair["verdict"], pair.get("codes", [])), codes
    if refusal is None:
        after = gate("after-migration", entry)
        became = {prediction["text"]: prediction["outcome"] for prediction in after.report["predictions"]}
        assert {became[f"Broker {broker} runs Kafka {release(pair)}"] for broker in brokers} <= {"held", "not known"}, became
        assert "not held" not in became.values(), after.report["predictions"]
        assert after.report["not_done"] == [], after.report
