"""What the button Test of a connection shows, from the reads of a snapshot. Pure."""

from collections import defaultdict
from collections.abc import Mapping

from kafka_audit.cluster.answers.reads import observer_name
from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect.brokers.broker_view import API_VERSIONS, METADATA
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Snapshot, SourceRead
from kafka_audit.model.text import counted, listing


def connection_result(snapshot: Snapshot) -> tuple[bool, str]:
    """Return whether all brokers answered every read that an audit counts, and a text on one line: brokers, reads and rights."""
    last = ClusterView.of_files(snapshot).last_reads
    reads = [read for read in last if read.observer.startswith(("broker:", "broker@"))]
    answering = {read.observer: read.target for read in reads if read.operation == METADATA and _answered(read)}
    silent: dict[str, str] = {}
    rights: defaultdict[str, set[str]] = defaultdict(set)
    failed: defaultdict[str, list[str]] = defaultdict(list)
    for read in reads:
        name = observer_name(read.observer)
        if _answered(read):
            continue
        if read.operation in {API_VERSIONS, METADATA} and read.observer not in answering:
            silent.setdefault(_at(name, read.target), f"{read.error}; it needs {read.needs}" if read.needs else str(read.error))
        elif read.failure is ReadFailure.NOT_AUTHORIZED:
            rights[read.needs or f"the right to {read.operation}"].add(name)
        elif read.observer in answering:
            failed[name].append(f"{read.operation}: {read.error}")
    asked = len(answering) + len(silent)
    shown = listing(_at(observer_name(observer), target) for observer, target in sorted(answering.items()))
    parts = [f"{len(answering)} of {counted(asked, 'broker')} answered{f': {shown}' if shown else ''}"]
    if silent:
        parts.append(f"No answer: {_by_reason(silent)}")
    if rights:
        parts.append(
            f"Missing rights: {listing(f'{right} ({listing(sorted(parties))})' for right, parties in sorted(rights.items()))}"
        )
    if failed:
        parts.append(f"Failed reads: {listing(f'{name} ({listing(sorted(errors))})' for name, errors in sorted(failed.items()))}")
    if not (silent or rights or failed):
        parts.append("No right is missing")
    return bool(answering) and not (silent or rights or failed), ". ".join(parts)


def _by_reason(silent: Mapping[str, str]) -> str:
    """Return brokers with the reason why they do not answer, each reason once."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for name, why in sorted(silent.items()):
        named[why].append(name)
    return "; ".join(f"{listing(names)} ({why})" for why, names in named.items())


def _answered(read: SourceRead) -> bool:
    return read.outcome == "answered"


def _at(name: str, address: str) -> str:
    """Return a broker with its address; a broker whose id is unknown is named after it."""
    return name if address in name else f"{name} at {address}"
