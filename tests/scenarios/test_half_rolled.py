"""A new listener between real brokers: the order of the gate keeps every replica in sync; a roll without an order does not."""

import pytest
import yaml

from scenarios import beds
from scenarios.gates import gate_of
from testbed.servers import merged
from testbed.upgrades import await_replicas

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test
BROKERS = range(3)


def added(broker, name, port):
    """Return the settings that add a listener to those of a broker."""
    now, own = broker.server.properties, f"{name}://{broker.host.address}:{port}"
    protocols = now.get("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT")
    return {
        "listeners": f"{now['listeners']},{own}",
        "advertised.listeners": f"{now['advertised.listeners']},{own}",
        "listener.security.protocol.map": f"{protocols},{name}:PLAINTEXT",
    }


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
def test_the_order_of_the_gate_and_a_roll_that_has_none(bed, tmp_path, version):
    cluster = bed.cluster(version) if version == "3.9.1" else bed.kraft(version, controllers=1)
    cluster.create_topic("orders", {number: [(number + step) % 3 for step in BROKERS] for number in BROKERS})
    cluster.await_settled()
    entry = yaml.safe_load(cluster.clusters_yaml("prod"))["clusters"]["prod"] | {"limits": {"settle_s": 1}}

    def gate(folder, changes):
        (tmp_path / folder).mkdir()
        for number, change in changes.items():
            lines = merged(cluster.brokers[number].server.properties, change)
            (tmp_path / folder / f"{number}.properties").write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        options = ["--kind", "listeners-or-security", "--kafka-version", version, "--proposed", str(tmp_path / folder)]
        return gate_of(bed, tmp_path)("before-migration", entry, *options).report

    use = {"inter.broker.listener.name": "INNER"}
    first = {number: added(cluster.brokers[number], "INNER", 9094) | (use if number == 0 else {}) for number in BROKERS}
    report = gate("first", first)
    assert report["half_rolled"]["order"] == [1, 2, 0]
    assert not [item for item in report["blockers"] if item["source"] == "half-rolled states"]
    for number in report["half_rolled"]["order"]:
        cluster.brokers[number].restart(first[number])
        cluster.await_settled()
        assert await_replicas(cluster) is None

    use = {"inter.broker.listener.name": "OUTER"}
    second = {number: added(cluster.brokers[number], "OUTER", 9095) | use for number in BROKERS}
    report = gate("second", second)
    assert report["half_rolled"]["order"] is None
    assert report["verdict"] == "no-go"
    cluster.brokers[1].restart(second[1])
    assert "not in sync" in (await_replicas(cluster) or "")
