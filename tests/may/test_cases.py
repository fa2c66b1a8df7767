"""What `may` answers about clusters in `cases.yaml`, by the checks, gates, losses and rules of a whole audit."""

import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from checks.cases import base
from checks.test_cases import findings_of
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.checks.run import judge
from kafka_audit.cluster.changes import changes
from kafka_audit.differences.tables import OF_TOPICS
from kafka_audit.incidents import causes
from kafka_audit.may.answer import EXIT_CODES, answer_step
from kafka_audit.may.asking import rows_of_topics, with_rows_of_topics
from kafka_audit.may.plain_text import may_text
from kafka_audit.may.rules import Asked
from kafka_audit.may.step import FORMS, parse_step
from kafka_audit.model.errors import UsageError
from kafka_audit.report.document import build_report
from testbed.cluster_views import measure

GROUPS = yaml.load(Path(__file__).with_name("cases.yaml").read_text(), yaml.CSafeLoader)
CASES = {
    f"{group} {name}": (told.get("world", {}), case) for group, told in GROUPS.items() for name, case in told["cases"].items()
}
FIELDS = ["step", "answer", "why", "because", "waits_for", "loses", "read_first", "command"]


PARTS = ("now", "before", "previous", "samples")
NOW = datetime(2026, 9, 14, 18, 5, tzinfo=UTC)


def views_of(worlds, steps):
    """Return clusters by name with the topics of the steps in them: all are measured in one pass."""
    pairs = {name: snapshots(base(), name, {"world": world, "now": {}, **case}) for name, (world, case) in worlds.items()}
    views = cluster_views(pairs)
    with tempfile.TemporaryDirectory() as folder:
        together = measure([pair[0] for pair in pairs.values()], Path(folder))
        rows = {name: rows_of_topics(view, steps[name].topics) for name, view in views.items()}
        found = together.differences(rows, OF_TOPICS)
    return {name: with_rows_of_topics(view, found[name]) for name, view in views.items()}


def answer(view, step, options, now=NOW):
    """Return the answer to a step by an audit of a cluster."""
    findings, changed = findings_of(view, judge(view), []), changes(view)
    document = build_report(view, None, findings, causes.incidents(view, findings, changed), changed, None)
    return answer_step(Asked(step=step, view=view, document=document, now=now, **options))


def options_of(case):
    return {key: tuple(case[key]) for key in ("node_ids",) if key in case}


def answered(words, now=NOW, **options):
    """Return the answer to a step in the base's cluster."""
    name, step = "20260914T180000Z-prod-0001", parse_step(words)
    return answer(views_of({name: (GROUPS["zookeeper"]["world"], {})}, {name: step})[name], step, options, now)


@pytest.fixture(scope="package")
def asked(tmp_path_factory):
    """Return each case's cluster and step, by name."""
    names = {f"20260914T180000Z-prod-{number:04}": name for number, name in enumerate(CASES)}
    cases = {made: CASES[name] for made, name in names.items()}
    worlds = {made: (world, {key: case[key] for key in PARTS if key in case}) for made, (world, case) in cases.items()}
    steps = {made: parse_step(words_of(case, tmp_path_factory.mktemp("plan"))) for made, (_, case) in cases.items()}
    return {names[made]: (view, steps[made]) for made, view in views_of(worlds, steps).items()}


def words_of(case, folder):
    words = case["step"].split()
    if "plan" in case:
        path = folder / "plan.json"
        path.write_text(json.dumps({"version": 1, "partitions": case["plan"]}))
        words = [str(path) if word == "PLAN" else word for word in words]
    return words


@pytest.mark.parametrize("name", CASES)
def test_a_case(asked, name):
    case = CASES[name][1]
    found = answer(*asked[name], options_of(case))
    plain = found.to_plain()
    assert list(plain) == FIELDS
    assert plain["answer"] == case["answer"], plain
    assert found.exit_code == {"GO": 0, "NOT_NOW": 3, "NEVER": 3, "UNKNOWN": 4}[case["answer"]]
    for key, text in case.get("has", {}).items():
        assert text in str(plain[key]), plain
    assert (plain["command"] is not None) == (case["answer"] == "GO" and case.get("command", True)), plain
    text = may_text(found, ["This is prod."], width=100)
    assert text.startswith({"GO": "GO: ", "NOT_NOW": "NOT NOW: ", "NEVER": "NEVER: ", "UNKNOWN": "UNKNOWN: "}[case["answer"]])


