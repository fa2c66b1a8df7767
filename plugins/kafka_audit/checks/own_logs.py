"""What brokers report in their own logs alone: the lines that count, and what is not known without them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import LogLine

_READ = "logs "
_NO_LOGS = {"error": "no log of a broker was read", "needs": "`logs` of the brokers in the cluster file"}


@dataclass(frozen=True, kw_only=True)
class OwnLog:
    """What the logs of one broker say of a fault. `gap` says why that is unknown; None where they were read."""

    broker: int
    lines: Sequence[LogLine]
    gap: Mapping[str, str] | None


def own_logs(view: ClusterView, code: str, files: Collection[str]) -> Iterator[OwnLog | Judgement]:
    """Yield what each broker reports of the fault of a check, or one judgement where no log was read.

    Args:
        view: the cluster.
        code: of the check; its `says` has the evidence `who`.
        files: names of the files of Kafka's own log4j configuration in which such lines are, each of which is needed; the output
            of a command has them all.
    """
    read: dict[int, set[str]] = {}
    for row in view.last_reads:
        kind, _, broker = row.observer.partition(":")
        if kind == "logs" and broker.isdecimal() and row.operation.startswith(_READ):
            read.setdefault(int(broker), set()).update([row.operation.removeprefix(_READ)] if row.outcome == "answered" else ())
    if not read:
        yield view.judge(code, "cluster", Status.UNKNOWN, _NO_LOGS, who="any broker")
    for broker in sorted({*read} | {*view.brokers} if read else ()):
        lines = view.logs.counting(code, broker)
        names = read.get(broker, set())
        fits = "command" in names or all(any(fnmatchcase(file, name) for name in names) for file in files)
        undated = any(row.since_start is None for row in view.logs.lines_of(code, broker))
        gap = None
        if not fits:
            gap = {"error": "such a log of it was not read", "needs": f"{' and '.join(files)} of broker {broker} in `logs`"}
        elif undated:
            gap = {"error": "its log has such a line of unknown time", "needs": "lines with a time, back to its last start"}
        yield OwnLog(broker=broker, lines=lines, gap=None if lines else gap)
