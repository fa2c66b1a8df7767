"""Keys of XComs that tasks leave for other tasks, and for alerts."""

WHY = "why"
WHY_CHARS = 190  # an XCom is a row of Airflow's database

AUDIT = "kafka_audit"
"""A task that is an audit of its own leaves its cluster here, and the snapshot once that has a report."""


def why_of(cluster: str) -> str:
    """Return the key under which a task for all clusters leaves why one of them comes to no report."""
    return f"{WHY}_{cluster}"
