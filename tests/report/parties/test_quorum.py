"""The quorum of KRaft on page and terminal: its line, and controllers as rows and columns of the matrix."""

import pytest
from jsonschema import Draft202012Validator

import hostile
import small_cluster
from checks.cases import base
from checks.world import merged, snapshots
from cluster_views import cluster_view, cluster_views
from kafka_audit.model.report import Matrix, QuorumState, report_json
from kafka_audit.report import formats
from kafka_audit.report.document import build_report
from kafka_audit.report.html import picture
from kafka_audit.report.parties import matrix
from kafka_audit.report.parties.quorum import build_quorum, quorum_text
from kafka_audit.report.plain_text.terminal import terminal_report
from kafka_audit.report.schema import findings_schema
from reported import part_of, report_of

VOTERS = {
    "controller.quorum.voters": "200@c1:9093,201@c2:9093,202@C3:9093",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
}
PLACES = {"c1:9093": {"node": 200}, "c2:9093": {}, "c3:9093": {}}
ALL = {"c1:9093": {}, "c2:9093": {}, "c3:9093": {}}
KRAFT = {
    "info": {"mode": "kraft"},
    "zookeeper": "none",
    "quorum": {
        "leader": 200,
        "epoch": 7,
        "high_watermark": 9000,
        "voters": {200: 0, 201: 0, 202: 0},
        "observers": {0: 0, 1: 0, 2: 0},
    },
    "controllers": PLACES,
    "controllers_from": {0: ALL, 1: ALL, 2: ALL},
    "configs": VOTERS,
}
TIMEOUT = {"layer": "tcp", "outcome": "failed", "error": "timeout"}
BOTH_ROLES = {
    "quorum": {"leader": 1, "voters": {200: "absent", 201: "absent", 202: "absent", 0: 0, 1: 0, 2: 0}},
    "configs": {"controller.quorum.voters": "0@c1:9093,1@c2:9093,2@c3:9093"},
    "controllers": {"c1:9093": {"node": "absent"}},
}


def view(now=(), before=()):
    case = {"now": merged(KRAFT, dict(now)), "before": dict(before)}
    return cluster_view(snapshots(base(), "one", case)[0])


def document(held):
    return report_json(build_report(held, None, (), (), (), None))


def cells(drawn):
    columns = [f"{'ctl ' * (not one.broker)}{one.node}" for one in matrix.matrix_columns(part_of(Matrix, drawn))]
    return columns, {row.name: matrix.worst_cells(row) for row in matrix.matrix_rows(part_of(Matrix, drawn))}


def test_controllers_are_rows_and_columns():
    columns, rows = cells(report_json(matrix.build_matrix(view())))
    assert columns == ["0", "1", "2", "ctl 200", "ctl 201", "ctl 202"]
    assert rows == {
        **dict.fromkeys(("broker 0", "broker 1", "broker 2", "worker"), "......"),
        **dict.fromkeys(("controller 201", "controller 202"), "---.--"),
    }


def test_a_controller_that_is_not_reached_has_a_letter_where_it_was_tried_from():
    now = {"controllers": {"c3:9093": TIMEOUT}, "controllers_from": {2: {"c3:9093": TIMEOUT}}}
    held = view(now)
    drawn = report_json(matrix.build_matrix(held))
    assert {name: line[3:] for name, line in cells(drawn)[1].items() if "T" in line} == {"broker 2": "..T", "worker": "..T"}
    assert matrix.in_words(part_of(Matrix, drawn)) == [("T", "broker 2, worker: cannot connect to controller 202 (tcp).")]
    assert "ctl 202" in terminal_report(report_of(document(held)), width=100, color=False), "there is no incident"
    assert "ctl" not in terminal_report(report_of(document(view())), width=100, color=False), (
        "where all agree there is no picture"
    )
    (why,) = drawn["why"]
    assert (why["observers"], why["brokers"], why["controllers"]) == (["worker", "broker 2"], [], [202])


def test_an_address_whose_id_nobody_says_is_a_column_of_its_own_and_voters_are_not_there_twice():
    named = "200@other:9093,201@other:9094,202@other:9095"
    columns, rows = cells(report_json(matrix.build_matrix(view({"configs": {"controller.quorum.voters": named}}))))
    assert columns[3:] == ["ctl 200", "ctl c2:9093", "ctl c3:9093"]
    assert (rows["worker"], rows["controller 201"]) == ("......", "---.--")


def test_voters_that_nobody_probed_have_columns_that_say_so():
    columns, rows = cells(report_json(matrix.build_matrix(view({"controllers": "none", "controllers_from": "none"}))))
    assert columns[3:] == ["ctl 200", "ctl 201", "ctl 202"]
    assert (rows["broker 0"], rows["worker"]) == ("....--", "...---")


def test_hosts_of_controllers_have_what_they_reach_in_their_rows():
    now = {"voters": {201: {200: {}, 202: TIMEOUT}}, "quorum": {"addresses": {200: "c1:9093", 201: "c2:9093", 202: "c3:9093"}}}
    rows = cells(report_json(matrix.build_matrix(view(now))))[1]
    assert (rows["controller 201"], rows["controller 202"]) == ("---.-T", "---.--")


