"""What Spark answered to a run, as its JSON writer leaves it below `runs/<run_id>/`."""

import json
from collections.abc import Mapping
from typing import Any

from kafka_audit.model.errors import EngineError
from kafka_audit.model.finding import Change
from kafka_audit.model.run import Answer, judgement_from_dict, run_path
from kafka_audit.store.files import Files


def read(files: Files, run_id: str) -> Answer:
    """Return the answer.

    Raises:
        EngineError: Spark ended without writing all of it, or wrote what is no answer.
    """
    try:
        return Answer(
            judgements=tuple(judgement_from_dict(raw) for raw in _json_lines(files, run_path(run_id, "judgements"))),
            changes=tuple(_change(raw) for raw in _json_lines(files, run_path(run_id, "changes"))),
        )
    except (ValueError, KeyError) as error:
        msg = f"{files.place(run_path(run_id, ''))}: Spark's answer cannot be read: {error!r}"
        raise EngineError(msg) from error


def _json_lines(files: Files, folder: str) -> list[dict[str, Any]]:
    names = files.names(folder)
    if "_SUCCESS" not in names:  # Spark's own mark, written when every task has committed
        msg = f"{files.place(folder)}: Spark ended without a complete answer here (no _SUCCESS); see its log"
        raise EngineError(msg)
    lines: list[dict[str, Any]] = []
    for name in names:
        if name.startswith("part-"):
            content = files.read(f"{folder}/{name}") or b""
            # Not splitlines(): a topic's name may hold what Python takes for a line's end.
            lines.extend(json.loads(line) for line in content.split(b"\n") if line.strip())
    return lines


def _change(raw: Mapping[str, Any]) -> tuple[str, Change]:
    return raw["snapshot_id"], Change(
        kind=raw["kind"], resource=raw["resource"], before=raw.get("before"), after=raw.get("after")
    )
