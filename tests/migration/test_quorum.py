"""Changes of the metadata quorum: what stands against them now, and their steps."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import permutations, product

import pytest

from audit_history import History
from checks.cases import base
from checks.world import merged, snapshots
from kafka_audit.cluster.view import ClusterView
from kafka_audit.migration import after, before, plain_text, plan, proposed_listeners, sections
from kafka_audit.migration.proposed_listeners import ProposedListeners
from kafka_audit.migration.quorum.voter_changes import safest_order
from kafka_audit.model.errors import UsageError
from kafka_audit.model.report import report_json
from kafka_audit.model.tables import Certificate
from kafka_audit.report.html import decision
from printed_commands import HOSTILE, bash_words, files_made
from reported import report_of
from testbed.corpus.recorded import CLUSTERS, SUFFIX, unpacked

NOW = datetime(2026, 9, 14, 7, tzinfo=UTC)
VOTERS, SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
NAMED = "200@c0:9093,201@c1:9093,202@c2:9093"
MAP = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"
USUAL = {"controller.listener.names": "CONTROLLER", "listener.security.protocol.map": MAP}


def file(node):
    return {"process.roles": "controller", VOTERS: NAMED, "listeners": f"CONTROLLER://c{node - 200}:9093"} | USUAL


STATIC = {
    "info": {"mode": "kraft"},
    "zookeeper": "none",
    "apis": {55: [0, 2], 60: [0, 2]},
    "quorum": {
        "leader": 200,
        "epoch": 7,
        "high_watermark": 9000,
        "voters": {200: 0, 201: 0, 202: 0},
        "observers": {0: 0, 1: 0, 2: 0},
    },
    "configs": {VOTERS: NAMED, "process.roles": "broker"} | USUAL,
    "properties": {node: file(node) for node in (200, 201, 202)},
    "features": {"metadata.version": [7, 30, 30], "kraft.version": [0, 1, None]},
}
ASKED = "kafka-metadata-quorum.sh --bootstrap-controller c0:9093"
DIRECTORIES = {"voters": {200: "a", 201: "b", 202: "c"}}
BY_SERVERS = {VOTERS: "absent", SERVERS: "c0:9093,c1:9093,c2:9093"}
DYNAMIC = merged(
    STATIC,
    {
        "quorum": {"directories": DIRECTORIES, "addresses": {200: "c0:9093", 201: "c1:9093", 202: "c2:9093"}},
        "configs": BY_SERVERS,
        "properties": dict.fromkeys((200, 201, 202), BY_SERVERS),
        "features": {"kraft.version": [0, 1, 1]},
    },
)
FIVE = merged(
    DYNAMIC,
    {
        "quorum": {
            "voters": {203: 0, 204: 0},
            "directories": {"voters": {203: "d", 204: "e"}},
            "addresses": {203: "c3:9093", 204: "c4:9093"},
        },
        "properties": {node: file(node) | {VOTERS: "", SERVERS: "c0:9093"} for node in (203, 204)},
    },
)


def view_of(world, patch=None, earlier=None):
    case = {"now": merged(world, patch or {})} | ({"before": earlier} if earlier else {})
    return ClusterView.of_files(snapshots(base(), "quorum", case)[0])


def decide(kind, world, patch=None, earlier=None, lines=(), **planned):
    """Decide on a world; `earlier` is what differs in the first sample, `lines` are new addresses, which nobody probes."""
    view = view_of(world, patch, earlier)
    made = plan.plan(kind, advertised=lines, **planned)
    ends = proposed_listeners.planned_endpoints(made, view)
    tried = ProposedListeners(by_lines=ends, proposed=ends)
    return before.report_before_change(History().audit(), view, made, tried, NOW)


def told(report, heading):
    return {(item["code"], item["resource"]) for item in report[heading]}


def commands(report):
    return [line for step in report["steps"] for line in step["commands"]]


def test_a_static_quorum_whose_voters_all_follow_can_become_dynamic():
    report = decide("dynamic-quorum", STATIC)
    assert (report["verdict"], report["blockers"], report["warnings"]) == ("go", [], [])
    assert report["headline"].startswith("GO for prod, static to dynamic quorum: ")
    upgrade = "kafka-features.sh --bootstrap-server 10.0.0.10:9092 upgrade --feature kraft.version=1"
    assert commands(report)[:3] == [
        f"{upgrade} --dry-run",
        upgrade,
        "kafka-metadata-quorum.sh --bootstrap-server 10.0.0.10:9092 describe --status",
    ]
    texts = [step["text"] for step in report["steps"]]
    assert texts[3].startswith(
        "On controllers 201, 202 and 200, in this order and one at a time: remove `controller.quorum.voters`"
    )
    assert texts[4].startswith("On brokers 0, 1 and 2, in this order")
    assert report["steps"][3]["commands"][0] == f"{SERVERS}=c0:9093,c1:9093,c2:9093"
    assert "2 of 3 voters follow and 2 are required: none of the others may fail" in report["steps"][3]["halfway"]
    assert "knows no voters and cannot be elected" in report["steps"][0]["halfway"]
    assert commands(report)[-1] == "kafka-audit after-migration prod"


@pytest.mark.parametrize("kind", ["dynamic-quorum", "controller-certificates", "controller-hosts"])
def test_a_voter_that_does_not_follow_stands_against_every_change_and_a_broker_does_not(kind):
    lines = ["201: CONTROLLER://new-c1:9093"] if kind == "controller-hosts" else ()
    down = {"quorum": {"voters": {202: 90}}}
    assert ("KA209", "controller/202") in told(decide(kind, STATIC, down, lines=lines), "blockers")
    once = decide(kind, STATIC, down, earlier={"quorum": {"voters": {202: 0}}}, lines=lines)
    assert ("KA209", "controller/202") in told(once, "not_known")
    broker = decide(kind, STATIC, {"quorum": {"observers": {2: 90}}}, lines=lines)
    assert not {code for code, _ in told(broker, "blockers") | told(broker, "not_known")} & {"KA209"}


def test_a_leader_without_times_does_not_show_who_follows():
    report = decide("dynamic-quorum", STATIC, {"quorum": {"times": False}})
    assert (report["verdict"], told(report, "not_known")) == ("not decided", {("KA209", "cluster")})


def test_a_quorum_that_was_not_read_is_not_decided_and_has_no_steps():
    denied = {"observer": "broker:0", "operation": "DescribeQuorum", "error": "CLUSTER_AUTHORIZATION_FAILED", "needs": "Describe"}
    for kind, more in (("dynamic-quorum", {}), ("quorum-voters", {"node_ids": [200]}), ("controller-certificates", {})):
        report = decide(kind, STATIC, {"quorum": "none", "reads": [denied]}, **more)
        assert (report["verdict"], report["steps"], report["blockers"]) == ("not decided", [], [])
        assert report["not_known"][0]["remedy"] == "Needed: Describe"


def test_a_cluster_with_zookeeper_has_no_quorum_to_change():
    report = decide("dynamic-quorum", {})
    assert (report["verdict"], report["steps"]) == ("no-go", [])
    assert report["blockers"][0]["message"] == "The cluster has no metadata quorum: it uses ZooKeeper"


OLD = {"features": {"metadata.version": [7, 30, 22]}}


def test_the_release_of_each_voter_is_known_or_asked_for():
    """Controllers report no features; metadata.version 4.1 is accepted only if all run 4.1, and a lower one shows nothing."""
    report = decide("dynamic-quorum", STATIC, OLD)
    assert (report["verdict"], told(report, "not_known")) == (
        "not decided",
        {("KA712", f"controller/{node}") for node in (200, 201, 202)},
    )
    assert "the first step, which changes nothing" in report["not_known"][0]["remedy"]


COMBINED = {
    "quorum": {"leader": 0, "voters": {0: 0, 1: 0, 2: 0, 200: "absent", 201: "absent", 202: "absent"}, "observers": "none"},
    "configs": {VOTERS: "0@b0:9093,1@b1:9093,2@b2:9093", "process.roles": "broker,controller"},
    "properties": "none",
}


def test_a_voter_that_is_a_broker_too_reports_its_release():
    assert decide("dynamic-quorum", STATIC, merged(OLD, COMBINED))["verdict"] == "go"
    behind = {"features": {"1": {"metadata.version": [7, 25, 22]}}}
    report = decide("dynamic-quorum", STATIC, merged(merged(OLD, COMBINED), behind))
    assert told(report, "blockers") == {("KA712", "controller/1")}
    assert "Kafka 3.9 and 4.0 have dynamic quorums only where storage was formatted" in report["blockers"][0]["remedy"]


def test_a_broker_before_3_9_does_not_know_kraft_version():
    report = decide("dynamic-quorum", STATIC, {"features": {"kraft.version": "absent"}})
    assert ("KA712", "cluster") in told(report, "blockers")
    unread = decide("dynamic-quorum", STATIC, {"features": "none"})
    assert ("KA712", "cluster") in told(unread, "not_known")


def test_every_file_of_a_voter_must_be_read_and_name_the_same_voters():
    report = decide("dynamic-quorum", STATIC, {"properties": {202: "absent"}})
    assert (report["verdict"], told(report, "not_known")) == ("not decided", {("KA213", "controller/202")})
    other = decide("dynamic-quorum", STATIC, {"configs": {2: {VOTERS: "200@c0:9093,201@c1:9093"}}})
    assert told(other, "blockers") == {("KA213", "broker/2")}
    port = decide("dynamic-quorum", STATIC, {"configs": {2: {VOTERS: NAMED.replace("c1:9093", "c1:9094")}}})
    assert told(port, "blockers") == {("KA213", "broker/2")}, "MEDIUM for an audit, and in the way of this change"
    name = decide("dynamic-quorum", STATIC, {"configs": {2: {VOTERS: NAMED.replace("c1", "c1.inside")}}})
    assert name["verdict"] == "go", "a controller may have several names"


def test_what_is_done_already_is_no_step_again():
    half = merged(DYNAMIC, {"configs": {1: {VOTERS: NAMED}}, "properties": {201: {VOTERS: NAMED}}})
    report = decide("dynamic-quorum", half)
    assert report["verdict"] == "go"
    assert [step["text"].partition(":")[0] for step in report["steps"]][:2] == ["On controller 201", "On broker 1"]
    assert not any("kafka-features" in line for line in commands(report))
    decided = decide("dynamic-quorum", DYNAMIC)
    assert (decided["verdict"], decided["steps"]) == ("go", [])
    assert "nothing is left to do" in decided["information"][0]["message"]


def test_voters_of_a_static_quorum_cannot_change():
    report = decide("quorum-voters", STATIC, node_ids=[200, 201, 203])
    assert (told(report, "blockers"), report["steps"]) == ({("KA213", "cluster")}, [])
    assert "--kind dynamic-quorum" in report["blockers"][0]["remedy"]


JOINING = {"quorum": {"observers": {203: 0}, "directories": {"observers": {203: "new"}}}}
FILE_203 = {"properties": {203: file(203) | {VOTERS: "", SERVERS: "c0:9093"}}}
NO_AUTO_JOIN = "controller.quorum.auto.join.enable"


def test_a_voter_is_replaced_by_adding_before_removing():
    report = decide("quorum-voters", DYNAMIC, merged(JOINING, FILE_203), node_ids=[200, 201, 203])
    assert (report["verdict"], report["blockers"], report["warnings"]) == ("go", [], [])
    lines = [line for line in commands(report) if "-controller " in line or line.endswith("-controller")]
    assert lines == [
        "kafka-metadata-quorum.sh --command-config controller.properties --bootstrap-controller c0:9093 add-controller",
        f"{ASKED} remove-controller --controller-id 202 --controller-directory-id c",
    ]
    texts = " ".join(step["text"] for step in report["steps"])
    assert "Wait until controller 203 has no lag" in texts
    assert "Remove controller 202 from the voters. Then stop it." in texts
    assert "Stop controller 202:" not in texts
    states = [step["halfway"] for step in report["steps"]]
    assert "4 of 4 voters follow, 3 are required: 1 may fail." in states
    assert "3 of 3 voters follow, 2 are required: 1 may fail." in states
    assert f"{SERVERS}=c0:9093,c1:9093,c3:9093" in commands(report)


def test_a_controller_that_does_not_run_yet_is_formatted_and_started_first():
    report = decide("quorum-voters", DYNAMIC, node_ids=[200, 201, 202, 203])
    assert report["verdict"] == "go"
    assert "without `controller.quorum.voters`; format its disk and start it" in report["steps"][0]["text"]
    assert report["steps"][0]["commands"][1] == (
        "kafka-storage.sh format --cluster-id 'id of quorum' --config controller.properties --no-initial-controllers"
    )
    assert told(report, "warnings") == {("KA217", "cluster")}, "four voters"
    assert decide("quorum-voters", FIVE, node_ids=[200, 201, 202])["warnings"] == []


def test_an_observer_that_lags_is_refused_by_the_leader():
    lags = merged(JOINING, {"quorum": {"observers": {203: 90}}})
    report = decide("quorum-voters", DYNAMIC, lags, node_ids=[200, 201, 202, 203, 204])
    assert told(report, "blockers") == {("KA214", "controller/203")}
    once = decide("quorum-voters", DYNAMIC, lags, {"quorum": {"observers": {203: 0}}}, node_ids=[200, 201, 202, 203, 204])
    assert (once["verdict"], told(once, "not_known")) == ("not decided", {("KA214", "controller/203")})


def test_a_broker_is_no_controller_and_one_that_has_the_role_is():
    report = decide("quorum-voters", DYNAMIC, node_ids=[0, 200, 201])
    assert ("KA910", "controller/0") in told(report, "blockers")
    combined = decide("quorum-voters", DYNAMIC, {"configs": {0: {"process.roles": "broker,controller"}}}, node_ids=[0, 200, 201])
    assert combined["verdict"] == "go"


def test_a_new_controller_may_not_name_static_voters():
    named = merged(JOINING, {"properties": {203: file(203)}})
    report = decide("quorum-voters", DYNAMIC, named, node_ids=[200, 201, 203])
    assert told(report, "blockers") == {("KA213", "controller/203")}


def test_a_voter_that_is_down_may_be_removed_while_the_others_are_a_majority():
    down = {"quorum": {"voters": {203: 900, 204: 900}}}
    unseen = decide("quorum-voters", FIVE, down, node_ids=[200, 201, 202])
    assert told(unseen, "not_known") == {("KA214", "controller/203"), ("KA214", "controller/204")}
    refused = {"operation": "ApiVersions", "error": "connection refused", "reason": "REFUSED", "layer": "tcp"}
    reads = [{"observer": f"controller@c{node}:9093", "target": f"c{node}:9093", **refused} for node in (3, 4)]
    report = decide("quorum-voters", FIVE, down | {"reads": reads}, node_ids=[200, 201, 202])
    assert report["verdict"] == "go"
    assert [step["text"] for step in report["steps"]][:2] == [
        "Remove controller 203 from the voters.",
        "Remove controller 204 from the voters.",
    ]
    stays = decide("quorum-voters", FIVE, down, node_ids=[200, 203, 204])
    assert {("KA209", "controller/203"), ("KA209", "controller/204")} <= told(stays, "blockers")
    two_of_three_down = {"quorum": {"voters": {201: 900, 202: 900}}}
    lost = decide("quorum-voters", DYNAMIC, two_of_three_down, node_ids=[200])
    assert ("KA209", "controller/201") in told(lost, "blockers")
    assert "1 of 2 voters follow, no majority" in lost["blockers"][0]["message"]


def test_a_controller_that_joins_by_itself_is_stopped_before_it_is_removed():
    joins = {"properties": {202: {NO_AUTO_JOIN: "true"}}}
    report = decide("quorum-voters", FIVE, joins, node_ids=[200, 201, 203])
    texts = [step["text"] for step in report["steps"]]
    at = next(n for n, text in enumerate(texts) if text.startswith("Stop controller 202:"))
    assert texts[at + 1] == "Remove controller 202 from the voters."
    assert not any(text.startswith("Stop controller 204:") for text in texts), "its file was read and does not join"
    unread = decide("quorum-voters", FIVE, {"properties": {204: "absent"}}, node_ids=[200, 201, 202])
    assert any(step["text"].startswith("Stop controller 204:") for step in unread["steps"]), "who knows"
    two = merged(DYNAMIC, {"quorum": {"voters": {202: "absent"}}, "properties": {201: {NO_AUTO_JOIN: "true"}, 202: "absent"}})
    last = decide("quorum-voters", two, node_ids=[200])
    assert told(last, "blockers") == {("KA214", "controller/201")}
    assert "auto.join.enable=false" in last["blockers"][0]["remedy"]


def test_the_leader_is_removed_last_and_resigns():
    report = decide("quorum-voters", FIVE, node_ids=[201, 202, 203])
    removed = [step["text"] for step in report["steps"] if step["text"].startswith("Remove")]
    assert removed == [
        "Remove controller 204 from the voters. Then stop it.",
        "Remove controller 200 from the voters. Then stop it. It is the leader: it resigns, and another voter is elected.",
    ]
    assert not any("--bootstrap-controller c0:9093" in line for line in commands(report)), "the one that leaves is not asked"


def test_a_node_that_names_only_voters_that_leave_would_be_lost():
    only = {"configs": {1: {SERVERS: "c2:9093"}}}
    report = decide("quorum-voters", DYNAMIC, merged(only, JOINING), node_ids=[200, 201, 203])
    assert told(report, "blockers") == {("KA213", "broker/1")}
    both = decide(
        "quorum-voters", DYNAMIC, merged(JOINING, {"configs": {1: {SERVERS: "c2:9093,c1:9093"}}}), node_ids=[200, 201, 203]
    )
    assert both["blockers"] == []


@pytest.mark.parametrize("size", range(1, 6))
def test_no_other_order_tolerates_more_failures(size):
    """All small quorums with a majority, and all orders of up to five changes."""
    voters = set(range(size))
    for down, leaving, new in product(range((size + 1) // 2), range(size + 1), range(3)):
        late, wanted = set(range(down)), set(range(leaving, size)) | set(range(50, 50 + new))
        changes = sorted(voters ^ wanted)
        if not wanted or not changes or len(changes) > 5:
            continue
        order = safest_order(voters, late, wanted, leader=size - 1)
        assert tolerated(voters, late, [change.node for change in order]) == [change.spare for change in order]
        best = max(min(tolerated(voters, late, other)) for other in permutations(changes))
        assert min(change.spare for change in order) == best
        assert sorted(change.node for change in order) == changes


def tolerated(voters, late, changes):
    """Return how many voters may fail after each change; a new voter follows."""
    members, found = set(voters), []
    for node in changes:
        members ^= {node}
        found.append(len(members - late) - (len(members) // 2 + 1))
    return found


def test_a_renamed_controller_of_a_static_quorum_is_a_new_string_in_every_file():
    report = decide("controller-hosts", STATIC, lines=["201: CONTROLLER://new-c1.example:9093"])
    assert report["blockers"] == []
    line = f"{VOTERS}=200@c0:9093,201@new-c1.example:9093,202@c2:9093"
    assert commands(report).count(line) == 2
    texts = [step["text"] for step in report["steps"]]
    assert texts[0].startswith("Make the new names resolve and route from every broker and controller, beside the old names.")
    assert texts[1].startswith("On controllers 201, 202 and 200")
    assert texts[2].startswith("On brokers 0, 1 and 2")
    assert texts[-2].startswith("Remove c1:9093 only now")
    assert "brokers are fenced" in report["steps"][-2]["halfway"]


def test_a_renamed_controller_of_a_dynamic_quorum_sends_its_endpoint_itself():
    report = decide("controller-hosts", DYNAMIC, lines=["201: CONTROLLER://new-c1:9093", "200: CONTROLLER://new-c0:9093"])
    assert f"{SERVERS}=new-c0:9093,new-c1:9093,c2:9093" in commands(report)
    assert "listeners=CONTROLLER://new-c1:9093" in commands(report), "the key in which its file names its host"
    assert not any(line.startswith(VOTERS) for line in commands(report))
    no_host = {"properties": {201: {"listeners": "CONTROLLER://:9093"}}}
    bound = decide("controller-hosts", DYNAMIC, no_host, lines=["201: CONTROLLER://new-c1:9093"])
    assert "advertised.listeners=CONTROLLER://new-c1:9093" in commands(bound)
    old = decide("controller-hosts", STATIC, no_host, lines=["201: CONTROLLER://new-c1:9093"])
    assert not any("listeners=" in line for line in commands(old)), "Kafka 3.8 refuses the key in a controller's file"
    step = next(step for step in report["steps"] if "lists its new endpoint" in step["text"])
    assert step["text"].startswith("On controllers 201 and 200, in this order")
    assert "without a leader no new endpoint is accepted" in report["steps"][-2]["halfway"]


def test_a_new_address_must_be_of_a_voter_of_its_listener_and_free():
    report = decide("controller-hosts", STATIC, lines=["1: CONTROLLER://x:9093"])
    assert told(report, "blockers") == {("KA310", "broker/1/listener/CONTROLLER")}
    listener = decide("controller-hosts", STATIC, lines=["201: PLAINTEXT://x:9093"])
    assert told(listener, "blockers") == {("KA310", "broker/201/listener/PLAINTEXT")}
    taken = decide("controller-hosts", STATIC, lines=["201: CONTROLLER://C2:9093"])
    assert told(taken, "blockers") == {("KA304", "broker/201/listener/CONTROLLER")}
    swapped = decide("controller-hosts", STATIC, lines=["201: CONTROLLER://c2:9093", "202: CONTROLLER://c1:9093"])
    assert swapped["blockers"] == []


def test_a_line_about_all_is_about_the_voters():
    report = decide("controller-hosts", STATIC, lines=["CONTROLLER://c-{broker_id}.example:9093"])
    assert [(end["broker_id"], end["host"], end["protocol"]) for end in report["advertised"]] == [
        (node, f"c-{node}.example", "PLAINTEXT") for node in (200, 201, 202)
    ]


TLS = {"listener.security.protocol.map": "CONTROLLER:SSL,PLAINTEXT:PLAINTEXT"}
STORES = {"ssl.truststore.location": "/tls/trust.jks", "ssl.keystore.location": "/tls/key.jks"}
ENCRYPTED = merged(
    STATIC,
    {
        "configs": TLS,
        "properties": dict.fromkeys((0, 1, 2, 200, 201, 202), TLS | STORES),
    },
)


def test_certificates_are_replaced_after_trust_one_controller_at_a_time():
    report = decide("controller-certificates", ENCRYPTED)
    assert (report["verdict"], report["blockers"], report["warnings"]) == ("go", [], [])
    texts = [step["text"] for step in report["steps"]]
    assert "add the new CA to the trust store" in texts[0]
    assert "the trust store of each node holds the new CA" in texts[1]
    assert texts[2].startswith("On controllers 201, 202 and 200, in this order and one at a time: replace the key store")
    assert texts[-2].startswith("Remove the old CA")
    assert "# ssl.truststore.location is /tls/trust.jks at nodes 0-2,200-202" in commands(report)
    assert "# ssl.keystore.location is /tls/key.jks at nodes 200-202" in commands(report)
    assert "echo | openssl s_client -connect c1:9093" in commands(report)
    assert not any("ssl.client.auth" in text for text in texts), "controllers ask for no certificate"
    asked = decide("controller-certificates", ENCRYPTED, {"properties": {200: {"ssl.client.auth": "required"}}})
    assert any("ssl.client.auth" in step["text"] for step in asked["steps"])


def test_a_listener_without_tls_has_no_certificate():
    report = decide("controller-certificates", STATIC)
    assert (told(report, "blockers"), report["steps"]) == ({("KA412", "cluster")}, [])
    unknown = decide("controller-certificates", STATIC, {"configs": "none", "properties": "none"})
    assert ("KA412", "cluster") in told(unknown, "not_known")


def test_the_stores_of_each_node_are_in_its_file_alone():
    report = decide("controller-certificates", ENCRYPTED, {"properties": {1: "absent"}})
    assert (report["verdict"], told(report, "not_known")) == ("not decided", {("KA213", "broker/1")})


def test_one_key_store_for_clients_and_controllers_is_a_warning():
    node = {"process.roles": "broker,controller"}
    both = merged(merged(ENCRYPTED, COMBINED), {"properties": dict.fromkeys(range(3), node | USUAL | TLS | STORES)})
    assert told(decide("controller-certificates", both), "warnings") == {("KA412", "broker/0")}
    own = {"listener.name.controller.ssl.keystore.location": "/tls/controllers.jks"}
    apart = merged(both, {"properties": dict.fromkeys(range(3), own)})
    assert decide("controller-certificates", apart)["warnings"] == []


def test_commands_name_the_file_of_a_login_where_the_listener_has_one():
    login = {"listener.security.protocol.map": "CONTROLLER:SASL_SSL,PLAINTEXT:PLAINTEXT"}
    report = decide("quorum-voters", FIVE, {"configs": login}, node_ids=[200, 201, 202])
    removal = next(line for line in commands(report) if "remove-controller" in line)
    assert "--bootstrap-controller c0:9093 --command-config admin.properties remove-controller" in removal
    added = decide("quorum-voters", DYNAMIC, {"configs": login}, node_ids=[200, 201, 202, 203])
    addition = next(line for line in commands(added) if line.endswith("add-controller"))
    assert addition.count("--command-config") == 1, "of the controller that is added"


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_cluster_says_is_one_word_of_a_command(name):
    patch = {"quorum": {"directories": {"voters": {203: name}}}}
    lines = [line for line in commands(decide("quorum-voters", FIVE, patch, node_ids=[200, 201, 202])) if "203" in line]
    assert files_made(lines) == []
    (words,) = (words for words in bash_words(lines) if "remove-controller" in words)
    assert name in words or f"--controller-directory-id={name}" in words
    named = [line for line in commands(decide("dynamic-quorum", STATIC, {"info": {"cluster": name}})) if "after" in line]
    assert files_made(named) == []


def test_a_plan_without_its_subject_is_wrong_usage():
    with pytest.raises(UsageError, match="quorum-voters requires the node ids of all voters after the change"):
        plan.plan("quorum-voters")
    with pytest.raises(UsageError, match="controller-hosts requires the new addresses"):
        plan.plan("controller-hosts", advertised=[" "])


def test_terminal_page_and_approval_show_the_steps():
    report = json.loads(json.dumps(decide("dynamic-quorum", STATIC)))
    text = plain_text.before_change_text(report, width=100)
    assert "STEPS (6)" in text
    assert "        kafka-features.sh --bootstrap-server 10.0.0.10:9092 upgrade --feature kraft.version=1 --dry-run\n" in text
    assert "Until the next step: Nothing has changed." in text
    assert plain_text.approval_body(report).endswith("contains the complete report and the 6 steps of the change.")
    page = decision.decision_page(
        report, sections.before_change_sections(report), sections.planned_changes(report), up="../", note="", run_link=""
    )
    assert '<h2 id="steps">Steps <small>6</small></h2>' in page
    assert "upgrade --feature kraft.version=1 --dry-run" in page
    other = decide("rolling-upgrade", STATIC)
    assert other["steps"] == []
    assert "STEPS" not in plain_text.before_change_text(other, width=100)


def test_a_recorded_healthy_cluster_is_judged():
    """A controller of 4.3.0 whose file was not read: recorded on real brokers."""
    snapshot, _ = unpacked((CLUSTERS / f"kraft_healthy{SUFFIX}").read_bytes())
    view, made = ClusterView.of_files(snapshot), plan.plan("dynamic-quorum")
    report = before.report_before_change(History().audit(), view, made, ProposedListeners(), NOW)
    assert (report["blockers"], told(report, "not_known")) == ([], {("KA213", "controller/200")})
    assert [step["text"].partition(" ")[0] for step in report["steps"]] == ["Validate", "Upgrade", "Check", "On", "On", "Compare"]


@pytest.fixture
def compare():
    """Compare two worlds after a change that was planned."""

    def run(kind, was, now, changes=(), lines=(), **planned):
        history = History()
        history.audit()
        document = report_of(report_json(history.audit()) | {"changes": [*changes]})
        views = view_of(was), view_of(now)
        made = plan.plan(kind, advertised=lines, **planned)
        ends = [asdict(end) for end in proposed_listeners.planned_endpoints(made, views[0])]
        baseline = {"plan": made.as_dict(), "advertised": ends}
        return after.report_after_change(document, views[0].snapshot, views[1].snapshot, baseline, NOW)

    return run


def test_a_quorum_that_became_dynamic_is_as_expected(compare):
    config = {"kind": "config", "resource": f"broker/1/config/{VOTERS}", "before": NAMED, "after": None}
    report = compare("dynamic-quorum", STATIC, DYNAMIC, [config])
    assert (report["verdict"], report["not_done"]) == ("as expected", [])
    change = {"kind": "kraft_version", "resource": "cluster", "before": "0 (static quorum)", "after": "1 (dynamic quorum)"}
    assert change in report["meant"]


def test_an_upgrade_that_is_half_done_says_what_is_missing(compare):
    half = merged(DYNAMIC, {"properties": {201: {VOTERS: NAMED}}})
    report = compare("dynamic-quorum", STATIC, half)
    assert (report["verdict"], report["not_done"]) == ("not as expected", [f"Node 201 has {VOTERS} in its file."])
    assert compare("dynamic-quorum", STATIC, STATIC)["not_done"][0] == "kraft.version is 0: the quorum is static."
    unread = compare("dynamic-quorum", STATIC, merged(DYNAMIC, {"properties": {201: "absent"}}))
    assert (unread["verdict"], unread["not_done"]) == ("not decided", [])


def test_a_quorum_that_became_dynamic_by_another_change_is_not_expected(compare):
    """`kafka-features.sh upgrade --release-version` upgrades kraft.version as well (KAFKA-21426)."""
    report = compare("rolling-upgrade", STATIC, DYNAMIC)
    assert [change["kind"] for change in report["not_meant"]] == ["kraft_version"]


def test_voters_are_those_of_the_plan_or_it_was_not_done(compare):
    report = compare("quorum-voters", FIVE, DYNAMIC, node_ids=[200, 201, 202])
    assert (report["verdict"], report["meant"][0]["before"]) == ("as expected", "200, 201, 202, 203 and 204")
    half = compare("quorum-voters", FIVE, DYNAMIC, node_ids=[200])
    assert half["not_done"] == ["The voters are 200, 201 and 202, not 200 as planned."]


def test_each_node_names_the_new_address_or_it_was_not_done(compare):
    new = NAMED.replace("c1:9093", "new-c1:9093")
    lines = ["201: CONTROLLER://new-c1:9093"]
    by_new_name = {VOTERS: new}
    moved = merged(STATIC, {"configs": by_new_name, "properties": dict.fromkeys((200, 201, 202), by_new_name)})
    assert compare("controller-hosts", STATIC, moved, lines=lines)["verdict"] == "as expected"
    half = merged(moved, {"configs": {2: {VOTERS: NAMED}}})
    assert compare("controller-hosts", STATIC, half, lines=lines)["not_done"] == [
        "Node 2 does not name controller 201 at new-c1:9093."
    ]
    own = merged(DYNAMIC, {"quorum": {"addresses": {201: "new-c1:9093"}}})
    assert compare("controller-hosts", DYNAMIC, own, lines=lines)["verdict"] == "as expected"
    still = ["The quorum reaches controller 201 at c1:9093, not at new-c1:9093."]
    assert compare("controller-hosts", DYNAMIC, DYNAMIC, lines=lines)["not_done"] == still
    unknown = merged(DYNAMIC, {"quorum": {"addresses": "none"}})
    assert compare("controller-hosts", DYNAMIC, unknown, lines=lines)["verdict"] == "not decided"


def certificate(port, begin):
    return {
        "sample": 1,
        "vantage": "worker",
        "broker_id": -1,
        "listener": "CONTROLLER",
        "host": "c0",
        "port": port,
        "subject": "CN=c0",
        "issuer": "CN=ca",
        "sans": ("c0",),
        "not_before_ms": begin,
        "not_after_ms": begin + 10**9,
        "trusted": True,
        "name_matches": True,
        "error": None,
    }


def test_certificates_are_others_than_before_or_it_is_not_known():
    history = History()
    history.audit()
    document, world = report_of(report_json(history.audit()) | {"changes": []}), view_of(ENCRYPTED).snapshot
    baseline = {"plan": plan.plan("controller-certificates").as_dict(), "advertised": []}

    def compared(was, now):
        def with_rows(found):
            return replace(
                world,
                rows=(*world.rows, *(Certificate(**certificate(9093 + n, at) | {"sample": 2}) for n, at in enumerate(found))),
            )

        return after.report_after_change(document, with_rows(was), with_rows(now), baseline, NOW)

    report = compared([1, 1], [9 * 10**9, 9 * 10**9])
    assert (report["verdict"], len(report["meant"])) == ("as expected", 2)
    half = compared([1, 1], [9 * 10**9, 1])
    assert half["not_done"] == ["c0:9094 shows the same certificate as before."]
    assert compared([], [])["verdict"] == "not decided"
    assert compared([1, 1], [9 * 10**9])["verdict"] == "not decided"