def test_each_step_has_a_case_that_may_and_one_that_may_not():
    answers = {kind: {case["answer"] for _, case in CASES.values() if case["step"].split()[0] == kind} for kind in FORMS}
    assert {kind for kind, found in answers.items() if "GO" not in found or not found & {"NOT_NOW", "NEVER"}} == set()
    assert {kind for kind, found in answers.items() if "UNKNOWN" not in found} == set()


def test_every_answer_has_an_exit_code():
    assert sorted(EXIT_CODES.values()) == [0, 3, 3, 4]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("halt 2", "halt"),
        ("restrat 2", "did you mean restart"),
        ("stop", "its words are missing; write `stop 2`"),
        ("stop two", "'two' is not the id of a node"),
        ("stop zookeeper:1", "'zookeeper' is neither broker nor controller"),
        ("stop 2 3", "it takes other words"),
        ("finalize now", "write `finalize`"),
        ("upgrade next", "'next.0' is not a Kafka version"),
        ("delete-znode controller", "no path of a znode"),
        ("delete-znode /a/../b", "no path of a znode"),
        ("reassign /nowhere.json", "cannot be read"),
        ("set orders a=b", "neither a broker nor a topic"),
        ("set topic:orders a", "no KEY=VALUE"),
    ],
)
def test_what_is_no_step(text, says):
    with pytest.raises(UsageError) as raised:
        parse_step(text.split())
    assert says in str(raised.value)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"partitions": []}', '{"partitions": [{"topic": "a"}]}', '{"partitions": 3}', "[" * 100_000]
)
def test_what_is_no_plan(tmp_path, text):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"plan\.json is no plan|a plan has 1 to"):
        parse_step(["reassign", str(path)])


def test_a_node_that_the_cluster_does_not_have_cannot_be_stopped():
    with pytest.raises(UsageError, match="the cluster has no node 77; it has 0, 1 and 2"):
        answered(["stop", "77"])


def test_a_node_is_named_by_its_id_or_with_its_role():
    assert {parse_step(["stop", text]).node for text in ("2", "broker:2", "controller:2")} == {2}
    assert parse_step(["set", "2", "a=b"]).node == parse_step(["set", "broker:2", "a=b"]).node == 2
    assert answered(["restart", "broker:1"]).permit == answered(["restart", "1"]).permit
    with pytest.raises(UsageError, match="node 1 is no controller: it is broker 1"):
        answered(["restart", "controller:1"])


@pytest.mark.parametrize("words", [["delete-topic", "order"], ["set", "topic:order", "compression.type=lz4"]])
def test_a_topic_that_the_cluster_does_not_have_is_bad_input(words):
    with pytest.raises(UsageError, match="the cluster has no topic order"):
        answered(words)


def test_an_old_audit_says_no_go():
    step = ["set", "topic:orders", "compression.type=lz4"]
    assert answered(step).to_plain()["answer"] == "GO"
    later = answered(step, NOW + timedelta(minutes=20)).to_plain()
    assert (later["answer"], later["command"]) == ("UNKNOWN", None)
    assert "`kafka-audit may prod set" in later["read_first"]


def test_an_audit_with_a_newer_one_beside_it_says_no_go():
    found = answered(["set", "topic:orders", "compression.type=lz4"], newer="20260914T180100Z-prod-0002").to_plain()
    assert (found["answer"], found["command"]) == ("UNKNOWN", None)
    assert found["why"] == ["what has changed since this audit: 20260914T180100Z-prod-0002 is newer"]


def test_a_step_with_nothing_left_to_do_says_so_first():
    protocol = {"inter.broker.protocol.version": "3.9"}
    name, step = "20260914T180000Z-prod-0001", parse_step(["finalize"])
    world = {**GROUPS["zookeeper"]["world"], "config_sources": {"inter.broker.protocol.version": 4}}
    found = answer(views_of({name: (world, {"now": {"configs": protocol}})}, {name: step})[name], step, {})
    assert may_text(found, [], width=200) == "GO: finalize: The protocol is 3.9 already: nothing is left to finalize."


def test_what_a_user_types_is_one_word_of_the_command():
    found = answered(["set", "topic:orders", "compression.type=lz4"])
    assert found.to_plain()["command"].endswith("--add-config compression.type=lz4")
    assert "'" in answered(["delete-znode", "/config/changes/a b;c"]).to_plain()["command"]
