"""Reads and probes of case files: a failure is told by its text or by its member, and the row has both."""

from collections.abc import Mapping
from typing import Any

from kafka_audit.model.read_failure import ReadFailure


def with_failure(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a row; `error` and `reason` follow from each other."""
    if told.get("reason"):
        return {"error": ReadFailure[told["reason"]].words, **told}
    return {**told, "reason": ReadFailure.of(None, told["error"]).name} if told.get("error") else {**told}
