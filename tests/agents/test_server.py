"""The server, asked by the SDK's own client, once over stdio: conversations about a stored report."""

import asyncio
import json
import os
import sys

import pytest
from mcp.client._memory import InMemoryTransport
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

import hostile
from kafka_audit.agents import answers
from kafka_audit.agents.server import create_server
from kafka_audit.cli import main
from kafka_audit.store import Store

TOOLS = {
    "clusters", "why", "findings", "party", "reach", "not_known", "what_would_decide", "changes", "cite", "explain", "lint",
    "what_if",
}  # fmt: skip


@pytest.fixture
def store(tmp_path, audited):
    """A store with one report; its path."""
    document, snapshot = audited("refused", "some_login_fails")
    filled = Store(tmp_path / "store")
    filled.prepare()
    filled.write(snapshot)
    filled.write_report(document["snapshot_id"], document)
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
        root, ("clusters", {}), ("why", {"cluster": cluster, "incident": 0}), over=command(root)
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
    document = hostile.document(hostile.STRINGS[-1]) | {"snapshot_id": snapshot.snapshot_id}
    filled = Store(tmp_path / "store")
    filled.prepare()
    filled.write(snapshot)
    document["cluster"] = filled.clusters()[0]
    filled.write_report(document["snapshot_id"], document)
    hello, tools, (why,) = conversation(filled.root, ("why", {"cluster": document["cluster"]}))
    assert json.loads(why.content[0].text)["incidents"]
    assert why.content[0].text.isascii()
    fixed = hello.instructions + json.dumps([tool.model_dump(mode="json") for tool in tools])
    assert fixed.isascii()
