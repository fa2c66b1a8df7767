"""A scripted agent: it asks `kafka-audit mcp` what is broken and why, over the SDK's client, and answers in words.

It reads no report and knows no check: what it can say is what the tools' answers say.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from kafka_audit.store import Store
from testbed.corpus.documents import whole_documents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from testbed.puzzles.bundle import Puzzle

_SURE = frozenset({"measured", "inferred"})
_OPEN = frozenset({"possible", "rare"})


def answers(given: Iterable[Puzzle], folder: str) -> dict[str, str]:
    """Return what the agent says of each puzzle, by number; `folder` takes the store that its tools read."""
    asked = {puzzle.number: puzzle for puzzle in given}
    store = Store(folder)
    store.prepare()
    pairs = {puzzle.snapshot.snapshot_id: (puzzle.snapshot, puzzle.previous) for puzzle in asked.values()}
    for snapshot_id, document in whole_documents(pairs).items():
        store.write(pairs[snapshot_id][0])
        store.write_report(snapshot_id, document)
    return asyncio.run(_converse(asked, folder))


async def _converse(asked: Iterable[str], folder: str) -> dict[str, str]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "kafka_audit.cli", "mcp", "--store", folder],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()

        async def ask(tool: str, **arguments: object) -> dict[str, Any]:
            (answer,) = (await session.call_tool(tool, arguments)).content
            found: dict[str, Any] = json.loads(answer.text)  # type: ignore[union-attr]
            return found

        named = {}
        for number in asked:
            lines = []
            for incident in (await ask("why", cluster=number))["incidents"]:
                lines += _told(incident)
            if not lines:
                found = (await ask("findings", cluster=number, limit=5))["findings"]
                lines = [result["message"] for result in found]
            named[number] = "\n".join(lines)
        return named


def _told(incident: dict[str, Any]) -> list[str]:
    """Return what the agent says of an incident: its headline, as a guess unless it is sure; candidates; what it rests on."""
    sure = incident["confidence"] in _SURE
    lines = [incident["headline"] if sure else f"Suspected: {incident['headline']}"]
    if not sure:
        lines += [f"Possibly: {candidate['fault']}" for candidate in incident["candidates"] if candidate["state"] in _OPEN]
    return [*lines, *(f"Because {evidence['text']}" for evidence in incident["evidence_for"]), ""]
