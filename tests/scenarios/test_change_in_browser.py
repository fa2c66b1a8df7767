"""The gate before a change as people meet it: its form, its report, its question, and who may answer; and the comparison after.

Pictures of every state stay in KAFKA_AUDIT_SCREENSHOTS, where that names a folder.
"""

import json
from pathlib import Path

import pytest

from scenarios import beds, browser
from scenarios.loopback_cluster import airflow_over
from scenarios.scheduled import Scheduled

pytestmark = [pytest.mark.airflow, pytest.mark.scenario]
cluster = beds.on_loopback
BEFORE, AFTER = "kafka_audit_before_migration", "kafka_audit_after_migration"
UPGRADE = {"cluster": "prod", "kind": "rolling upgrade"}


def test_a_person_rejects_and_approves_and_the_baseline_is_compared_with(cluster, tmp_path):
    home = airflow_over(cluster, tmp_path, {})
    store, folder = Path(home.environment["KAFKA_AUDIT_STORE"]), browser.folder(tmp_path)
    with Scheduled(home) as server, browser.chromium() as chromium:
        server.unpause(BEFORE, AFTER)
        admin, viewer = (browser.someone(chromium, server.url, name) for name in ("admin", "viewer"))

        rejected = browser.trigger(admin, server.url, BEFORE, folder, **UPGRADE)
        asked = server.question(BEFORE, rejected, "approve")
        assert asked["subject"].startswith("GO for prod, rolling upgrade: no failure of severity HIGH or above")
        assert asked["defaults"] == ["Reject"]
        assert browser.answer(viewer, server.url, rejected, "Approve") == 403
        assert browser.answer(admin, server.url, rejected, "Reject", folder) == 200
        assert server.ended(BEFORE, rejected) == "success"
        assert server.states(BEFORE, rejected)["keep"] == "skipped"
        assert not (store / "baselines").exists()

        assert browser.may_trigger(viewer, server.url, BEFORE, **UPGRADE) == 403
        approved = browser.trigger(admin, server.url, BEFORE, **UPGRADE)
        server.question(BEFORE, approved, "approve")
        assert browser.answer(admin, server.url, approved, "Approve") == 200
        assert server.ended(BEFORE, approved) == "success"
        (baseline,) = (store / "baselines").iterdir()
        assert json.loads(baseline.read_text())["verdict"] == "go"
        tab = browser.run_tab(viewer, server.url, BEFORE, approved)
        assert "Approved: this snapshot is the baseline" in tab.locator("main").inner_text()
        browser.states(viewer, "approved", folder)

        assert server.run(AFTER, cluster="prod") == "success"

        cluster.only(0, 2)
        broken = browser.trigger(admin, server.url, BEFORE, **UPGRADE)
        assert server.ended(BEFORE, broken) == "failed"
        assert server.states(BEFORE, broken)["decide"] == "failed"
        tab = browser.run_tab(viewer, server.url, BEFORE, broken)
        assert tab.locator(".chip.solid").inner_text() == "NO-GO"
        assert "Blockers" in tab.locator("h2").first.inner_text()
        browser.states(viewer, "no-go", folder)
        compared = server.trigger(AFTER, cluster="prod")
        assert server.ended(AFTER, compared) == "failed"
        assert server.states(AFTER, compared)["differ"] == "failed"
        tab = browser.run_tab(viewer, server.url, AFTER, compared)
        assert tab.locator(".chip.solid").inner_text() == "NOT AS EXPECTED"
        browser.states(viewer, "not-as-meant", folder)
