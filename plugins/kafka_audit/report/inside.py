"""Which findings of a report are inside an incident: the home of this question for pages, messages, gates and digests."""

from collections.abc import Mapping
from typing import Any


def inside(incident: Mapping[str, Any]) -> list[str]:
    """Return the fingerprints of all findings that an incident explains; documents of earlier versions have no lower ones."""
    return [*incident["findings"], *incident.get("explains", ())]


def incident_numbers(document: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of the incident by the fingerprint of each finding inside one; the first incident is 1."""
    return {fingerprint: number for number, one in enumerate(document["incidents"], 1) for fingerprint in inside(one)}
