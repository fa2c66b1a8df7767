"""Log lines of brokers about a fault, quoted as evidence, with host and time."""

from collections.abc import Collection, Iterable, Sequence

from kafka_audit.checks.incident import Case
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.model.finding import Evidence
from kafka_audit.model.tables import LogLine

_FIRST = 5


def counting_lines(case: Case, codes: Sequence[str]) -> tuple[LogLine, ...]:
    """Return the lines that count for one of these checks at the case's brokers."""
    logs = case.view.logs
    return tuple(row for broker in case.brokers for code in codes for row in logs.counting(code, broker))


def evidence(case: Case, codes: Sequence[str]) -> tuple[Evidence, ...]:
    """Return the lines that count as evidence, the first few of them."""
    return _quotes(case, counting_lines(case, codes))


def to_controllers(case: Case) -> tuple[Evidence, ...]:
    """Return the lines of the case's brokers about their connections to the KRaft controllers, if they count."""
    return _quotes(case, [row for broker in case.brokers for row in case.view.logs.to_controllers(broker)])


def to_zookeeper(case: Case) -> tuple[Evidence, ...]:
    """Return the same about their connections to ZooKeeper."""
    return _quotes(case, [row for broker in case.brokers for row in case.view.logs.to_zookeeper(broker)])


def of_nodes(case: Case, code: str) -> tuple[Evidence, ...]:
    """Return the lines of controllers and brokers that count for a check, wherever they are from."""
    return _quotes(case, case.view.logs.of_nodes(code))


def of_other_faults(case: Case, nodes: Collection[int], codes: Collection[str]) -> tuple[Evidence, ...]:
    """Return the lines of these nodes that count, and show no fault of these checks: what none of them explains."""
    return _quotes(case, case.view.logs.of_other_faults(nodes, codes))


def idle(case: Case, codes: Sequence[str]) -> tuple[Evidence, ...]:
    """Return lines of the kind that do not count, and so decide nothing: of unknown time, of an earlier start, or ended."""
    counting = set(counting_lines(case, codes))
    logs = case.view.logs
    rest = [row for broker in case.brokers for code in codes for row in logs.lines_of(code, broker) if row not in counting]
    return tuple(
        Evidence(observer=evidence.observer, text=f"{evidence.text}; not counted: {_why(row)}")
        for evidence, row in zip(_quotes(case, rest), rest, strict=False)
    )


def _quotes(case: Case, rows: Iterable[LogLine]) -> tuple[Evidence, ...]:
    return tuple(Evidence(observer=f"log of {_party(case, row.broker_id)}", text=quoted(row)) for row in [*rows][:_FIRST])


def _party(case: Case, node: int) -> str:
    return f"controller {node}" if node in case.view.controller_nodes else case.view.logs.host(node)


def _why(row: LogLine) -> str:
    if row.since_start is None:
        return "whether it is newer than the broker's start is not known"
    return "it is older than the broker's start" if row.since_start == 0 else "it is no longer repeated"