def test_a_vantage_that_is_on_another_host_is_a_question():
    """From the leader, which the vantage does not reach, the broker fetches."""
    none = {"controllers_from": {2: dict.fromkeys(ALL, TIMEOUT)}}
    elsewhere, lags = (report_json(matrix.build_matrix(view(none | now))) for now in ({}, {"quorum": {"observers": {2: 40}}}))
    assert [cells(drawn)[1]["broker 2"][3:] for drawn in (elsewhere, lags)] == ["???", "TTT"]


@pytest.mark.parametrize("node", [2, 201])
def test_who_is_behind_the_leader_in_two_samples_does_not_follow_it_and_in_one_is_a_question(node):
    behind = {"quorum": {"voters" if node > 2 else "observers": {node: 40}}}
    name = f"{'controller' if node > 2 else 'broker'} {node}"
    lasting, once = (report_json(matrix.build_matrix(view(behind, before))) for before in ({}, KRAFT))
    assert [cells(drawn)[1][name][3] for drawn in (lasting, once)] == ["E", "?"]
    assert matrix.in_words(part_of(Matrix, lasting)) == [("E", f"{name}: not caught up with controller 200 (effect).")]
    text = f"node {node} is behind leader 200 (caught up 40 s ago)"
    assert [why["text"] for why in lasting["why"]] == [f"effect: {text}"]
    assert [why["text"] for why in once["why"]] == [f"{text}, in only one sample"]


def test_a_node_with_both_roles_has_one_row_and_one_column():
    drawn = report_json(matrix.build_matrix(view(BOTH_ROLES)))
    columns, rows = cells(drawn)
    assert (columns, rows) == (["0", "1", "2"], dict.fromkeys(("broker 0", "broker 1", "broker 2", "worker"), "..."))
    text = matrix.matrix_lines(part_of(Matrix, drawn), 100)
    assert [line.split("  ")[0] for line in text[1:4]] == ["broker 0 (ctl)", "broker 1 (ctl)", "broker 2 (ctl)"]
    assert [head.note for head in picture.build_picture(part_of(Matrix, drawn)).columns] == ["controller"] * 3


def test_of_two_roles_the_listener_that_is_not_reached_is_named():
    drawn = report_json(matrix.build_matrix(view(merged(BOTH_ROLES, {"controllers": {"c3:9093": TIMEOUT}}))))
    (worker,) = (row for row in drawn["observers"] if row["name"] == "worker")
    assert (worker["reach"], worker["quorum"]) == ("...", "..T")
    assert cells(drawn)[1]["worker"] == "..T"
    assert matrix.in_words(part_of(Matrix, drawn)) == [("T", "worker: cannot connect to controller 2 (tcp).")]
    assert drawn["why"][0]["text"] == "tcp: controller listener: timeout"
    shown = [picture.build_picture(part_of(Matrix, drawn), mode=mode).rows for mode in picture.MODES]
    worst, reach, sees = ({head.name: row for head, row in rows}["worker"] for rows in shown)
    assert [row[2].letter for row in (worst, reach, sees)] == ["T", "T", "-"]
    assert worst[2].says == "controller listener: timeout"


def test_with_zookeeper_there_is_no_quorum():
    told = document(small_cluster.view({"brokers": {0: "a:9092"}}))
    assert (told["quorum"], told["matrix"]["controllers"]) == (None, [])
    assert "quorum" not in terminal_report(report_of(told), width=100, color=False)
    assert "quorum" not in formats.FILES["html"](report_of(told)).partition("</style>")[2]


def test_the_line_says_who_leads_and_how_far_each_is_behind():
    now = {"quorum": {"voters": {201: 1, 202: "never"}, "observers": {2: 40}}}
    assert quorum_text(build_quorum(view(now))) == (
        "leader 200, epoch 7; static voters 200 (leader), 201 (1.0 s behind), 202 (never caught up under this leader); "
        "observers 0 (caught up), 1 (caught up), 2 (40 s, 80 records behind)."
    )
    dynamic = report_json(
        build_quorum(view({"quorum": {"directories": {"voters": {200: "a", 201: "b", 202: "c"}}, "observers": "none"}}))
    )
    assert quorum_text(part_of(QuorumState, dynamic)).startswith(
        "leader 200, epoch 7; dynamic voters 200 (leader), 201 (caught up)"
    )
    assert "observers" not in quorum_text(part_of(QuorumState, dynamic))
    untimed = quorum_text(build_quorum(view({"quorum": {"times": False, "observers": {2: 40}}})))
    assert "observers 0 (0 records behind), 1 (0 records behind), 2 (80 records behind)" in untimed


DENIED = {
    "quorum": "none",
    "reads": [{"observer": "broker:0", "operation": "DescribeQuorum", "error": "DENIED", "needs": "Describe on Cluster"}],
}


