"""Who reaches whom by listener and layer, as rows and as a table."""

import small_cluster
from kafka_audit.model.report import ReachRow, report_json
from kafka_audit.report.parties import reach
from reported import part_of

TWO = {
    n: {"listeners": {"CLIENT": f"PLAINTEXT://kafka-{n}.ns.svc:9092", "INTERNAL": f"PLAINTEXT://10.0.0.1{n}:9094"}}
    for n in range(2)
}
NEVER = {"to": [0, 1], "outcome": "none"}
NO_NAME = {"layer": "dns", "error": "name or service not known"}


def built(**spec):
    return report_json(reach.build_reach(small_cluster.view(spec)))


def test_a_row_counts_each_layer_and_names_who_stops_where():
    probes = [{"to": b, "listener": "CLIENT", **NO_NAME} for b in TWO]
    probes += [{"to": 0, "listener": "INTERNAL"}, {"to": 1, "listener": "INTERNAL", "layer": "tcp", "error": "timeout"}]
    client, internal = built(brokers=TWO, probes=probes)
    assert client == {
        "from": "worker",
        "broker": None,
        "role": "client",
        "listener": "CLIENT",
        "brokers": [0, 1],
        "open": 0,
        "layers": {"dns": [0, 2]},
        "stops": [{"layer": "dns", "outcome": "failed", "error": "name or service not known", "brokers": [0, 1]}],
    }
    assert (internal["open"], internal["layers"]) == (1, {"dns": [2, 2], "tcp": [1, 2], "api": [1, 1], "identity": [1, 1]})
    assert internal["broker"] is None
    assert internal["stops"] == [{"layer": "tcp", "outcome": "failed", "error": "timeout", "brokers": [1]}]


def test_what_was_not_seen_is_not_called_failed():
    (row,) = built(
        brokers=TWO,
        probes=[NEVER, {"to": 0, "listener": "CLIENT", "layer": "dns", "outcome": "unknown", "needs": "an executor with queues"}],
    )
    assert row["stops"] == [{"layer": "dns", "outcome": "unknown", "error": "an executor with queues", "brokers": [0]}]
    assert "not known, an executor with queues" in reach.reach_lines(part_of(tuple[ReachRow, ...], [row]), 100)[1]


def test_the_table_is_quiet_where_all_is_open():
    assert (
        reach.reach_lines(
            part_of(tuple[ReachRow, ...], built(brokers=TWO, probes=[{"to": b, "listener": "CLIENT"} for b in TWO])), 100
        )
        == []
    )


SECURED = {n: {"listeners": {"CLIENT": f"SASL_SSL://kafka-{n}.ns.svc:9092"}} for n in range(3)}
SOME = [
    {"to": 2, "layer": "sasl", "error": "AuthenticationException"},
    {"to": [0, 1], "from": 0, "vantage": "brokers"},
    {"to": 2, "from": 0, "vantage": "brokers", "layer": "dns", "error": "name or service not known"},
]


def test_columns_that_are_too_wide_become_lines_with_the_same_content():
    assert reach.reach_lines(part_of(tuple[ReachRow, ...], built(brokers=SECURED, probes=SOME)), 59) == [
        "from worker, listener CLIENT",
        "    dns 3 of 3, tcp 3 of 3, sasl 0 of 1, api 2 of 2,",
        "    identity 2 of 2",
        "    stops at sasl of 2: AuthenticationException",
        "from broker 0, listener CLIENT",
        "    dns 2 of 3, tcp 2 of 2, api 2 of 2, identity 2 of 2",
        "    stops at dns of 2: name or service not known",
    ]


def test_columns_that_just_fit_stay_a_table():
    assert reach.reach_lines(part_of(tuple[ReachRow, ...], built(brokers=SECURED, probes=SOME)), 60)[2:4] == [
        "worker    CLIENT    3 of 3  3 of 3  0 of 1  2 of 2  2 of 2",
        "    sasl of 2: AuthenticationException",
    ]


def test_many_vantages_with_long_names_fit_a_narrow_terminal():
    probes = [{"to": n, "vantage": f"a-long-name-of-queue-{vantage}", **NO_NAME} for n in SECURED for vantage in range(9)]
    rows = built(brokers=SECURED, probes=[{"to": [*SECURED], "outcome": "none"}, *probes])
    lines = reach.reach_lines(part_of(tuple[ReachRow, ...], rows), 58)
    assert max(map(len, lines)) <= 58
    assert all(f"a-long-name-of-queue-{vantage}" in " ".join(lines) for vantage in range(9))


def test_sixty_brokers_are_a_row_for_each_way_in_which_they_differ():
    many = {
        n: {"listeners": {"CLIENT": f"PLAINTEXT://kafka-{n}.ns.svc:9092", "INTERNAL": f"PLAINTEXT://10.0.0.{n}:9094"}}
        for n in range(60)
    }
    probes = [{"to": [*many], "outcome": "none"}, {"to": [*many], "listener": "CLIENT", **NO_NAME}]
    probes += [{"to": n, "listener": "CLIENT", "vantage": "pod"} for n in many]
    probes += [
        {"to": n, "from": a, "listener": "INTERNAL", **({"layer": "tcp", "error": "timeout"} if n in {7, 8} and a > 30 else {})}
        for a in many
        for n in many
    ]
    rows = built(brokers=many, probes=probes)
    assert len(rows) == 62
    assert reach.reach_lines(part_of(tuple[ReachRow, ...], rows), 110) == [
        "from           listener  dns       tcp       api       identity  stops at",
        "worker         CLIENT    0 of 60   -         -         -         dns of 0-59: name or service not known",
        "brokers 31-59  INTERNAL  60 of 60  58 of 60  58 of 58  58 of 58  tcp of 7, 8: timeout",
        "pod            CLIENT    60 of 60  60 of 60  60 of 60  60 of 60  nothing",
        "brokers 0-30   INTERNAL  60 of 60  60 of 60  60 of 60  60 of 60  nothing",
    ]
    for width in (80, 70, 60, 58):
        assert max(map(len, reach.reach_lines(part_of(tuple[ReachRow, ...], rows), width))) <= width


def test_a_hostile_name_moves_nothing():
    (row,) = built(brokers={0: {"listeners": {"A": "PLAINTEXT://h:1"}}}, probes=[{"to": 0, "layer": "tcp", "error": "\x1b[2J"}])
    assert row["stops"][0]["error"] == "\\u001b[2J"
