"""The server, asked by the SDK's own client, once over stdio: conversations about a stored report."""

import asyncio
import dataclasses
import hashlib
import json
import os
import sys
from pathlib import Path

import pytest
from mcp.client._memory import InMemoryTransport
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

import hostile
from kafka_audit.agents import answers
from kafka_audit.agents.server import create_server
from kafka_audit.cli import main
from kafka_audit.model.report import report_json
from kafka_audit.store import Store
from reported import report_of

TOOLS = {
    "clusters", "why", "findings", "party", "reach", "not_known", "what_would_decide", "changes", "cite", "explain", "lint",
    "what_if", "may", "logs",
}  # fmt: skip


@pytest.fixture
def store(tmp_path, audited):
    """A store with one report; its path."""
    document, snapshot = audited("refused", "some_login_fails")
    filled = Store(tmp_path / "store")
    filled.prepare()
    filled.write(snapshot)
    filled.write_report(document["snapshot_id"], report_of(document))
    return filled.root, document


def conversation(root, *calls, over=None):
    """Call tools of the server over a store, in this process, and return the tools it lists and what each call was answered."""

    async def talk():
        transport = InMemoryTransport(create_server(str(root))) if over is None else over
        async with transport as streams, ClientSession(*streams) as session:
            hello = await session.initialize()
            tools = (await session.list_tools()).tools
            served = [await session.call_tool(name, arguments) for name, arguments in calls]
            return hello, tools, served

    return asyncio.run(talk())


def command(root):
    """Return the transport to the command, a process of its own."""
    arguments = ["-m", "kafka_audit.cli", "mcp", "--store", str(root)]
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    return stdio_client(StdioServerParameters(command=sys.executable, args=arguments, env=environment))


def test_an_agent_finds_the_cause_and_what_it_rests_on(store):
    root, document = store
    cluster = document["cluster"]
    hello, tools, (listed, why) = conversation(
        root, ("clusters", {}), ("why", {"cluster": cluster, "incident": 1}), over=command(root)
    )
    assert "never instructions" in hello.instructions
    assert {tool.name for tool in tools} == TOOLS
    assert all(tool.annotations.read_only_hint and not tool.annotations.open_world_hint for tool in tools)
    (overview,) = json.loads(listed.content[0].text)["clusters"]
    assert overview["cluster"] == cluster
    (incident,) = json.loads(why.content[0].text)["incidents"]
    assert incident["headline"] == overview["incidents"][0]["headline"] == document["incidents"][0]["headline"]
    evidence = incident["evidence_for"][0]

    _, _, (cited, reach, party, unknown, decides, changes, findings) = conversation(
        root,
        ("cite", {"cluster": cluster, "id": evidence["id"]}),
        ("reach", {"cluster": cluster, "source": "broker 0", "target": "broker:1"}),
        ("party", {"cluster": cluster, "name": "broker 1"}),
        ("not_known", {"cluster": cluster}),
        ("what_would_decide", {"cluster": cluster}),
        ("changes", {"cluster": cluster, "snapshot": document["snapshot_id"]}),
        ("findings", {"cluster": cluster, "code": document["incidents"][0]["cause"]}),
    )
    assert json.loads(cited.content[0].text)["content"]["text"] == evidence["text"]
    assert json.loads(reach.content[0].text)["to"] == "broker 1"
    assert json.loads(party.content[0].text)["party"] == "broker 1"
    assert json.loads(unknown.content[0].text) == answers.not_known(document)
    assert json.loads(decides.content[0].text) == answers.what_would_decide(document)
    assert json.loads(changes.content[0].text)["changes"] == document["changes"]
    assert json.loads(findings.content[0].text)["findings"]
    assert not any(answer.is_error for answer in (cited, reach, party, unknown, decides, changes, findings))


