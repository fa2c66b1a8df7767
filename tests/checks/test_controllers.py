"""Nodes that have the controller role alone: whatever is known of their files, no check judges them as brokers."""

from checks.cases import base, cases
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge

QUORUM = {"KA213", "KA215"}
"""Checks of the quorum, which read the files of all its nodes."""


def test_files_of_controllers_change_no_judgement_of_brokers():
    case = cases("KA401")["controllers_that_brokers_log_in_to"]
    files = case["now"]["properties"]
    without = case | {"now": case["now"] | {"properties": {node: file for node, file in files.items() if node < 200}}}
    views = cluster_views({name: snapshots(base(), name, world) for name, world in (("with", case), ("without", without))})
    assert views["with"].settings.controllers == {200, 201, 202}
    judged = {name: [one for one in judge(view, catalogue()) if one.code not in QUORUM] for name, view in views.items()}
    told = {
        name: {(one.code, one.resource, one.status) for one in found if not one.resource.startswith("controller/")}
        for name, found in judged.items()
    }
    assert told["with"] == told["without"]
