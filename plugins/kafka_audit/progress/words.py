"""A row in words: "Reassignment of orders-0 to broker 3: 41 % after 12 minutes, about 17 more"."""

from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.text import counted, start_upper


def summary(row: ProgressRow) -> str:
    """Return what it is, how far, since when, and how long it will take, or for how long it stands still."""
    return f"{start_upper(row.what)}{' ' if row.state == 'standing' else ': '}{how_far(row)}"


def how_far(row: ProgressRow) -> str:
    """Return how far it is, since when, and how long it will take, or for how long it stands still."""
    waits = f", waits for {row.waits_for}" if row.waits_for else ""
    share = None if row.share is None else f"{round(100 * row.share)} %"
    if row.state == "standing":
        at = f" at {share}" if share else ""
        return f"stands still for {counted(row.unchanged_minutes or 0, 'minute')}{at}{waits}"
    after = f"after {counted(row.minutes, 'minute')}" if row.minutes else "after less than a minute"
    far = f"{share} {after}" if share else after
    if row.state == "unknown":
        return f"{far}{waits or '; whether it moves is not known'}"  # of what waits it is the time alone that is not known
    more = "" if row.minutes_left is None else f", about {row.minutes_left} more"
    return f"{far}{more}{', once less is produced' if row.left_grows else ''}{waits}"