def test_what_would_stop_is_answered_as_by_the_command(store, capsys):
    root, document = store
    cluster = document["cluster"]
    _, _, served = conversation(
        root,
        ("what_if", {"cluster": cluster, "without": ["broker:1"]}),
        ("what_if", {"cluster": cluster, "without": ["broker:0", "broker:1"], "margin": 2}),
        ("what_if", {"cluster": cluster, "without": ["controller:77"]}),
        ("what_if", {"cluster": cluster, "without": []}),
    )
    assert [answer.is_error for answer in served] == [False, False, True, True]
    assert "the cluster has no controller:77" in served[2].content[0].text
    for answer, arguments in zip(served, (["broker:1"], ["broker:0", "broker:1", 2]), strict=False):
        refusal = json.loads(answer.content[0].text)
        *names, margin = [*arguments, 1] if arguments[-1] != 2 else arguments
        main(
            ["what-if", document["snapshot_id"], "--out", str(root), "--format", "json", "--margin", str(margin)]
            + [word for name in names for word in ("--without", name)]
        )
        by_command = json.loads(capsys.readouterr().out)
        assert refusal.pop("cluster") == cluster
        assert refusal == by_command


def test_what_cannot_be_answered_is_said_in_one_line(store):
    root, document = store
    _, _, served = conversation(
        root,
        ("why", {"cluster": "porduction"}),
        ("party", {"cluster": document["cluster"], "name": "broker 77"}),
        ("why", {"cluster": document["cluster"], "snapshot": "20200101T000000Z-none-0000"}),
        ("explain", {"check": "KA999"}),
        ("lint", {"properties": "broker.id=1", "kafka_version": "0.1"}),
    )
    assert all(answer.is_error for answer in served)
    texts = [answer.content[0].text for answer in served]
    assert "no cluster 'porduction' in the store" in texts[0]
    assert "no party 'broker 77'" in texts[1]
    assert "20200101T000000Z-none-0000" in texts[2]
    assert "KA999" in texts[3]
    assert "0.1" in texts[4]
    assert not any("\n" in text for text in texts)


ODD = [
    ("findings", {"limit": -1}, "limit is -1; it is a number from 1 to 200"),
    ("findings", {"limit": 0}, "limit is 0"),
    ("findings", {"status": "fails"}, "'fails' is no status; did you mean FAIL?"),
    ("findings", {"code": "KA" * 1000}, "code has 2000 characters or entries; at most 1000 are read"),
    ("cite", {"id": ""}, "has no ; an id is such as /incidents/0"),
    ("cite", {"id": "findings"}, "has no findings"),
    ("cite", {"id": "/findings/-1"}, "has no /findings/-1"),
    ("cite", {"id": "/findings/9999999999999"}, "has no /findings/9"),
    ("party", {"name": "broker \ud800"}, "name is no text that UTF-8 can hold"),
    ("why", {"snapshot": "../../etc/passwd"}, "this store has no snapshot '../../etc/passwd'"),
    ("why", {"incident": 10**40}, "there is no incident 1000"),
    ("what_if", {"without": ["broker:1"], "margin": 10**30}, "it is a number of copies from 1 to 100"),
    ("what_if", {"without": ["broker:1"], "margin": 0}, "margin is 0"),
    ("what_if", {"without": ["broker:" + "9" * 40]}, "is not the id of a broker"),
    ("what_if", {"without": ["broker:1"] * 101}, "without has 101 characters or entries; at most 100 are read"),
    ("what_if", {"without": ["rack:" + "a" * 1000]}, "an entry of without has 1005 characters"),
    ("may", {"step": ["halt", "2"]}, "'halt' is not a step; choose stop"),
    ("may", {"step": "halt 2"}, "'halt' is not a step; choose stop"),
    ("may", {"step": []}, "no step is named"),
    ("may", {"step": ["reassign", "/etc/passwd"]}, "/etc/passwd is no plan of kafka-reassign-partitions.sh"),
]
ODD_FILES = [
    ("a=\ud800", "properties is no text that UTF-8 can hold"),
    ("hello", "server.properties: contains no broker settings"),
    ("broker.id=1\0", "server.properties:1: is binary"),
    ("#" * 1_000_001, "properties has 1000001 characters or entries; at most 1000000 are read"),
]


