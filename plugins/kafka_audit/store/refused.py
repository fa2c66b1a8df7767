"""Rows that Parquet refuses: left out, and the read that they came from is made a failed one, so that no check passes by them.

Collectors range-check what they make rows of; what reaches this place is a bug or an attack that was not thought of.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from kafka_audit.model.cluster import WORKER
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    ZOOKEEPER,
    AddressProbe,
    AuthorityCertificate,
    BrokerIdentity,
    BrokerProperty,
    Certificate,
    ControllerConfig,
    ControllerProbe,
    ControllerProbeFromBroker,
    LogLine,
    Probe,
    ProcessLine,
    PropertyLogin,
    Row,
    SourceRead,
    VoterProbe,
    ZookeeperMember,
    ZookeeperProbe,
)
from kafka_audit.model.tables.fitting import misfit
from kafka_audit.model.text import clean

STORE = "store"
_FAULT = {"error": ReadFailure.MALFORMED_ANSWER.words, "reason": ReadFailure.MALFORMED_ANSWER.name}
_NEEDS = "a valid response; if the response is valid, report a bug"


def culprits(rows: Sequence[Row], is_refused: Callable[[Row], bool]) -> dict[int, str]:
    """Return the index of each row that cannot be stored, with table and column; `is_refused` tries a single row."""
    found = {}
    for index, row in enumerate(rows):
        text = misfit(row) or (f"{row.table()}: a value that Parquet cannot store" if is_refused(row) else None)
        if text is not None:
            found[index] = text
    return found


def of_one_answer(row: Row) -> tuple[type[Row], str] | None:
    """Return what a row shares with all others of the same broker's answer, None if each row has its own source.

    Of a broker's settings none is left where one is lost: a setting that is not there counts as not set.
    """
    observer = getattr(row, "observer", None)
    of_node = isinstance(observer, str) and (observer.startswith("broker") or isinstance(row, ControllerConfig))
    return (type(row), observer) if of_node and isinstance(observer, str) else None


def source(row: Row) -> tuple[str, str]:
    """Return observer and operation of the read that a row came from, as far as the row shows."""
    operations = row.filled_by or (STORE,)
    operation = operations[0]
    observer = getattr(row, "observer", None)
    if observer == "zookeeper" or operation.startswith(ZOOKEEPER):
        return "zookeeper", next((name for name in operations if name.startswith(ZOOKEEPER)), operation)
    of_vantages = Probe | AddressProbe | ControllerProbeFromBroker | VoterProbe | ZookeeperProbe
    if isinstance(row, of_vantages | Certificate | AuthorityCertificate):
        vantage = WORKER if isinstance(row, AuthorityCertificate) else row.vantage
        return f"vantage:{vantage}", f"{operation} {vantage}"
    if isinstance(row, BrokerProperty | LogLine | ProcessLine | PropertyLogin):
        return f"{operation}:{row.broker_id}", operation
    if isinstance(row, ZookeeperMember):
        return f"zookeeper@{row.member}", operation
    if isinstance(row, ControllerProbe):
        return f"controller@{row.address}", operation
    return (
        observer if isinstance(observer, str) else f"broker:{row.broker_id}" if isinstance(row, BrokerIdentity) else STORE
    ), operation


def reads_with_lost_rows(reads: Iterable[SourceRead], lost: Iterable[tuple[Row, str]]) -> list[SourceRead]:
    """Return the reads with those failed from which a row was left out; one that was not recorded is added.

    Args:
        reads: of the snapshot.
        lost: each row that was left out, and why.
    """
    found = list(reads)
    for key, text in dict.fromkeys((source(row), text) for row, text in lost if not isinstance(row, SourceRead)):
        observer, operation = key
        fault = {"outcome": "failed", **_FAULT, "message": f"left out of the store: {text}", "needs": _NEEDS}
        own = [at for at, read in enumerate(found) if read.observer == observer and read.operation.startswith(operation)]
        for at in own:
            found[at] = replace(found[at], **fault)  # type: ignore[arg-type] # columns by name
        if not own:
            last = max((read.sample for read in found if isinstance(read.sample, int)), default=1)
            found.append(
                SourceRead(sample=last, observer=clean(observer), operation=operation, target=clean(observer), **fault)  # type: ignore[arg-type]
            )
    return found


def mended(read: SourceRead) -> SourceRead:
    """Return a row about a read that does fit, as a failed one: what is known of a failure is never left out."""
    return SourceRead(
        sample=_number(read.sample, 1),
        observer=_text(read.observer),
        operation=_text(read.operation),
        target=_text(read.target),
        outcome="failed",
        **_FAULT,
        message=f"left out of the store: {misfit(read)}",
        needs=_NEEDS,
        elapsed_ms=_number(read.elapsed_ms, 0),
    )


def _text(value: object) -> str:
    return clean(value) if isinstance(value, str) else STORE


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**31 else otherwise
