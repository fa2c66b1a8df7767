"""The gate before a change and the comparison after it, under the scheduler, with a person who approves and one who does not."""

import json
from pathlib import Path

import pytest

from scenarios.loopback_cluster import LoopbackCluster, airflow_over
from scenarios.scheduled import Scheduled

pytestmark = [pytest.mark.airflow, pytest.mark.scenario]
BEFORE, AFTER = "kafka_audit_before_migration", "kafka_audit_after_migration"
UPGRADE = {"cluster": "prod", "kind": "rolling-upgrade"}


@pytest.fixture
def cluster():
    found = LoopbackCluster()
    yield found
    found.close()


def test_a_person_approves_or_rejects_and_the_baseline_is_compared_with(cluster, tmp_path):
    home = airflow_over(cluster, tmp_path, {})
    store = Path(home.environment["KAFKA_AUDIT_STORE"])
    with Scheduled(home) as server:
        server.unpause(BEFORE, AFTER)

        rejected = server.trigger(BEFORE, **UPGRADE)
        asked = server.answer(rejected, "approve", "Reject")
        assert asked["subject"].startswith("GO for prod, rolling upgrade: nothing of severity HIGH or above")
        assert asked["defaults"] == ["Reject"]
        assert server.ended(rejected) == "success"
        assert server.states(rejected)["keep"] == "skipped"
        assert not (store / "baselines").exists()

        approved = server.trigger(BEFORE, **UPGRADE)
        server.answer(approved, "approve", "Approve")
        assert server.ended(approved) == "success"
        (baseline,) = (store / "baselines").iterdir()
        assert json.loads(baseline.read_text())["verdict"] == "go"

        assert server.run(AFTER, cluster="prod") == "success"

        cluster.only(0, 2)
        broken = server.trigger(BEFORE, **UPGRADE)
        assert server.ended(broken) == "failed"
        assert server.states(broken)["decide"] == "failed"
        compared = server.trigger(AFTER, cluster="prod")
        assert server.ended(compared) == "failed"
        assert server.states(compared)["differ"] == "failed"
