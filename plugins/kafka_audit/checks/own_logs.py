"""What brokers report in their own logs alone: the lines that count, and what is not known without them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kafka_audit.checks import ClusterView, Judgement, Judgements, Status
from kafka_audit.cluster.answers.reads import failed_texts
from kafka_audit.model.tables import LogLine, SourceRead

_READ = "logs "
_NO_LOGS = {"error": "no log of a broker was read", "needs": "`logs` of the brokers in the cluster file"}


@dataclass(frozen=True, kw_only=True)
class OwnLog:
    """What the logs of one broker say of a fault. `gap` says why that is unknown; None where they were read."""

    broker: int
    lines: Sequence[LogLine]
    gap: Mapping[str, str] | None


def own_logs(
    view: ClusterView,
    code: str,
    judged: Callable[[OwnLog], Iterable[Judgement]],
    files: Collection[str] = ("server.log",),
    *,
    of_controllers: bool = False,
) -> Judgements:
    """Yield the judgements of what each broker reports of the fault of a check, or one judgement where no log was read.

    Args:
        view: the cluster.
        code: of the check; its `says` has the evidence `who`.
        judged: judges one broker.
        files: names of the files of Kafka's own log4j configuration in which such lines are, each of which is needed; the output
            of a command has them all.
        of_controllers: controllers of KRaft that are no brokers are asked, too.
    """
    reads_of = {
        node: [row for row in log_reads if row.operation.startswith(_READ)] for node, log_reads in view.reads.of_logs.items()
    }
    asked = {node: reads for node, reads in reads_of.items() if reads}
    if not asked:
        yield view.judge("cluster", Status.UNKNOWN, _NO_LOGS, who="any broker")
    left_out = frozenset() if of_controllers else view.controller_nodes
    for broker in sorted(({*asked} | {*view.brokers}) - left_out if asked else ()):
        lines, reads = view.logs.counting(code, broker), asked.get(broker, [])
        yield from judged(OwnLog(broker=broker, lines=lines, gap=None if lines else _gap(view, code, broker, reads, files)))


def _gap(
    view: ClusterView, code: str, broker: int, reads: Sequence[SourceRead], files: Collection[str]
) -> Mapping[str, str] | None:
    names = {row.operation.removeprefix(_READ) for row in reads if row.outcome == "answered"}
    if "command" not in names and not all(any(fnmatchcase(file, name) for name in names) for file in files):
        failed = [row for row in reads if row.outcome == "failed"]
        missing = {
            "error": "its log of this kind was not read",
            "needs": f"{' and '.join(files)} of {view.party(broker)} in `logs`",
        }
        return failed_texts(failed) if failed else missing
    found = view.logs.lines_of(code, broker)
    if any(row.since_start is None for row in found):
        return {"error": "its log has such a line of unknown time", "needs": "lines with a time, back to its last start"}
    if found and any(row.signature == "session_expired" for row in view.logs.lines_of("KA805", broker)):
        # It registered again without a start, which the time of its registration does not show.
        return {"error": "its log has such a line from before it lost its ZooKeeper session", "needs": "a restart of it"}
    return None
