"""Adds a working direct observation to a snapshot: a probe from other brokers' hosts that passes every layer."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.model.tables import Probe, Row, Sample, Snapshot, SnapshotInfo
from made_rows import made

VANTAGE = "added"


def with_open_probes(snapshot: Snapshot, broker: int) -> Snapshot | None:
    """Return the snapshot with probes from each other broker's host to all endpoints of a broker; None if no one probed them."""
    probes = [probe for probe in snapshot.of(Probe) if probe.broker_id == broker]
    ends = {(probe.listener, probe.protocol, probe.host, probe.port) for probe in probes}
    others = sorted({probe.broker_id for probe in snapshot.of(Probe)} - {broker})
    if not ends or not others:
        return None
    rows: list[Row] = [_with_vantage(row) for row in snapshot.rows]
    for sample in (row.sample for row in snapshot.of(Sample)):
        for source in others:
            for end in sorted(ends):
                rows += _layers(sample, source, broker, end)
    return replace(snapshot, rows=tuple(rows))


def _with_vantage(row: Row) -> Row:
    return replace(row, broker_vantages=row.broker_vantages + 1) if isinstance(row, SnapshotInfo) else row


def _layers(sample: int, source: int, broker: int, end: tuple[str, str, str, int]) -> Iterator[Row]:
    listener, protocol, host, port = end
    layers = ("dns", "tcp", *(("tls",) if "SSL" in protocol.split("_") else ()), "api", "identity")
    for layer in layers:
        yield made(
            Probe,
            sample=sample,
            vantage=VANTAGE,
            role="broker",
            from_broker=source,
            broker_id=broker,
            listener=listener,
            protocol=protocol,
            host=host,
            port=port,
            layer=layer,
            answered_by=broker if layer == "identity" else None,
            addresses=(host,) if layer == "dns" else (),
        )
