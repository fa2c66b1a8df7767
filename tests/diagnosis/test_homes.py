"""Which modules answer a question about edges, and which ask them: where no other one reads its facts, none has a second answer.

The list of "one answer in two places", question by question. Who reads probes and views is in `test_readers.py`, and in
`tests/incidents/test_judgements_are_read.py`; who compares hosts in `tests/compare/test_broker_lists.py`, and chroots in
`tests/compare/test_connect_strings.py`; that the page contradicts no finding in `test_one_answer.py`.
"""

import ast
from pathlib import Path

import pytest

import kafka_audit

ROOT = Path(kafka_audit.__file__).parent

READERS = {
    # Whether two lists of brokers differ: the model of the cluster, and sampling, which decides before there is a model.
    "compare.broker_lists": {"cluster/disagreements.py", "collect/sampling/sample_differences.py", "report/matrix.py"},
    # Whether two connect strings lead to the same data.
    "compare.connect_strings": {
        *("checks/configuration/zookeeper_chroot_wrong.py", "diagnosis/causes/another_zookeeper.py", "lint/members.py"),
    },
    # Whether a view differs, lastingly: edges, and the watch, which has no job.
    "cluster.disagreements": {"cluster/view.py", "diagnosis/edges.py", "watch/observe.py", "watch/seen_cluster.py"},
    # How far probes get: what the model itself is made of, and no reader of it.
    "cluster.listeners.probes": {
        *("cluster/view.py", "cluster/listeners/replication_listeners.py"),
        *("diagnosis/cause.py", "diagnosis/paths.py", "diagnosis/serve_edges.py"),
    },
    # Whether brokers' hosts reach an address.
    "diagnosis.paths": {"diagnosis/facts.py"},
    # Why a login of brokers fails, by their settings: what runs, and what would run in the middle of a roll.
    "diagnosis.login_faults": {
        *("checks/security/inter_broker_login_fails.py", "diagnosis/facts.py", "migration/half_rolled.py"),
    },
    # Whether a principal of brokers may act: the same two, and the words of two checks.
    "diagnosis.rights": {
        *("checks/security/cluster_action.py", "checks/security/refusal_evidence.py"),
        *("diagnosis/facts.py", "migration/half_rolled.py"),
    },
    # Whom a controller lets in, by its file.
    "diagnosis.controller_access": {
        *("checks/configuration/controller_login_fails.py", "checks/configuration/controller_rights_missing.py"),
        "diagnosis/vote_edges.py",
    },
    # Whether the rest of the voters elects a leader.
    "diagnosis.elections": {"checks/controller/next_election_fails.py", "diagnosis/vote_edges.py", "what_if/quorums.py"},
    # Who answers at an endpoint.
    "diagnosis.identities": {
        *("checks/listeners/brokers_answer_in_turn.py", "checks/metadata/endpoint_answered_by_other.py"),
        *("diagnosis/edge_states.py", "migration/reachability.py"),
    },
    # The letters of the matrix.
    "diagnosis.edge_states": {"report/matrix.py"},
}
"""The homes of the answers, and all modules that import each."""


def imported(tree):
    """Yield what a module imports of the package, as `room.module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kafka_audit"):
            module = (node.module or "").removeprefix("kafka_audit").removeprefix(".")
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.fixture(scope="module")
def imports():
    return {path.relative_to(ROOT).as_posix(): {*imported(ast.parse(path.read_text("utf-8")))} for path in ROOT.rglob("*.py")}


@pytest.mark.parametrize("home", READERS)
def test_a_question_has_one_home_and_these_readers(imports, home):
    assert (ROOT / f"{home.replace('.', '/')}.py").is_file()
    assert {path for path, found in imports.items() if home in found} == READERS[home]


def test_an_import_is_seen_in_either_form():
    tree = ast.parse("from kafka_audit.diagnosis import paths\nfrom kafka_audit.compare.hosts import same_host")
    assert {"diagnosis.paths", "compare.hosts"} <= {*imported(tree)}
