"""What a failed read of a watch means: a fault, or nothing known."""

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.model.read_failure import LASTING, ReadFailure
from kafka_audit.watch.reading import WatchAnswer, WatchOutcome

_OURS = LASTING | {
    *(ReadFailure.NO_TICKET, ReadFailure.NO_TOKEN, ReadFailure.UNSUPPORTED_VERSION, ReadFailure.THROTTLED),
    *(ReadFailure.NO_LOGIN, ReadFailure.NOT_DIALLED),
}
"""The auditor may not ask, or not now: this says nothing about the cluster."""


def failed_answer(error: ReadError | TimeoutError) -> WatchAnswer:
    """Return what a failed read is: a fault, or nothing known where the auditor may not ask."""
    if isinstance(error, TimeoutError):
        return WatchAnswer(outcome=WatchOutcome.FAILED, error=ReadFailure.TIMEOUT.words, failure=ReadFailure.TIMEOUT)
    outcome = WatchOutcome.UNKNOWN if error.failure in _OURS else WatchOutcome.FAILED
    return WatchAnswer(outcome=outcome, error=clean_line(error.error), failure=error.failure)
