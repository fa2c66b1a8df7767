"""What a viewer reads of an error, and what the API server's log keeps of it: paths and settings are for the administrators."""

import logging
import secrets

from kafka_audit.model.errors import SnapshotError, StoreError, UsageError
from kafka_audit.model.text import our_line, without_logins

log = logging.getLogger(__name__)
_LONGEST = 2000

_SENTENCES: tuple[tuple[type[Exception], str], ...] = (
    (SnapshotError, "The report in the store is not valid for this version."),
    (StoreError, "The store cannot be read."),
    (UsageError, "A setting of this deployment, or its cluster file, is not valid."),
)


def sentence(error: Exception) -> str:
    """Log an error under an id, and return a sentence for the viewer that names the id alone."""
    name = secrets.token_hex(4)
    text = our_line(without_logins(" ".join(str(error).split())), _LONGEST)
    log.warning("error %s: %s: %s", name, type(error).__name__, text)
    what = next((sentence for kind, sentence in _SENTENCES if isinstance(error, kind)), "An unexpected error occurred.")
    return f"{what} Error {name}: see the log of Airflow's API server."
