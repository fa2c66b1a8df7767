"""Replicas that are copied cost nothing but KA604: what else fails above INFO fails at rest, too."""

import pytest

from checks.cases import base
from checks.test_cases import findings_of
from checks.world import snapshots
from cluster_views import cluster_views
from incidents.case_files import case_files, judged_case
from kafka_audit.checks.run import judge
from kafka_audit.model.finding import Severity, Status

QUIET = [name for (family, name), case in case_files().items() if family == "in_progress" and case["incidents"] == []]


def at_rest(world):
    """Return a world after the copying: all replicas are in sync."""
    topics = {
        topic: held | {"partitions": {n: {k: v for k, v in p.items() if k != "isr"} for n, p in held["partitions"].items()}}
        for topic, held in world.get("topics", {}).items()
    }
    return world | {"topics": topics, "reassigning": []}


def alarms(findings):
    failed = (finding for finding in findings if finding.status is Status.FAIL and finding.severity > Severity.INFO)
    return {(finding.code, finding.resource.name) for finding in failed}


@pytest.fixture(scope="module")
def resting():
    pairs = {}
    for name in QUIET:
        case = case_files()["in_progress", name]
        rest = {part: at_rest(case[part]) for part in ("now", "previous") if part in case}
        pairs[name] = snapshots(base(), name, case | rest)
    return cluster_views(pairs)


@pytest.mark.parametrize("name", QUIET)
def test_what_fails_while_replicas_are_copied_fails_at_rest_too(resting, name):
    found = alarms(judged_case("in_progress", name).findings)
    assert {one for one in found - alarms(findings_of(resting[name], judge(resting[name]))) if one[0] != "KA604"} == set()