def test_odd_arguments_are_refused_in_words(store):
    root, document = store
    calls = [(tool, {"cluster": document["cluster"], **arguments}) for tool, arguments, _ in ODD]
    calls += [("lint", {"properties": text}) for text, _ in ODD_FILES]
    _, _, served = conversation(root, *calls)
    for (tool, arguments), answer, words in zip(
        calls, served, [*(case[2] for case in ODD), *(case[1] for case in ODD_FILES)], strict=True
    ):
        (content,) = answer.content
        assert answer.is_error, (tool, str(arguments)[:100])
        assert words in content.text
        assert len(content.text) < 1100


def flooded(store, copies):
    """Make a report as large as one of another party can be."""
    root, document = store
    (finding,) = [finding for finding in document["findings"] if finding["status"] == "FAIL"][:1]
    grown = finding | {"evidence": {"text": "a" * 3000, "commands": ["b" * 20_000]}}
    report = document | {"findings": [*document["findings"], *[grown] * copies]}
    report |= {
        "incidents": document["incidents"] * copies,
        "changes": [{"kind": "x", "resource": "y", "before": None, "after": None}] * copies,
    }
    Store(root).write_report(document["snapshot_id"], report_of(report))
    return report


def test_no_answer_is_larger_than_its_bound(store):
    root, document = store
    report = flooded(store, 3000)
    cluster = {"cluster": document["cluster"]}
    calls = [("clusters", {}), *((tool, cluster) for tool in ("why", "not_known", "what_would_decide", "changes"))]
    calls += [("findings", {**cluster, "limit": 10**9}), ("party", {**cluster, "name": "broker 1"})]
    calls += [("cite", {**cluster, "id": pointer}) for pointer in ("/findings", "/incidents", "/changes", "/findings/3000")]
    _, _, served = conversation(root, *calls)
    for call, answer in zip(calls, served, strict=True):
        assert not answer.is_error, (call, answer.content[0].text[:300])
        assert len(answer.content[0].text) <= answers.MOST_CHARACTERS
    told = [json.loads(answer.content[0].text) for answer in served]
    assert told[0]["clusters"][0]["incidents_omitted"] > 0
    assert told[4]["changes_omitted"] == 2800
    assert len(told[7]["content"]) + told[7]["content_omitted"] == len(report["findings"])
    assert told[10]["content"]["evidence"]["commands"] == ["[a text of 20000 characters]"]  # never a part of a command


@pytest.mark.parametrize("file", ["manifest.json", "findings.json"])
@pytest.mark.parametrize("content", ["{", '{"schema_version": 2}', "[]"])
def test_a_snapshot_that_cannot_be_read_is_one_row(store, file, content):
    root, document = store
    place = Path(root, "snapshots", document["snapshot_id"])
    other = place.with_name("20990101T000000Z-bad-0000".replace("2099", "2020"))
    other.mkdir()
    for path in place.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    manifest = json.loads((place / "manifest.json").read_text()) | {"snapshot_id": other.name, "cluster": "bad"}
    (other / "manifest.json").write_text(json.dumps(manifest))
    (other / file).write_text(content)
    _, _, (listed, why) = conversation(root, ("clusters", {}), ("why", {"cluster": "bad"}))
    bad, honest = json.loads(listed.content[0].text)["clusters"]
    assert (bad["cluster"], honest["cluster"]) == ("bad", document["cluster"])
    assert bad["not_known"].startswith("its newest snapshot cannot be read: ")
    assert honest["incidents"]
    assert why.is_error
    assert other.name in why.content[0].text


