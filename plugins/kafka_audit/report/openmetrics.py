"""The numbers of reports: in OpenMetrics, as a file for node_exporter's textfile collector or a page to scrape, and as gauges.

Names and labels are stable, and labels are bounded: there are as many codes, severities and vantages as checks and the cluster
file have, and at most `MOST_INCIDENTS` headlines of a cluster. Times are seconds since 1970.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.report import Report, ReportedFinding
from kafka_audit.model.text import clean
from kafka_audit.report.parties.matrix import LADDER

__all__ = ["MOST_INCIDENTS", "gauges", "openmetrics", "openmetrics_report"]

MOST_INCIDENTS = 20
_REACHED, _PROBED = ".", f".{LADDER}"  # cells of the matrix: reached, or the layer that failed
_Samples = Mapping[tuple[str, ...], float]


def openmetrics(documents: Iterable[Report], unreadable: Sequence[str] = ()) -> str:
    """Return the numbers of reports, one of each cluster; the text ends with `# EOF`.

    Args:
        documents: the reports, of which one at a time is held.
        unreadable: the clusters whose newest report cannot be read, complete once all reports were taken.
    """
    return _exposed(_Reports([*map(_numbers, documents)], unreadable))


def openmetrics_report(document: Report) -> str:
    """Return the numbers of a report."""
    return _exposed(_Reports([_numbers(document)], ()))


def _exposed(reports: "_Reports") -> str:
    registry = CollectorRegistry()
    registry.register(reports)
    return bytes(generate_latest(registry)).decode()  # type: ignore[no-untyped-call]


def _incidents(document: Report) -> _Samples:
    listed = document.incidents[:MOST_INCIDENTS]
    return {(incident.cause, incident.severity, incident.confidence, incident.headline): 1 for incident in listed}


def _failed(document: Report) -> Iterator[ReportedFinding]:
    return (finding for finding in document.findings if finding.status == Status.FAIL and not finding.muted)


def _failures(document: Report) -> _Samples:
    numbers = Counter(Severity[finding.severity] for finding in _failed(document))
    return {(severity.name,): numbers[severity] for severity in reversed(Severity)}


def _findings(document: Report) -> _Samples:
    return dict(Counter((finding.code, finding.severity) for finding in _failed(document)))


def _results(document: Report) -> _Samples:
    return {(status.value,): getattr(document.counts, status.value) for status in Status}


def _cells(document: Report, wanted: str) -> _Samples:
    rows = [row for row in document.matrix.observers if row.note == "vantage"]
    return {(row.name,): sum(cell in wanted for cell in row.reach) for row in rows}


def _single(number: float) -> _Samples:
    return {(): number}


_METRICS: Mapping[str, tuple[str, Sequence[str], Callable[[Report], _Samples]]] = {
    "incidents": ("Incidents of the newest audit.", (), lambda document: _single(len(document.incidents))),
    "incident": (
        f"1 for each incident, {MOST_INCIDENTS} at most.",
        ("cause", "severity", "confidence", "headline"),
        _incidents,
    ),
    "failures": ("Unmuted failures by severity.", ("severity",), _failures),
    "findings": ("Unmuted failures by check.", ("code", "severity"), _findings),
    "results": ("Results of all checks by status.", ("status",), _results),
    "reads_asked": ("Reads that the audit tried.", (), lambda document: _single(document.coverage.asked)),
    "reads_answered": ("Reads that were answered.", (), lambda document: _single(document.coverage.answered)),
    "brokers": (
        "Brokers that are registered, listed by another broker or, with ZooKeeper, have replicas.",
        (),
        lambda document: _single(len(document.matrix.brokers)),
    ),
    "brokers_probed": ("Brokers that a vantage probed.", ("vantage",), lambda document: _cells(document, _PROBED)),
    "brokers_reached": ("Brokers that a vantage reached.", ("vantage",), lambda document: _cells(document, _REACHED)),
    "started_timestamp_seconds": ("Start of the newest audit.", (), lambda document: _seconds(document.started_at)),
    "finished_timestamp_seconds": ("End of the newest audit.", (), lambda document: _seconds(document.finished_at)),
}
_UNREADABLE = "1 for each cluster whose newest report cannot be read."


def gauges(document: Report) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield the numbers of a report with the names and labels that Prometheus has."""
    for name, (_, labels, samples_of) in _METRICS.items():
        for values, number in samples_of(document).items():
            found = dict(zip(labels, map(clean, values), strict=True))
            yield f"kafka_audit_{name}", {"cluster": clean(document.cluster)} | found, number


_Numbers = Mapping[str, Sequence[tuple[Sequence[str], float]]]


def _numbers(document: Report) -> _Numbers:
    """Return the samples of a report by the name of the metric, each with all of its labels."""
    found: dict[str, list[tuple[Sequence[str], float]]] = {name: [] for name in _METRICS}
    for name, (_, _, samples_of) in _METRICS.items():
        for values, number in samples_of(document).items():
            found[name].append(((clean(document.cluster), *map(clean, values)), float(number)))
    return found


class _Reports(Collector):
    """The numbers of documents as a collector: what a registry asks for metrics."""

    def __init__(self, reports: Sequence[_Numbers], unreadable: Sequence[str]) -> None:
        self._reports = reports
        self._unreadable = unreadable

    def collect(self) -> Iterator[Metric]:
        for name, (text, labels, _) in _METRICS.items():
            family = GaugeMetricFamily(f"kafka_audit_{name}", text, labels=("cluster", *labels))
            for report in self._reports:
                for values, number in report[name]:
                    family.add_metric(values, number)
            yield family
        if self._unreadable:
            family = GaugeMetricFamily("kafka_audit_unreadable", _UNREADABLE, labels=("cluster",))
            for cluster in self._unreadable:
                family.add_metric((clean(cluster),), 1.0)
            yield family


def _seconds(text: str | None) -> _Samples:
    return {} if text is None else _single(datetime.fromisoformat(text).timestamp())