def test_a_quorum_that_was_not_read_is_not_known_everywhere():
    told = document(view(DENIED))
    sentence = "not known (DescribeQuorum was not answered: DENIED). Needed: Describe on Cluster."
    assert quorum_text(part_of(QuorumState, told["quorum"])) == sentence
    text = terminal_report(report_of(told), width=100, color=False)
    assert f"Metadata quorum: {sentence}" in " ".join(text.split())
    assert f"**Metadata quorum:** {sentence}" in formats.FILES["md"](report_of(told))
    page = formats.FILES["html"](report_of(told))
    assert '<span class="mark unknown"></span><b>Metadata quorum</b>' in page
    assert f"Metadata quorum: {sentence}" in "".join(hostile.Elements(page).says)
    assert {name: line[3:] for name, line in cells(told["matrix"])[1].items()} == dict.fromkeys(
        ("broker 0", "broker 1", "broker 2", "worker"), "..."
    )


def test_a_leader_that_nobody_knows_is_not_called_unread():
    lost = {"quorum": {"leader": -1}}
    assert quorum_text(build_quorum(view(lost))).startswith("not known (no leader of the metadata quorum is known to those")


MANY = {
    "brokers": {one: {"listeners": {"PLAINTEXT": f"PLAINTEXT://k{one}:9092"}} for one in range(100)},
    "quorum": {"voters": {203: 0, 204: 0}, "observers": dict.fromkeys(range(100), 0) | {3: 1, 17: 40}},
    "configs": {"controller.quorum.voters": ",".join(f"{one}@c{one - 199}:9093" for one in range(200, 205))},
    "controllers": {"c4:9093": {}, "c5:9093": TIMEOUT},
    "controllers_from": "none",
}


def test_a_hundred_brokers_and_five_controllers_fit_a_terminal_and_a_page():
    told = document(view(MANY))
    assert quorum_text(part_of(QuorumState, told["quorum"])) == (
        "leader 200, epoch 7; static voters 200 (leader), 201 (caught up), 202 (caught up), 203 (caught up), "
        "204 (caught up); observers 17 (40 s, 80 records behind), 0-16, 18-99 (at most 1.0 s behind)."
    )
    lines = matrix.matrix_lines(part_of(Matrix, told["matrix"]), 100)
    assert max(map(len, lines)) <= 100
    assert len(lines) < 20
    folded, whole = (picture.build_picture(part_of(Matrix, told["matrix"]), fold=fold) for fold in (None, False))
    assert folded.folded
    assert len(folded.columns) <= 6
    assert ("ctl 201-203", "controllers 201-203") in {(head.name, head.called) for head in folded.columns}
    assert [head.name for head in whole.columns[98:102]] == ["98", "99", "ctl 200", "ctl 201"]
    assert {(mark, text) for mark, text in folded.words} == {
        ("T", "worker: cannot connect to controller 204 (tcp)."),
        ("E", "broker 17: not caught up with controller 200 (effect)."),
    }


def test_long_addresses_fold_a_table_that_is_wider_than_the_terminal_and_are_spelt_out():
    places = {f"controller-{one}.a-long-name.example.org:9093": {} for one in range(6)}
    drawn = report_json(
        matrix.build_matrix(view({"controllers": dict.fromkeys(PLACES, "absent") | places, "controllers_from": "none"}))
    )
    lines = matrix.matrix_lines(part_of(Matrix, drawn), 80)
    assert max(map(len, lines)) <= 80
    assert all(place in " ".join(lines) for place in places)


@pytest.mark.parametrize("string", hostile.STRINGS, ids=hostile.NAMES)
def test_an_address_cannot_write_on_page_or_terminal(string):
    told = document(view({"controllers": {string: TIMEOUT}, "controllers_from": {0: {string: TIMEOUT}}}))
    hostile.harmless(formats.FILES["html"](report_of(told)))
    assert hostile.unshown(terminal_report(report_of(told), width=100, color=False)) == set()
    assert hostile.unshown(formats.FILES["md"](report_of(told))) == set()


def test_documents_of_kraft_clusters_are_of_the_schema_and_earlier_ones_are_still_shown():
    held = cluster_views({name: snapshots(base(), name, {"now": merged(KRAFT, now)}) for name, now in CLUSTERS.items()})
    for told in map(document, held.values()):
        Draft202012Validator(findings_schema()).validate(told)
    del told["quorum"], told["matrix"]["controllers"]
    for one in (*told["matrix"]["observers"], *told["matrix"]["why"]):
        del one["quorum" if "name" in one else "controllers"]
    assert "Metadata quorum" not in formats.FILES["html"](report_of(told))
    assert "Metadata quorum" not in terminal_report(report_of(told), width=100, color=False)
    assert (
        matrix.matrix_lines(part_of(Matrix, told["matrix"]), 100)[1]
        == "broker 0        .  .  .      .  agrees (brokers: what they list)"
    )


CLUSTERS = {"three": {}, "both roles": BOTH_ROLES, "denied": DENIED, "unreached": {"controllers": {"c9:9093": TIMEOUT}}}
