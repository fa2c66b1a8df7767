from collections.abc import Iterator, Mapping
from typing import TypeVar

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.model.tables import LogDir
from kafka_audit.model.text import brokers as brokers_text
from kafka_audit.model.text import listing, start_upper

_Key = TypeVar("_Key", int, str)
_GIB = 2**30
_LEAST = 10 * _GIB
"""Bytes that a broker or log dir has on average; below it, a difference is chance."""

_TIMES = 2
"""How many times the average is uneven."""


@check(code="KA619", severity=Severity.LOW)
def bytes_uneven(view: ClusterView) -> Judgements:
    """A broker, or one log dir of a broker, holds more than twice the average of bytes."""
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, reads)
    held = {broker: _bytes(view.log_dirs(broker)) for broker in reads.brokers}
    unread = [broker for broker, dirs in held.items() if not dirs]
    if held and not unread and len(held) == 1 and all(len(dirs) == 1 for dirs in held.values()):
        yield view.not_applicable("cluster", "the cluster has one broker with one log dir")
        return
    totals = {broker: sum(dirs.values()) for broker, dirs in held.items()}
    above = [] if unread else [(broker, f"broker {broker} has {text}") for broker, text in _above(totals)]
    for broker, dirs in held.items():
        above += [(broker, f"log dir {path} of broker {broker} has {text}") for path, text in _above(dirs)]
    if above:
        what = start_upper(listing([text for _, text in above], 4))
        ids = tuple(dict.fromkeys(broker for broker, _ in above))
        yield view.judge("cluster", Status.FAIL, what=what, broker=ids[0], above=ids)
    elif unread:
        gap = reads.gap(unread[0]) or {"error": "sizes are not in this snapshot", "needs": "an audit by this version"}
        yield view.unknown("cluster", f"{brokers_text(unread)}: {gap['error']}", gap["needs"])
    elif held:
        yield view.judge("cluster", Status.PASS, brokers=brokers_text(held))


def _bytes(dirs: Mapping[str, LogDir]) -> Mapping[str, int]:
    """Return the bytes of replicas by log dir that is online; nothing where they are unknown."""
    online = {path: row.replica_bytes for path, row in dirs.items() if not row.error}
    known = {path: size for path, size in online.items() if size is not None}
    return known if len(known) == len(online) else {}


def _above(sizes: Mapping[_Key, int]) -> Iterator[tuple[_Key, str]]:
    """Yield who has more than twice the average."""
    average = sum(sizes.values()) / len(sizes) if sizes else 0
    for key, size in sizes.items():
        if average >= _LEAST and size > _TIMES * average:
            yield key, f"{size // _GIB} GiB, the average is {average / _GIB:.0f}"
