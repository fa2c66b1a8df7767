"""Reads and probes of case files: a failure is told by its text or by its member, and the row has both."""

from collections.abc import Mapping
from typing import Any

from kafka_audit.model.read_failure import ReadFailure


def with_failure(failure: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a row; `error` and `reason` follow from each other."""
    if failure.get("reason"):
        return {"error": ReadFailure[failure["reason"]].words, **failure}
    return {**failure, "reason": ReadFailure.of(None, failure["error"]).name} if failure.get("error") else {**failure}
