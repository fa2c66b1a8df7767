"""What was asked and how it ended: the last outcome of each read, whose it was, and why it failed."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kafka_audit.model.tables import BrokerIdentity, Snapshot, SourceRead
from kafka_audit.model.text import clean

_REFUSALS = re.compile(r"authori[sz]ation|\bnoauth|\b(29|30|31)\b", re.IGNORECASE)

NOT_TRUSTED = "not trusted"
"""The error of reads that want a login at an address where the cluster file lets no password go."""

SCRAM_WEAK, SCRAM_FALSE = "weak SCRAM", "SCRAM not verified"
"""The errors of reads where the auditor ended its login, because of what the other end sent."""

LOGS = "logs:"
"""How observers begin that are a broker's logs."""

_RESTARTING = ("connection refused", "connection reset", "connection closed", "timeout", "no route to host")


def last_reads(snapshot: Snapshot) -> tuple[SourceRead, ...]:
    """Return each read as it ended when it was asked last."""
    last: dict[tuple[str, str, str], SourceRead] = {}
    for read in snapshot.of(SourceRead):
        key = (read.observer, read.operation, read.target)
        if key not in last or read.sample >= last[key].sample:
            last[key] = read
    return tuple(last.values())


def reads_by_resource(snapshot: Snapshot) -> Mapping[str, Sequence[SourceRead]]:
    """Return the last reads by the resource that they are about, in its order; what is no broker's is the cluster's."""
    of = resources(snapshot)
    reads: dict[str, list[SourceRead]] = defaultdict(list)
    for read in last_reads(snapshot):
        reads[of.get(read.observer, "cluster")].append(read)
    return dict(sorted(reads.items()))


def resources(snapshot: Snapshot) -> Mapping[str, str]:
    """Return the resource that each asked broker's or controller's reads are about, by observer.

    An address of the cluster file that no broker registered is the broker that the socket says it is, where it says so. A
    broker's logs are its own word, too.
    """
    told = {
        row.address: row.answered_by for row in snapshot.of(BrokerIdentity) if row.broker_id < 0 and row.answered_by is not None
    }
    found = {}
    for read in snapshot.of(SourceRead):
        if read.observer.startswith(("broker:", "broker@")):
            name = read.observer[len("broker:") :]
            found[read.observer] = f"broker/{told.get(read.target, name)}"
        elif read.observer.startswith(LOGS) and read.observer[len(LOGS) :].isdecimal():
            found[read.observer] = f"broker/{read.observer[len(LOGS) :]}"
        elif read.observer.startswith("controller@"):
            found[read.observer] = read.observer.replace("@", "/", 1)
    return found


def observer_name(observer: str) -> str:
    """Return an observer of the tables as people call it: `broker:2` is broker 2, `broker@b9:9092` the broker at b9:9092."""
    return re.sub(r"^(\w+)([:@])", lambda m: f"{m[1]} {'at ' if m[2] == '@' else ''}", clean(observer))


def source_name(resource: str, asked: Sequence[SourceRead]) -> str:
    """Return who was asked, for a sentence: `broker 2`, else every other source by its name."""
    if resource != "cluster":
        return resource.replace("/", " ", 1)
    names = {observer_name(read.observer) for read in asked}
    return ", ".join(sorted(one for one in names if "zookeeper" not in names or not one.startswith("zookeeper at ")))


def failed_texts(failed: Sequence[SourceRead]) -> Mapping[str, str]:
    """Return evidence on reads that failed: which, how the first of them ended, and what it needs."""
    first = failed[0]
    return {
        "reads": ", ".join(sorted({read.operation for read in failed})),
        "error": f"{first.error}: {first.message}" if first.message else str(first.error),
        "needs": next((read.needs for read in failed if read.needs), f"an answer of {first.target} to {first.operation}"),
    }


def is_refusal(error: str | None) -> bool:
    """Tell whether a read failed for lack of rights: Kafka's errors 29 to 31, ZooKeeper's NoAuth. A wrong password is none."""
    return error is not None and _REFUSALS.search(error) is not None


def without_login(error: str | None) -> bool:
    """Tell whether a listener was not asked because nothing lets the auditor log in there: a gap of the cluster file."""
    return error in {"no credentials", NOT_TRUSTED}


def port_refuses(read: SourceRead) -> bool:
    """Tell whether a read failed in a way that a restarting broker shows too."""
    return any(words in (read.error or "").lower() for words in _RESTARTING)


def failed_before(snapshot: Snapshot, failed: Iterable[SourceRead]) -> bool:
    """Tell whether one of these reads failed in an earlier look too."""
    keys = {(read.observer, read.operation, read.target): read.sample for read in failed}
    return any(
        read.outcome == "failed" and read.sample < keys.get((read.observer, read.operation, read.target), 0)
        for read in snapshot.of(SourceRead)
    )
