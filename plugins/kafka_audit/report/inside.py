"""Which findings of a report are inside an incident: the home of this question for pages, messages, gates and digests."""

from kafka_audit.model.report import Report, ReportedIncident


def inside(incident: ReportedIncident) -> list[str]:
    """Return the fingerprints of all findings that an incident explains."""
    return [*incident.findings, *incident.explains]


def incident_numbers(document: Report) -> dict[str, int]:
    """Return the number of the incident by the fingerprint of each finding inside one; the first incident is 1."""
    return {fingerprint: number for number, one in enumerate(document.incidents, 1) for fingerprint in inside(one)}
