"""Pairs of releases, as their table has them, and the steps of an upgrade; a scenario does the pairs on real brokers."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from audit_history import History
from checks.cases import base
from checks.world import merged, snapshots
from kafka_audit.cluster.features import METADATA_VERSION
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import STANDARD
from kafka_audit.configuration.behaviour import metadata_levels
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.configuration.inter_broker_requests import sent_requests
from kafka_audit.configuration.starts.protocol_versions import version
from kafka_audit.migration import before, plan
from kafka_audit.migration.proposed_listeners import ProposedListeners
from kafka_audit.model.errors import UsageError

NOW = datetime(2026, 9, 14, 7, tzinfo=UTC)
PAIRS = yaml.safe_load((Path(__file__).parent / "upgrade_pairs.yaml").read_text())
LEVELS = {"3.3-IV0": 4, "3.3-IV2": 6, "3.3-IV3": 7, "3.6-IV2": 14, "3.8-IV0": 20, "3.9-IV0": 21, "4.1-IV1": 27}
KRAFT = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "0@b0:9093",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
}


def world(pair):
    """Describe a cluster of the source release of a pair: its settings, its offers and its features."""
    minor = version_numbers(pair["from"])[:2]
    text, brokers = ".".join(map(str, minor)), range(pair["brokers"])
    offers = {
        request.api_key: [4 if minor >= (4,) and request.name == "Fetch" else 0, request.version]
        for request in sent_requests(version(text))
    }
    if minor >= (3,):
        offers[65] = [0, 0]  # DescribeTransactions, by which a release of Kafka 3 is known
    kraft, own = pair["mode"] == "kraft", pair.get("properties", {})
    files = {
        broker: (KRAFT | {"node.id": str(broker)} if kraft else {"broker.id": str(broker), "zookeeper.connect": "zk:2181"}) | own
        for broker in brokers
    }
    controllers = range(200, 200 + pair.get("controllers", 0))
    if controllers:
        voters = ",".join(f"{node}@c{node}:9093" for node in controllers)
        of_broker = {"process.roles": "broker", "listeners": "PLAINTEXT://:9092", "controller.quorum.voters": voters}
        of_controller = {"process.roles": "controller", "listeners": "CONTROLLER://:9093", "controller.quorum.voters": voters}
        files = {broker: lines | of_broker for broker, lines in files.items()}
        files |= {node: KRAFT | of_controller | {"node.id": str(node)} for node in controllers}
    levels = metadata_levels(minor) if kraft else None
    finalized = levels and LEVELS.get(pair.get("metadata"), levels[1])
    features = {METADATA_VERSION: [*levels, finalized]} if levels else {}
    features |= {name: [0, level, level] for name, level in pair.get("features", {}).items()}
    voting = dict.fromkeys(controllers or brokers, 0)
    quorum = {"leader": min(voting), "epoch": 1, "high_watermark": 9, "voters": voting, "observers": {}}
    return merged(
        base(),
        {
            "info": {"mode": pair["mode"]},
            "brokers": {broker: "absent" for broker in (1, 2) if broker not in brokers},
            "topics": "none",
            "apis": offers,
            "features": features,
            "configs": {
                "inter.broker.protocol.version": own.get("inter.broker.protocol.version", f"{text}-IV0"),
                "authorizer.class.name": STANDARD if "acls" in pair else "",
            },
            "properties": files,
            "acls": pair.get("acls", []),
        }
        | ({"zookeeper": "none", "quorum": quorum} if kraft else {}),
    )


def decide(pair, **planned):
    view = ClusterView.of_files(snapshots(world(pair), "upgrade", {})[0])
    made = plan.plan("rolling-upgrade", version=pair["to"], oldest_client=pair.get("client"), **planned)
    return before.report_before_change(History().audit(), view, made, ProposedListeners(), NOW)


def test_there_are_pairs_enough_and_each_was_done_or_says_why_not():
    assert len({(pair["from"], pair["to"], pair["mode"]) for pair in PAIRS.values()}) >= 20
    for name, pair in PAIRS.items():
        assert ("kafka" in pair) != ("why_not" in pair), name
        if "kafka" in pair:
            assert (pair["verdict"] == "go") == (pair["kafka"] == "runs"), name


@pytest.mark.parametrize("name", PAIRS)
def test_the_verdict_of_a_pair(name):
    pair = PAIRS[name]
    report = decide(pair)
    assert report["verdict"] == pair["verdict"], report["headline"]
    blockers = {item["code"] for item in report["blockers"]}
    open_points = {item["code"] for item in report["not_known"]}
    assert sorted(blockers or open_points) == pair.get("codes", []), report


def test_acls_that_take_effect_are_listed():
    grant = "ALLOW All for User:app from 10.0.0.0/16 on Topic orders"
    (blocker,) = decide(PAIRS["kraft_4_3_to_4_4_with_a_denial_of_a_network"])["blockers"]
    assert f"DENY Read for User:* from 10.0.0.0/8 on Topic orders and {grant}" in blocker["remedy"]
    warnings = decide(PAIRS["kraft_4_3_to_4_4_with_a_grant_to_a_network"])["warnings"]
    assert [grant in item["remedy"] for item in warnings if item["code"] == "KA916"] == [True]


def test_without_a_release_nothing_is_decided():
    pair = PAIRS["kraft_3_9_to_4_3"]
    view = ClusterView.of_files(snapshots(world(pair), "upgrade", {})[0])
    report = before.report_before_change(History().audit(), view, plan.plan("rolling-upgrade"), ProposedListeners(), NOW)
    assert (report["verdict"], report["steps"]) == ("not decided", [])
    assert {item["code"] for item in report["not_known"]} == {"KA912", "KA913", "KA914", "KA915", "KA916"}
    assert all(item["remedy"].startswith("Needed: --kafka-version") for item in report["not_known"])


def test_controllers_come_before_brokers_and_metadata_version_last():
    report = decide(PAIRS["kraft_3_9_to_4_3_with_controllers"])
    texts = [step["text"] for step in report["steps"]]
    assert [text.partition(":")[0].partition(",")[0] for text in texts[:3]] == [
        "On every host",
        "On controller 200",
        "On brokers 0 and 1",
    ]
    assert "Java 17" in texts[0]
    assert texts[3].startswith("When the cluster runs as before")
    tool = "kafka-features.sh --bootstrap-server 10.0.0.10:9092 upgrade --feature metadata.version=30"
    assert report["steps"][3]["commands"] == [f"{tool} --dry-run", tool]
    assert report["steps"][-1]["commands"] == ["kafka-audit after-migration prod"]


@pytest.mark.parametrize(
    ("old", "new", "back"),
    [
        ("3.7.2", "3.8.1", 19),
        ("3.8.1", "3.9.1", 20),
        ("3.7.2", "3.9.1", 19),
        ("4.0.2", "4.1.2", 25),
        ("4.1.2", "4.2.2", 27),
        *((old, new, None) for old, new in pairwise(("3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2"))),
        ("3.9.1", "4.0.2", None),
        *((old, new, None) for old, new in pairwise(("4.2.2", "4.3.0", "4.4.0"))),
    ],
)
def test_the_way_back_is_open_where_kafka_lowers_the_level_again(old, new, back):
    halfway = final_step(old, new)["halfway"]
    if back is None:
        assert halfway == "There is no way back to the old release from here on."
    else:
        assert f"`kafka-features.sh downgrade --feature metadata.version={back}`. A feature" in halfway


def test_features_that_the_old_release_lacks_are_lowered_first():
    halfway = final_step("4.2.2", "4.2.2", metadata="4.1-IV1", features={"streams.version": 1})["halfway"]
    assert "metadata.version=27`, after streams.version was lowered. A feature" in halfway


def test_a_dynamic_quorum_is_never_lowered():
    halfway = final_step("3.9.1", "3.9.1", metadata="3.8-IV0", features={"kraft.version": 1})["halfway"]
    assert halfway == "There is no way back to the old release from here on."


@pytest.mark.parametrize("new", ["3.4.1", "3.5.2"])
def test_tools_that_ignore_the_validation_do_not_get_it(new):
    """Kafka 3.3 to 3.5 look `--dry-run` up by another name than they store it, and change the level."""
    step = final_step("3.3.2", new)
    assert step["commands"][0].startswith("# validate with kafka-features.sh of Kafka 3.6 or later")
    assert "validates" not in step["text"]
    assert "--dry-run" not in step["commands"][1]


def test_the_validation_is_that_of_the_tools_of_the_new_release():
    step = final_step("3.5.2", "3.6.2")
    assert step["commands"][0].endswith("--dry-run")
    assert "With the tools of Kafka 3.6, the first command validates it" in step["text"]


def test_older_tools_ask_brokers_in_place_of_controllers():
    steps = decide({**PAIRS["kraft_3_9_to_4_3_with_controllers"], "from": "3.5.2", "to": "3.6.2"})["steps"]
    assert not [line for step in steps for line in step["commands"] if "--bootstrap-controller" in line]


def final_step(old, new, **more):
    pair = {"from": old, "to": new, "mode": "kraft", "brokers": 1, "client": "2.1"} | more
    return next(step for step in decide(pair)["steps"] if "finalize metadata.version" in step["text"])


def test_a_node_that_is_broker_and_controller_restarts_once():
    texts = [step["text"] for step in decide(PAIRS["kraft_3_9_to_4_3"])["steps"]]
    assert [text for text in texts if "install Kafka" in text] == [
        "On broker 0: stop it, install Kafka 4.3.0, and start it. Continue when no partition is under-replicated."
    ]


def test_with_zookeeper_the_protocol_is_kept_first_and_raised_last():
    pair = PAIRS["zookeeper_3_2_to_3_3_not_pinned"]
    report = decide(pair)
    assert report["steps"][0]["commands"] == ["inter.broker.protocol.version=3.2"]
    assert report["steps"][0]["text"].startswith("On brokers 0, 1 and 2")
    assert report["steps"][-2]["commands"][0] == "inter.broker.protocol.version=3.3"
    # The controller restarts last, so that it moves once.
    assert "On brokers 1, 2 and 0" in report["steps"][1]["text"]
    assert not any("Java" in step["text"] for step in report["steps"])


def test_a_cluster_that_the_release_does_not_run_has_no_steps():
    assert decide(PAIRS["zookeeper_3_9_to_4_3"])["steps"] == []


def test_no_step_is_final_where_the_software_goes_back():
    texts = [step["text"] for step in decide(PAIRS["kraft_4_3_at_3_9_back_to_3_9"])["steps"]]
    assert not [text for text in texts if "finalize" in text or "Java" in text]


def test_proposed_files_stand_in_for_those_that_run(tmp_path):
    pair = PAIRS["zookeeper_2_8_to_3_9_not_pinned"]
    for broker in range(3):
        lines = (f"broker.id={broker}", "zookeeper.connect=zk:2181", "inter.broker.protocol.version=2.8")
        (tmp_path / f"{broker}.properties").write_text("\n".join(lines))
    assert {item["code"] for item in decide(pair)["blockers"]} == {"KA913"}
    report = decide(pair, proposed=[str(tmp_path)])
    assert not [item for item in report["blockers"] if item["code"] == "KA913"], report["blockers"]
    assert not any("add the line below" in step["text"] for step in report["steps"])


def test_a_line_that_a_proposed_file_no_longer_has_is_gone(tmp_path):
    (tmp_path / "1.properties").write_text("broker.id=1\nzookeeper.connect=zk:2181\n")
    report = decide(PAIRS["zookeeper_2_8_to_3_9"], proposed=[str(tmp_path)])
    assert [item["resource"] for item in report["blockers"] if item["code"] == "KA913"] == ["broker/1"]


def test_the_oldest_client_is_a_release():
    with pytest.raises(UsageError, match="'old' is not a Kafka version"):
        plan.plan("rolling-upgrade", version="4.3.0", oldest_client="old")
