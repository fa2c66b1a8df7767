"""KAFKA_AUDIT_RETENTION: how much of the past the store keeps of clusters whose entry has no `keep`."""

import os
import re

from kafka_audit.model.cluster import Keep
from kafka_audit.model.errors import UsageError

VARIABLE = "KAFKA_AUDIT_RETENTION"
LEAST_SNAPSHOTS = 2
"""The newest one and the one that it is compared with."""
LEAST_DAYS, MOST_DAYS = 1, 9_999_999
_USUAL = Keep(snapshots=700)
_PART = re.compile(r"(?P<number>[1-9][0-9]{0,6})(?P<days>d?)")


def usual_keep() -> Keep:
    """Return what is kept of a cluster whose entry does not say it: a number of snapshots, days, or both; 700 if not set.

    Raises:
        UsageError: the variable has no such form.
    """
    text = os.environ.get(VARIABLE, "").strip()
    return _parsed(text) if text else _USUAL


def _parsed(text: str) -> Keep:
    found: dict[str, int] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip().lower())
        key = "days" if match and match["days"] else "snapshots"
        least = LEAST_DAYS if key == "days" else LEAST_SNAPSHOTS
        if match is None or key in found or int(match["number"]) < least:
            msg = (
                f"{VARIABLE} is {text!r}: it must be a number of snapshots (at least {LEAST_SNAPSHOTS}), an age in days, or both,"
                " for example 9000, 365d or 365d,9000"
            )
            raise UsageError(msg)
        found[key] = int(match["number"])
    return Keep(**found)
