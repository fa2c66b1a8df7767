"""What a year of hourly audits of a 20-broker cluster costs: `python benchmarks/history.py` (`--days 30` for a shorter one).

The changes of 365 days are replayed as rows, without brokers, into a store: 2,000 partitions with three replicas, ISRs that
shrink for an hour, topics that come and go, ACLs, settings, and a rolling restart every two weeks. What differs each hour differs
here, too: times, transaction ids of ZooKeeper, free bytes of each disk. The reports are those of an audit; after the first three
of a kind of change, and of quiet hours, they are these with other ids and times.

Prints what is on the disk for each month, what it would be without shared files, and how long these take: a comparison of two
snapshots by `kafka-audit diff --reports`, in the page, and by `kafka-audit diff`, which judges again; the
timeline page by page; retention. Exits with 1 if a comparison of reports takes five seconds, or a page of the timeline one.
"""

import argparse
import contextlib
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import airflow_environment  # noqa: E402 -- found by the path above

airflow_environment.apply()

from airflow.api_fastapi.app import init_auth_manager  # noqa: E402 -- in the home made above
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser  # noqa: E402
from airflow.api_fastapi.core_api.security import get_user  # noqa: E402
from airflow.utils.db import initdb  # noqa: E402
from fastapi.testclient import TestClient  # noqa: E402

from kafka_audit import audit  # noqa: E402
from kafka_audit.airflow.page.routes import app  # noqa: E402
from kafka_audit.job import embedded_job  # noqa: E402
from kafka_audit.model.cluster import Keep  # noqa: E402
from kafka_audit.model.run import JobAnswer, Request, SnapshotPair  # noqa: E402
from kafka_audit.model.tables import (  # noqa: E402
    Acl,
    AclHolder,
    BrokerApi,
    BrokerConfig,
    BrokerIdentity,
    BrokerView,
    LeadershipAsked,
    LogDir,
    Probe,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    ViewBroker,
    ViewPartition,
    ViewTopic,
    ZookeeperMember,
    ZookeeperNode,
)
from kafka_audit.report import digest  # noqa: E402
from kafka_audit.store import Store, parquet  # noqa: E402
from kafka_audit.store.history import DIGEST  # noqa: E402

if TYPE_CHECKING:
    from kafka_audit.model.report import Report

BROKERS, TOPICS, PARTITIONS = range(20), 200, 10
CLUSTER, CLUSTER_ID = "prod", "kX9wAAAAAAAAAAAAAAAAAQ"
BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
DISK = 2_000_000_000_000
BLOCK = 4096
MB = 1_000_000
PROMISED_DIFF_S, PROMISED_PAGE_S = 5.0, 1.0
QUIET = "quiet"
_REAL = 3  # reports of each kind of change that are judged
_LAYERS = ("dns", "tcp", "api", "identity")
_READS = tuple(f"operation {number}" for number in range(18))
_NODES = ("/brokers", "/brokers/ids", "/brokers/topics", "/config", "/admin", "/controller_epoch", "/isr_change_notification")


@dataclass
class Partition:
    """What changes of a partition."""

    replicas: tuple[int, ...]
    leader: int
    isr: tuple[int, ...]
    epoch: int = 0
    mzxid: int = 1000


