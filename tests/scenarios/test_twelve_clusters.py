"""Twelve clusters in a run of the DAG, real Airflow and Spark: what one of them says changes no other one's report.

Eleven honest ones beside one that is hostile in a way of its own in each run. Their reports are compared with those of a run in
which the twelfth is honest, too.
"""

import json
import re
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from collect.fakes import refused
from hostile_parties.cluster import HostileCluster
from hostile_parties.zookeeper import registration, topic_tree
from kafka_audit.model.report import report_json
from kafka_audit.model.tables import RegisteredPartition
from kafka_audit.store import Store
from scenarios.audits import dag_tests
from scenarios.loopback_cluster import HERE
from testbed.airflow_home import AirflowHome

pytestmark = [pytest.mark.spark, pytest.mark.airflow, pytest.mark.scenario]

HOSTILE = "c05"
NAMES = [f"c{number:02}" for number in range(12)]
HONEST = [name for name in NAMES if name != HOSTILE]
OF_A_RUN = {"snapshot_id", "previous_snapshot_id", "started_at", "finished_at", "first_seen", "since", "last_seen", "took_ms"}
"""Keys of a report whose values are of this run."""
TIME = re.compile(r"\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC")


@pytest.fixture(scope="module")
def clusters():
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(HostileCluster(cluster_id=name.ljust(22, "x"), network=f"127.0.{40 + number}"))
            for number, name in enumerate(NAMES)
        }


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def audited(clusters, store, tmp_path_factory):
    """Run the DAG once more over all; returns the newest report of each cluster that has one of this run, and the log."""
    folder = tmp_path_factory.mktemp("airflow")
    entries = {name: cluster.entry(read_s=60, audit_s=600) for name, cluster in clusters.items()}
    entries[HOSTILE] |= {"vantages": {"dmz": {"queue": "dmz"}}, "limits": {"read_s": 5, "settle_s": 0.2, "audit_s": 60}}
    (folder / "clusters.yaml").write_text(json.dumps({"clusters": entries}))
    variables = {"KAFKA_AUDIT_MIN_COVERAGE": "0.1"}
    home = AirflowHome(HERE, folder / "home", clusters=folder / "clusters.yaml", store=Path(store.root), variables=variables)
    home.ready(home.migrate())
    with dag_tests(home) as run:

        def audit(name):
            before, log = {manifest.snapshot_id for manifest in store.manifests()}, folder / f"{name}.log"
            run(log)
            new = {one.cluster: one.snapshot_id for one in store.manifests() if one.snapshot_id not in before}
            reports = {cluster: store.read_report(snapshot_id) for cluster, snapshot_id in new.items()}
            return {cluster: report_json(report) for cluster, report in reports.items() if report is not None}, log.read_text()

        yield audit


@pytest.fixture(scope="module")
def alone(audited):
    """The reports of a second run over twelve honest clusters: nothing is new in it."""
    audited("first")
    reports, log = audited("second")
    assert sorted(reports) == NAMES, log[-5000:]
    return {name: comparable(reports[name]) for name in HONEST}


def comparable(said):
    """Return what a report says, without what belongs to its run: ids of snapshots, and times."""
    if isinstance(said, dict):
        return {key: comparable(value) for key, value in said.items() if key not in OF_A_RUN and not key.endswith("_ms")}
    if isinstance(said, list):
        return [comparable(one) for one in said]
    return TIME.sub("a time", said) if isinstance(said, str) else said


def differing(one, other, place=""):
    """Yield the places at which two reports differ, with what each says there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from differing(one.get(key), other.get(key), f"{place}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differing(left, right, f"{place}/{number}")
    elif one != other:
        yield f"{place}: {one!r:.200} / {other!r:.200}"


@contextmanager
def one_partition_has_12000_replicas(cluster, _):
    replicas = [0, *range(10_000, 22_000)]
    cluster.zookeeper.znodes.update(topic_tree("flood", {0: (0, replicas, 1, [0])}))
    yield
    del cluster.zookeeper.znodes["/brokers/topics/flood"]


@contextmanager
def one_broker_lists_12000_topics(cluster, _):
    broker = cluster.brokers[1]
    own = broker.topics
    broker.topics = own | {f"a{number}": {0: (-1, [7000 + number])} for number in range(12_000)}
    yield
    broker.topics = own


@contextmanager
def a_thousand_brokers_register(cluster, _):
    znodes, made_up = cluster.zookeeper.znodes, range(100, 1_100)
    znodes.update({f"/brokers/ids/{broker}": registration(refused()) for broker in made_up})
    yield
    for broker in made_up:
        del znodes[f"/brokers/ids/{broker}"]


@contextmanager
def an_older_snapshot_has_an_epoch_below_all(_, store):
    """Earlier versions imported such a one."""
    newest = next(manifest.snapshot_id for manifest in store.manifests() if manifest.cluster == HOSTILE)
    snapshot = store.read(newest)
    rows = [replace(row, leader_epoch=-(2**63)) if type(row) is RegisteredPartition else row for row in snapshot.rows]
    store.write(replace(snapshot, snapshot_id=f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{HOSTILE}-ffff", rows=tuple(rows)))
    yield


@contextmanager
def endpoints_have_names_of_50_kilobytes(cluster, _):
    znodes, made_up = cluster.zookeeper.znodes, range(100, 500)
    for broker in made_up:
        host, port = refused()
        znodes[f"/brokers/ids/{broker}"] = registration({"L" * 50_000: ("PLAINTEXT", host, port)})
    yield
    for broker in made_up:
        del znodes[f"/brokers/ids/{broker}"]


WAYS = (
    one_partition_has_12000_replicas,
    one_broker_lists_12000_topics,
    a_thousand_brokers_register,
    an_older_snapshot_has_an_epoch_below_all,
    endpoints_have_names_of_50_kilobytes,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_eleven_reports_are_those_without_the_twelfth(audited, alone, clusters, store, way):
    with way(clusters[HOSTILE], store):
        reports, log = audited(way.__name__)
    assert {*reports} >= {*HONEST}, log[-5000:]
    changed = {name: [*differing(alone[name], comparable(reports[name]))] for name in HONEST}
    assert {name: places for name, places in changed.items() if places} == {}
    assert HOSTILE in reports or f"{HOSTILE}: not audited" in log, "its own report is there, or its gate says why not"