def test_a_flooded_report_takes_no_room_from_other_clusters(store):
    _, document = store
    loud = document | {"incidents": [document["incidents"][0] | {"headline": "a" * 9000}] * 3000}
    rows = answers.overviews({"loud": loud, "cut": document | {"coverage": None}, "honest": document})
    assert rows[1] == {"cluster": "cut", "not_known": "its newest report has not the parts of a report"}
    assert rows[2] == answers.overview(document)
    assert (rows[0]["cluster"], len(json.dumps(rows)) < answers.MOST_CHARACTERS) == (document["cluster"], True)


def test_an_empty_store_and_a_snapshot_without_report_are_no_all_clear(tmp_path, audited):
    _, _, (refused,) = conversation(tmp_path / "nosuch", ("clusters", {}))
    assert refused.is_error
    assert f"nothing was audited: {tmp_path / 'nosuch'} has no snapshot" in refused.content[0].text
    document, snapshot = audited("refused", "some_login_fails")
    filled = Store(tmp_path / "store")
    filled.prepare()
    filled.write(snapshot)
    _, _, (listed,) = conversation(filled.root, ("clusters", {}))
    assert json.loads(listed.content[0].text)["clusters"] == [
        {"cluster": document["cluster"], "not_known": "its newest snapshot has no report"}
    ]


def test_lint_and_explain_need_no_cluster(tmp_path):
    wrong = "process.roles=broker\nnode.id=1\n"
    _, _, (refused, page) = conversation(
        tmp_path / "empty", ("lint", {"properties": wrong, "kafka_version": "4.3.0"}), ("explain", {"check": "KA302"})
    )
    (file,) = json.loads(refused.content[0].text)["files"]
    assert (file["path"], file["starts"]) == ("server.properties", False)
    assert file["findings"]
    assert page.content[0].text.startswith("KA302")


def test_hostile_names_stay_inside_values(tmp_path, audited):
    _, snapshot = audited("cut_off", "one_broker_inferred")
    document = report_json(hostile.document(hostile.STRINGS[-1])) | {"snapshot_id": snapshot.snapshot_id}
    filled = Store(tmp_path / "store")
    filled.prepare()
    filled.write(snapshot)
    document["cluster"] = filled.clusters()[0]
    filled.write_report(document["snapshot_id"], report_of(document))
    hello, tools, (why,) = conversation(filled.root, ("why", {"cluster": document["cluster"]}))
    assert json.loads(why.content[0].text)["incidents"]
    assert why.content[0].text.isascii()
    fixed = hello.instructions + json.dumps([tool.model_dump(mode="json") for tool in tools])
    assert fixed.isascii()


def test_steps_of_an_imported_report_are_told_as_those_of_its_writer(store):
    root, document = store
    cluster = {"cluster": document["cluster"]}
    calls = [("why", cluster), ("findings", cluster), ("party", {**cluster, "name": "broker 1"}), ("not_known", cluster)]
    calls += [("cite", {**cluster, "id": "/incidents/0/remediation"}), ("what_would_decide", cluster)]
    _, _, served = conversation(root, *calls)
    assert not any("origin" in json.loads(answer.content[0].text) for answer in served)
    held = Store(root)
    text = Path(root, "snapshots", document["snapshot_id"], "findings.json").read_bytes()
    manifest = dataclasses.replace(held.manifest(document["snapshot_id"]), imported=hashlib.sha256(text).hexdigest())
    Path(root, "snapshots", document["snapshot_id"], "manifest.json").write_text(manifest.to_json())
    _, _, served = conversation(root, *calls)
    assert all(json.loads(answer.content[0].text)["origin"].startswith("Not by this kafka-audit") for answer in served)


def test_logs_are_read_from_their_text_alone(tmp_path):
    log = "[2026-11-29 10:00:00,000] ERROR x (kafka.server.KafkaServer)\njava.io.IOException: No space left on device\n"
    _, _, (found, lone) = conversation(tmp_path / "empty", ("logs", {"text": log}), ("logs", {"text": "a\ud800"}))
    assert json.loads(found.content[0].text)["incidents"][0]["headline"] == "A node: a disk is full"
    assert "text is no text that UTF-8 can hold" in lone.content[0].text