class Cluster:
    """A cluster that changes by the hour; the same seed has the same year."""

    def __init__(self) -> None:
        """Begin the year."""
        self._random = random.Random(7)  # noqa: S311 -- no secret
        self._zxid = 100_000
        self._topics: dict[str, list[Partition]] = {}
        self._created: dict[str, int] = {}
        self._shrunk: list[Partition] = []
        self._settings = 0
        self._acls = 40
        self._free = dict.fromkeys(BROKERS, DISK // 2)
        for number in range(TOPICS):
            self._create(f"orders.{number:03}.events.v1")
        self._still = self._unchanging()

    def _create(self, topic: str) -> None:
        first = self._random.randrange(len(BROKERS))
        placed = [tuple((first + p + i) % len(BROKERS) for i in range(3)) for p in range(PARTITIONS)]
        self._topics[topic] = [
            Partition(replicas=replicas, leader=replicas[0], isr=tuple(sorted(replicas))) for replicas in placed
        ]
        self._zxid += 50
        self._created[topic] = self._zxid

    def pass_hour(self, hour: int) -> str:
        """Let an hour pass; return the kind of change."""
        self._zxid += self._random.randrange(200, 2000)
        for broker in BROKERS:  # what producers write, and what retention deletes
            self._free[broker] += self._random.randrange(-4_000_000_000, 4_000_000_000)
        day, of_day = divmod(hour, 24)
        kinds = [self._isrs(of_day)]
        if of_day == 9 and day % 2 == 0:  # noqa: PLR2004 -- at work
            kinds.append("topic created")
            self._create(f"payments.{day:03}.events.v1")
        if of_day == 15 and day % 2 == 1 and day > 1:  # noqa: PLR2004
            kinds.append("topic deleted")
            del self._topics[f"payments.{day - 1:03}.events.v1"]
        if of_day == 10 and day % 7 == 3:  # noqa: PLR2004
            kinds.append("ACL")
            self._acls += 1
        if of_day == 11 and day % 30 == 4:  # noqa: PLR2004
            kinds.append("setting")
            self._settings += 1
        if of_day == 13 and day % 14 == 5:  # noqa: PLR2004
            kinds.append("rolling restart")
            for partition in self._partitions():
                partition.epoch += 6  # two for each replica
                partition.mzxid = self._next()
        return ", ".join(filter(None, kinds)) or QUIET

    def _isrs(self, of_day: int) -> str:
        """Let three ISRs shrink at four hours of a day, for an hour."""
        healed = bool(self._shrunk)
        for partition in self._shrunk:
            partition.isr = tuple(sorted(partition.replicas))
            partition.mzxid, partition.epoch = self._next(), partition.epoch + 1
        self._shrunk = self._random.sample(list(self._partitions()), 3) if of_day % 6 == 2 else []  # noqa: PLR2004
        for partition in self._shrunk:
            partition.isr = tuple(sorted({*partition.replicas} - {partition.replicas[2]}))
            partition.mzxid, partition.epoch = self._next(), partition.epoch + 1
        return "ISR shrunk" if self._shrunk else "ISR healed" if healed else ""

    def _partitions(self) -> Iterator[Partition]:
        return (partition for partitions in self._topics.values() for partition in partitions)

    def _next(self) -> int:
        self._zxid += 1
        return self._zxid

    def snapshot(self, snapshot_id: str, at: datetime) -> Snapshot:
        """Return what an audit reads now."""
        started = int(at.timestamp() * 1000)
        rows: list[Row] = [
            SnapshotInfo(
                cluster=CLUSTER,
                mode="zookeeper",
                tool_version="0.1.0",
                started_ms=started,
                finished_ms=started + 9_000,
                samples=1,
                settle_s=5.0,
                leader_moves=0.2,
                skew_s=60.0,
                expect_brokers=len(BROKERS),
            ),
            Sample(sample=1, started_ms=started, finished_ms=started + 8_000, reason="first"),
            Registry(
                sample=1,
                kafka_cluster_id=CLUSTER_ID,
                controller_id=0,
                controller_epoch=12,
                controller_mzxid=900,
                brokers_pzxid=901,
                zxid_before=self._zxid,
                zxid_after=self._zxid + 4,
            ),
            *self._still,
            *self._asked(),
            *self._configs(),
            *self._read_acls(),
        ]
        large = self._large()
        return Snapshot(
            snapshot_id=snapshot_id,
            cluster=CLUSTER,
            cluster_id=CLUSTER_ID,
            rows=(*rows, *self._views(large)),
            large={table: parquet.table_of(table, of) for table, of in large.items()},
        )

    def _unchanging(self) -> list[Row]:
        rows: list[Row] = []
        for broker in BROKERS:
            host = f"kafka-{broker:02}.prod.example.com"
            rows += [
                RegisteredBroker(
                    sample=1,
                    broker_id=broker,
                    rack=f"r{broker % 3}",
                    ephemeral_owner=7 + broker,
                    registered_ms=1,
                    czxid=9,
                    mzxid=9,
                ),
                RegisteredEndpoint(sample=1, broker_id=broker, listener="PLAINTEXT", protocol="PLAINTEXT", host=host, port=9092),
                ViewBroker(brokers_digest="b" * 32, broker_id=broker, host=host, port=9092, rack=f"r{broker % 3}"),
                BrokerIdentity(
                    sample=1,
                    broker_id=broker,
                    listener="PLAINTEXT",
                    address=f"{host}:9092",
                    answered_by=broker,
                    kafka_cluster_id=CLUSTER_ID,
                ),
                *(
                    BrokerApi(observer=f"broker:{broker}", broker_id=broker, api_key=key, min_version=0, max_version=key % 12)
                    for key in range(56)
                ),
            ]
        rows += [ZookeeperNode(sample=1, path=path, anyone="crwda", children=20, bytes=0) for path in _NODES]
        return rows

    def _configs(self) -> list[Row]:
        return [
            BrokerConfig(
                observer=f"broker:{broker}",
                broker_id=broker,
                key=f"some.setting.of.a.broker.{number:03}",
                value=str(self._settings if number == 0 else number),
                source=5,
                sensitive=False,
            )
            for broker in BROKERS
            for number in range(200)
        ]

    def _read_acls(self) -> list[Row]:
        holder = AclHolder(sample=1, observer="zookeeper", broker_id=None, acls_digest=f"{self._acls:032}", acls=self._acls)
        return [
            holder,
            *(
                Acl(
                    acls_digest=holder.acls_digest,
                    resource_type="Topic",
                    resource_name=f"orders.{number:03}",
                    pattern_type="PREFIXED",
                    principal=f"User:team-{number % 11}",
                    host="*",
                    operation="All",
                    permission="ALLOW",
                )
                for number in range(self._acls)
            ),
        ]

    def _asked(self) -> list[Row]:
        chance = self._random
        rows: list[Row] = []
        for broker in BROKERS:
            observer, host = f"broker:{broker}", f"kafka-{broker:02}.prod.example.com"
            rows += [
                LogDir(
                    sample=1,
                    observer=observer,
                    broker_id=broker,
                    path="/var/lib/kafka/data",
                    error=0,
                    total_bytes=DISK,
                    usable_bytes=self._free[broker],
                    replicas=300,
                ),
                LeadershipAsked(sample=1, observer=observer, broker_id=broker, as_leader=100, as_former=0, listed_offline=0),
            ]
            rows += [
                SourceRead(
                    sample=1,
                    observer=observer,
                    operation="Metadata" if name is _READS[0] else name,
                    target=f"{host}:9092",
                    outcome="answered",
                    elapsed_ms=chance.randrange(1, 40),
                )
                for name in _READS
            ]
            rows += [
                Probe(
                    sample=1,
                    vantage=vantage,
                    role="client",
                    from_broker=None,
                    broker_id=broker,
                    listener="PLAINTEXT",
                    protocol="PLAINTEXT",
                    host=host,
                    port=9092,
                    via=None,
                    layer=layer,
                    outcome="ok",
                    error=None,
                    detail=None,
                    elapsed_ms=chance.randrange(4),
                    addresses=(f"10.1.0.{broker}",) if layer == "dns" else (),
                    answered_by=broker if layer == "identity" else None,
                )
                for vantage in ("worker", "clients")
                for layer in _LAYERS
            ]
        rows += [
            ZookeeperMember(
                sample=1,
                member=f"zk{number}:2181",
                state="serving",
                error=None,
                mode="leader" if number == 1 else "follower",
                zxid=self._zxid,
                outstanding=0,
                latency_avg_ms=round(chance.random(), 2),
                latency_max_ms=56.0,
                connections=30 + chance.randrange(5),
                znodes=9000,
                version="3.8.4",
            )
            for number in (1, 2, 3)
        ]
        return rows

    def _large(self) -> dict[type[Row], list[Row]]:
        found: dict[type[Row], list[Row]] = defaultdict(list)
        names = {}
        for topic, partitions in self._topics.items():
            text = repr([(p.replicas, p.leader, p.isr, p.epoch) for p in partitions])
            names[topic] = hashlib.blake2s((topic + text).encode(), digest_size=16).hexdigest()
        listed = hashlib.blake2s("".join(names.values()).encode(), digest_size=16).hexdigest()
        for topic, partitions in self._topics.items():
            topic_id = hashlib.blake2s(topic.encode(), digest_size=11).hexdigest()
            found[RegisteredTopic].append(
                RegisteredTopic(
                    sample=1,
                    last_sample=1,
                    topic=topic,
                    topic_id=topic_id,
                    czxid=self._created[topic],
                    mzxid=self._created[topic],
                    deleting=False,
                    content_digest=names[topic],
                )
            )
            found[ViewTopic].append(
                ViewTopic(topics_digest=listed, topic=topic, topic_id=topic_id, topic_digest=names[topic], error=0)
            )
            for number, partition in enumerate(partitions):
                same: dict[str, Any] = {"topic": topic, "partition": number, "leader": partition.leader, "isr": partition.isr}
                same |= {"replicas": partition.replicas, "leader_epoch": partition.epoch}
                found[RegisteredPartition].append(
                    RegisteredPartition(
                        sample=1,
                        last_sample=1,
                        controller_epoch=12,
                        leader_recovery_state=0,
                        state_mzxid=partition.mzxid,
                        **same,
                    )
                )
                found[ViewPartition].append(ViewPartition(topic_digest=names[topic], error=0, offline_replicas=(), **same))
        return found

    def _views(self, large: dict[type[Row], list[Row]]) -> list[Row]:
        (listed,) = {row.topics_digest for row in large[ViewTopic] if isinstance(row, ViewTopic)}
        return [
            BrokerView(
                sample=1,
                observer=f"broker:{broker}",
                broker_id=broker,
                listener="PLAINTEXT",
                address=f"kafka-{broker:02}.prod.example.com:9092",
                kafka_cluster_id=CLUSTER_ID,
                controller_id=0,
                brokers_listed=len(BROKERS),
                topics_listed=len(self._topics),
                brokers_digest="b" * 32,
                topics_digest=listed,
                metadata_version=12,
            )
            for broker in BROKERS
        ]


class Year:
    """The audits of a year in a store."""

    def __init__(self, store: Store) -> None:
        """Begin with an empty store."""
        self.store = store
        self.ids: list[str] = []
        self.kinds: Counter[str] = Counter()
        self._documents: dict[str, list[Report]] = defaultdict(list)
        self._differences: dict[str, Any] = {}

    def audit(self, cluster: Cluster, hour: int) -> None:
        """Audit once."""
        kind = cluster.pass_hour(hour)
        at = BEGAN + timedelta(hours=hour)
        snapshot_id = f"{at:%Y%m%dT%H%M%SZ}-{CLUSTER}-{hour % 65536:04x}"
        run = f"console-{at:%Y%m%dT%H%M%SZ}-{hour:06x}"
        self.store.write(cluster.snapshot(snapshot_id, at))
        real = self._documents[kind]
        if not hour or len(real) < _REAL:
            audit.prepare_request(self.store, [snapshot_id], None, run)
            embedded_job.answer(self.store, run)
            (document,) = audit.write_reports(self.store, run, {})
            real.append(document)
            self._differences = self.store.read_differences(snapshot_id)
        else:
            previous = self.ids[-1]
            pair = SnapshotPair(snapshot_id=snapshot_id, previous_snapshot_id=previous)
            self.store.write_request(Request(run_id=run, pairs=(pair,)))
            self.store.write_answer(run, JobAnswer(judged=(snapshot_id,), failed=()))
            self.store.conclude_run(run)
            times = {"started_at": f"{at:%Y-%m-%dT%H:%M:%SZ}", "finished_at": f"{at + timedelta(seconds=9):%Y-%m-%dT%H:%M:%SZ}"}
            last = real[self.kinds[kind] % _REAL]
            document = structs.replace(last, **times, snapshot_id=snapshot_id, previous_snapshot_id=previous)
            self.store.write_differences(snapshot_id, self._differences)
            self.store.write_report(snapshot_id, document)
            self.store.write_rendering(snapshot_id, DIGEST, digest.digest_text(document), newest=False)
        self.ids.append(snapshot_id)
        self.kinds[kind] += 1


@dataclass(frozen=True, kw_only=True)
class Size:
    """Bytes in the files, and on the disk in blocks."""

    bytes: int = 0
    disk: int = 0
    files: int = 0

    def __add__(self, other: "Size") -> "Size":
        """Return both together."""
        return Size(bytes=self.bytes + other.bytes, disk=self.disk + other.disk, files=self.files + other.files)


def size_of(path: Path) -> Size:
    """Return the size of all files below a folder."""
    found = Size()
    for folder, _, names in os.walk(path):
        for name in names:
            status = Path(folder, name).stat()
            found += Size(bytes=status.st_size, disk=status.st_blocks * 512, files=1)
    return found


def unshared(store: Store, snapshot_id: str) -> Size:
    """Return the size that the tables of a snapshot would have if each had a file of its own."""
    tables = store.manifest(snapshot_id).tables.values()
    disk = sum(-(-table.bytes // BLOCK) * BLOCK for table in tables)
    return Size(bytes=sum(table.bytes for table in tables), disk=disk, files=len(tables))


def print_sizes(year: Year) -> None:
    """Print what is on the disk by month, and what is in it."""
    store, root = year.store, Path(year.store.root)
    hours = {snapshot_id: hour for hour, snapshot_id in enumerate(year.ids)}
    by_month: dict[str, list[str]] = defaultdict(list)
    for snapshot_id in year.ids:
        by_month[snapshot_id[:6]].append(snapshot_id)
    print(f"\n{'month':8}{'audits':>8}{'tables':>12}{'unshared':>12}{'reports, manifests, runs':>28}{'on the disk':>14}")
    all_tables, all_unshared, everything = Size(), Size(), Size()
    for month, ids in by_month.items():
        tables, alone, whole = Size(), Size(), Size()
        for snapshot_id in ids:
            folder = root / "snapshots" / snapshot_id
            own = [path.stat() for path in folder.glob("*.parquet")]
            tables += Size(bytes=sum(s.st_size for s in own), disk=sum(s.st_blocks * 512 for s in own), files=len(own))
            alone += unshared(store, snapshot_id)
            whole += size_of(folder) + size_of(root / "runs" / f"console-{snapshot_id[:16]}-{hours[snapshot_id]:06x}")
        rest = whole.disk - tables.disk
        columns = ((tables.disk, 9), (alone.disk, 9), (rest, 25), (whole.disk, 11))
        print(f"{month:8}{len(ids):8}" + "".join(f"{size / MB:{width}.1f} MB" for size, width in columns))
        all_tables, all_unshared, everything = all_tables + tables, all_unshared + alone, everything + whole
    months = len(year.ids) / (24 * 365 / 12)
    before = everything.disk - all_tables.disk + all_unshared.disk
    print(f"changes: {', '.join(f'{number} {kind}' for kind, number in year.kinds.most_common())}")
    print(
        f"on the disk: {everything.disk / MB:.0f} MB, {everything.disk / months / MB:.1f} MB a month,"
        f" {everything.disk / len(year.ids) / 1000:.1f} kB an audit, in {everything.files} files"
    )
    print(
        f"tables: {all_tables.disk / MB:.0f} MB shared, {all_unshared.disk / MB:.0f} MB unshared:"
        f" {all_unshared.disk / all_tables.disk:.1f} times; everything: {before / everything.disk:.1f} times"
    )


def diff_seconds(store: Store, before: str, after: str, *options: str) -> float:
    """Return how long `kafka-audit diff` takes in a process of its own."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "kafka_audit.cli", "diff", before, after, "--out", store.root, "--quiet", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return time.perf_counter() - started


def page_client(folder: str) -> TestClient:
    """Return a client of the page, logged in."""
    os.environ |= {"KAFKA_AUDIT_STORE": f"{folder}/store", "KAFKA_AUDIT_CLUSTERS": f"{folder}/clusters.yaml"}
    Path(f"{folder}/clusters.yaml").write_text(f"clusters:\n  {CLUSTER}: {{bootstrap: ['kafka-00:9092']}}\n", encoding="utf-8")
    initdb()
    init_auth_manager()
    user = SimpleAuthManagerUser(username="viewer", role="VIEWER")
    app.dependency_overrides[get_user] = lambda: user
    return TestClient(app)


def get(client: TestClient, path: str) -> float:
    """Return how long a page takes."""
    started = time.perf_counter()
    answer = client.get(path)
    if answer.status_code != 200:  # noqa: PLR2004 -- OK
        sys.exit(f"{path}: {answer.status_code}\n{answer.text[:500]}")
    return time.perf_counter() - started


def main() -> int:
    """Measure; return 1 where a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--folder", help="where the store stays; one that is there is measured again")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = arguments.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-audit-benchmark-"))
        year, cluster = Year(Store(f"{folder}/store")), Cluster()
        started, made = time.perf_counter(), [manifest.snapshot_id for manifest in year.store.manifests()][::-1]
        for hour in range(arguments.days * 24):
            if made:
                year.kinds[cluster.pass_hour(hour)] += 1
                continue
            year.audit(cluster, hour)
            if hour % (24 * 30) == 24 * 30 - 1:
                print(f"{hour + 1} audits in {time.perf_counter() - started:.0f} s", file=sys.stderr)
        year.ids = made or year.ids
        year.store.remove_leftovers(datetime.now(UTC) + timedelta(days=2))
        print(f"{len(BROKERS)} brokers, {TOPICS * PARTITIONS} partitions, an audit an hour, {arguments.days} days")
        print_sizes(year)
        worst = print_times(folder, year, kept=bool(arguments.folder))
    return 0 if worst[0] < PROMISED_DIFF_S and worst[1] < PROMISED_PAGE_S else 1


def print_times(folder: str, year: Year, *, kept: bool) -> tuple[float, float]:
    """Print how long comparisons, pages and retention take, the last unless the store is kept.

    Returns:
        The longest comparison of reports, and the longest page of the timeline.
    """
    ids, last = year.ids, len(year.ids) - 1
    pairs = {
        "the first and the last": (0, last),
        "the last two": (last - 1, last),
        "a month apart": (last // 2, min(last, last // 2 + 720)),
    }
    print()
    compared = []
    for name, (a, b) in pairs.items():
        compared.append(diff_seconds(year.store, ids[a], ids[b], "--reports"))
        print(f"kafka-audit diff --reports, {name:26} {compared[-1]:6.2f} s")
    for name, (a, b) in pairs.items():
        print(f"kafka-audit diff, {name:36} {diff_seconds(year.store, ids[a], ids[b]):6.2f} s")
    client = page_client(folder)
    address = f"/clusters/{CLUSTER}/timeline"
    for name, (a, b) in pairs.items():
        compared.append(get(client, f"{address}?a={ids[a]}&b={ids[b]}"))
        again = get(client, f"{address}?a={ids[a]}&b={ids[b]}")
        print(f"page, comparison of {name:34} {compared[-1]:6.2f} s, again {again:.2f} s")
    pages = [get(client, f"{address}?before={ids[place]}") for place in range(last, 0, -max(last // 40, 1))]
    mean = sum(pages) / len(pages)
    print(f"page, {len(pages)} places of the timeline, newest to oldest: slowest {max(pages):.2f} s, mean {mean:.2f} s")
    if kept:
        return max(compared), max(pages)
    started = time.perf_counter()
    year.store.prune(CLUSTER, Keep(snapshots=last // 2), BEGAN + timedelta(hours=last))
    print(f"retention, half of the snapshots deleted: {time.perf_counter() - started:.1f} s")
    left = size_of(Path(year.store.root))
    print(f"left: {len(year.store.manifests())} snapshots, {left.disk / MB:.0f} MB")
    return max(compared), max(pages)


if __name__ == "__main__":
    raise SystemExit(main())
