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
    "compare.broker_lists": {
        *("cluster/disagreements.py", "collect/sampling/sample_differences.py", "diagnosis/listed_brokers.py"),
    },
    # Which servers a connect string names, and whether two lead to the same data.
    "compare.connect_strings": {
        *("checks/configuration/zookeeper_chroot_wrong.py", "clients/targets.py", "collect/zookeeper/zookeeper_view.py"),
        *("collect/zookeeper/unregistered_brokers.py", "diagnosis/causes/another_zookeeper.py", "diagnosis/edges.py"),
        "lint/members.py",
    },
    # Whether another broker answers than the one that is meant, and which addresses of a name lead nowhere.
    "model.addresses.name_addresses": {
        *("cluster/listeners/name_addresses.py", "collect/sampling/sample_differences.py", "diagnosis/identities.py"),
    },
    # Whether a view differs, lastingly: edges, and the watch, which has no job.
    "cluster.disagreements": {"cluster/view.py", "diagnosis/edges.py", "watch/judgement.py", "watch/seen_cluster.py"},
    # What each party lists of each broker, cell by cell.
    "diagnosis.listed_brokers": {"report/parties/matrix.py"},
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
    # Whether a principal of brokers may act: the same two, and two checks.
    "diagnosis.rights": {"checks/security/cluster_action.py", "diagnosis/facts.py", "migration/half_rolled.py"},
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
        *("diagnosis/edge_states.py", "migration/reachability.py", "what_if/answer.py"),
    },
    # The letters of the matrix.
    "diagnosis.edge_states": {"report/parties/matrix.py"},
}
"""The homes of the answers, and all modules that import each."""


def imported(tree):
    """Yield what a module imports of the package, as `room.module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kafka_audit"):
            module = (node.module or "").removeprefix("kafka_audit").removeprefix(".")
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


FACTS = {
    # Who answers at an address.
    "answered_by": {
        *("checks/listeners/address_of_name_fails.py", "checks/listeners/mappings_share_address.py"),
        *("checks/metadata/endpoint_answered_by_other.py", "cluster/answers/reads.py", "cluster/broker_lists.py"),
        *("cluster/listeners/name_addresses.py", "collect/brokers/leader_reads.py", "collect/sampling/sample_differences.py"),
        *("collect/zookeeper/migration.py", "collect/zookeeper/unregistered_brokers.py", "diagnosis/edges.py"),
        *("diagnosis/identities.py", "migration/reachability.py", "model/addresses/name_addresses.py"),
    },
    # Whom a view names as the controller.
    "controller_id": {
        *("checks/controller/controller_absent.py", "checks/controller/controller_disagreement.py"),
        *("checks/controller/controller_flaps.py", "cluster/changes.py", "cluster/disagreements.py", "cluster/quorum.py"),
        *("cluster/registry.py", "collect/brokers/broker_view.py", "collect/brokers/views.py"),
        *("collect/sampling/sample_differences.py", "diagnosis/edges.py", "diagnosis/kraft_claim.py"),
        *(
            "report/parties/views.py",
            "watch/listings.py",
            "watch/judgement.py",
            "watch/picture.py",
            "watch/reader.py",
            "watch/seen_cluster.py",
        ),
    },
    # Whom an answer names as the leader of the quorum.
    "leader_id": {
        *("checks/controller/broker_lags_quorum.py", "checks/controller/controller_absent.py"),
        *("checks/controller/controller_disagreement.py", "checks/controller/voters_down.py"),
        *("checks/controller/voters_not_configured.py", "cluster/quorum.py", "collect/brokers/leader_reads.py"),
        *("collect/brokers/quorum.py", "collect/sampling/quorum_differences.py", "diagnosis/edge_states.py"),
        *("diagnosis/edges.py", "diagnosis/vote_edges.py", "migration/quorum/facts.py", "migration/rolling_upgrade.py"),
        *("model/quorum.py", "report/parties/quorum.py", "watch/judgement.py", "watch/picture.py", "watch/reader.py"),
    },
    # How many brokers a view lists, and which list it is.
    "brokers_listed": {
        *("cluster/answers/observers.py", "cluster/broker_lists.py", "cluster/disagreements.py"),
        *("cluster/given.py", "cluster/quorum.py", "collect/brokers/broker_view.py", "diagnosis/edges.py"),
        *("diagnosis/kraft_claim.py", "report/parties/views.py"),
    },
    "brokers_digest": {
        *("checks/replication/single_broker.py", "cluster/broker_lists.py", "cluster/disagreements.py", "cluster/view.py"),
        *("cluster/listeners/endpoints.py", "collect/brokers/broker_view.py"),
        *(
            "collect/brokers/listener_names.py",
            "collect/sampling/doubts.py",
            "collect/sampling/sample_differences.py",
            "collect/snapshot.py",
        ),
        *("diagnosis/listed_brokers.py", "report/parties/views.py"),
    },
    # How long a replica of the quorum is behind.
    "last_caught_up_ms": {"cluster/quorum.py", "model/quorum.py"},
    # Whether a line of a log counts.
    "since_start": {
        *("checks/controller/requests_refused.py", "checks/own_logs.py", "checks/zookeeper/session_replaced.py"),
        *("cluster/answers/log_lines.py", "collect/logs/rows.py", "incidents/causes/log_quotes.py"),
    },
}
"""The modules that read a column on which such an answer rests, in all rooms: one that is not here would be a second home."""


@pytest.fixture(scope="module")
def imports():
    return {path.relative_to(ROOT).as_posix(): {*imported(ast.parse(path.read_text("utf-8")))} for path in ROOT.rglob("*.py")}


@pytest.mark.parametrize("home", READERS)
def test_a_question_has_one_home_and_these_readers(imports, home):
    assert (ROOT / f"{home.replace('.', '/')}.py").is_file()
    assert {path for path, found in imports.items() if home in found} == READERS[home]


def columns_read(source):
    """Return the attributes that a module reads: columns of rows among them."""
    loads = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute))
    return {node.attr for node in loads if isinstance(node.ctx, ast.Load)}


def test_no_other_module_reads_a_fact_of_which_a_home_makes_an_answer():
    found = {path.relative_to(ROOT).as_posix(): columns_read(path.read_text("utf-8")) for path in ROOT.rglob("*.py")}
    assert {column: {path for path, columns in found.items() if column in columns} for column in FACTS} == FACTS


def test_a_second_home_is_seen_by_the_column_that_it_reads():
    assert "answered_by" in columns_read("wrong = [row for row in view.newest(Probe) if row.answered_by != row.broker_id]")
    assert "answered_by" not in columns_read("probe = Probe(answered_by=None)")


def test_an_import_is_seen_in_either_form():
    tree = ast.parse("from kafka_audit.diagnosis import paths\nfrom kafka_audit.compare.addresses import same_host")
    assert {"diagnosis.paths", "compare.addresses"} <= {*imported(tree)}
