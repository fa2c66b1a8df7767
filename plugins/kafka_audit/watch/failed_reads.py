"""What a failed read of a watch means: a fault, or nothing known."""

from kafka_audit.collect.connections.protocol.conversation import THROTTLED, UNSUPPORTED
from kafka_audit.collect.connections.protocol.kafka_errors import TIMEOUT
from kafka_audit.collect.connections.sockets import NOT_DIALLED
from kafka_audit.collect.rows.source_reads import LASTING, NO_TICKET, NO_TOKEN, ReadError, clean_line
from kafka_audit.watch.reading import WatchAnswer, WatchOutcome

_NO_RIGHT = frozenset({"AuthFailedError", "NoAuthError", "no login"})  # of ZooKeeper
_REFUSED = LASTING | {NO_TICKET, NO_TOKEN, UNSUPPORTED, THROTTLED} | _NO_RIGHT


def failed_answer(error: ReadError | TimeoutError) -> WatchAnswer:
    """Return what a failed read is: a fault, or nothing known where the auditor may not ask."""
    if isinstance(error, TimeoutError):
        return WatchAnswer(outcome=WatchOutcome.FAILED, error=TIMEOUT)
    ours = error.error in _REFUSED or error.error.startswith(NOT_DIALLED)
    return WatchAnswer(outcome=WatchOutcome.UNKNOWN if ours else WatchOutcome.FAILED, error=clean_line(error.error))
