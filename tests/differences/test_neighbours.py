"""A cluster in a run with others is measured by as many queries over as many rows as alone, whatever the others list."""

import json
from contextlib import contextmanager
from dataclasses import replace

import pytest

import small_cluster
from counted_work import rows_returned
from kafka_audit.embedded.measure import EmbeddedMeasure
from kafka_audit.job import embedded_job
from kafka_audit.model.run import Request, SnapshotPair
from kafka_audit.store import Store
from samples import sampled

HONEST, HOSTILE = "20260914T180000Z-prod-0001", "20260914T180000Z-team-0001"
BROKERS = {broker: f"10.200.0.{broker}:9092" for broker in range(3)}
ORDERS = {"orders": {"partitions": {0: {"replicas": [0, 1, 2]}, 1: {"replicas": [1, 2, 0], "isr": [1], "leader": 1}}}}
WAYS = {
    "topics": {"topics": {f"t{number}": {"partitions": {0: {"replicas": [9 + number]}}} for number in range(1_000)}},
    "brokers": {"brokers": {100 + number: f"10.1.{number // 250}.{number % 250}:9092" for number in range(200)}},
    "replicas": {"topics": {"t": {"partitions": {0: {"replicas": [*range(256)]}}}}},
}


class Counting:
    """A connection that notes how many rows the operators of its queries return."""

    def __init__(self, connection):
        self._connection = connection
        self.rows = []
        connection.execute("PRAGMA enable_profiling = 'no_output'")

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, *arguments):
        self.note()
        return self._connection.execute(*arguments)

    def note(self):
        profile = json.loads(self._connection.get_profiling_information("json") or "{}")
        self.rows.append(rows_returned(profile.get("operator", ())))


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Judge snapshots in one run; return by snapshot the rows of each query, which child processes note in files."""
    connected = EmbeddedMeasure._connected

    @contextmanager
    def counting(self, given):
        with connected(self, given) as connection:
            counter = Counting(connection)
            yield counter
            counter.note()
        with (tmp_path / "+".join(sorted(given))).open("a") as notes:
            notes.write(f"{json.dumps(counter.rows)}\n")

    monkeypatch.setattr(EmbeddedMeasure, "_connected", counting)

    def judge(**worlds):
        store = Store(tmp_path / f"store of {len(worlds)}")
        for snapshot_id, world in zip((HONEST, HOSTILE), worlds.values(), strict=False):
            snapshot = small_cluster.snapshot(
                {"brokers": BROKERS | world.get("brokers", {}), "topics": ORDERS | world.get("topics", {})}, snapshot_id
            )
            store.write(replace(snapshot, cluster=snapshot_id.split("-")[1]))
        ids = (HONEST, HOSTILE)[: len(worlds)]
        store.write_request(
            Request(run_id="r", pairs=tuple(SnapshotPair(snapshot_id=name, previous_snapshot_id=None) for name in ids))
        )
        embedded_job.answer(store, "r")
        notes = {name: (tmp_path / name).read_text().splitlines() for name in ids}
        for name in ids:
            (tmp_path / name).unlink()
        return notes, store.read_judged("r", HONEST)

    return judge


@pytest.mark.parametrize("way", sampled(WAYS, 3))
def test_an_honest_cluster_costs_what_it_costs_alone(measured, way):
    alone, said_alone = measured(honest={})
    beside, said = measured(honest={}, hostile=WAYS[way])
    assert alone[HONEST] == beside[HONEST]
    assert said.document.findings == said_alone.document.findings
    assert said.document.incidents == said_alone.document.incidents
    assert sum(map(sum, map(json.loads, beside[HOSTILE]))) > 2 * sum(map(sum, map(json.loads, alone[HONEST]))), "it lists a lot"
