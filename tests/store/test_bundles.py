"""Bundles: what is written, and how one that is damaged, or made to harm its reader, is refused."""

import json
import os
import random
import stat
import struct
import zipfile

import pytest

import bundled
import small_cluster
from bundled import ID
from kafka_audit.model.errors import SnapshotError, UsageError
from kafka_audit.model.tables import TABLES, LogLine
from kafka_audit.store import Store, bundles
from kafka_audit.store.bundles import Bundle

ENTRIES = {"bundle.json", "report.html", *(f"snapshot/{name}.json" for name in ("manifest", "findings", "differences"))} | {
    f"snapshot/{table.table()}.parquet" for table in TABLES
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return bundled.judged_store(tmp_path_factory.mktemp("judged") / "store")


@pytest.fixture(scope="module")
def bundle(store, tmp_path_factory):
    return bundled.write(store, tmp_path_factory.mktemp("bundles") / "prod.zip")


def refusal(path):
    with pytest.raises(SnapshotError) as error:
        Bundle(path)
    return str(error.value)


def test_it_holds_the_snapshot_as_the_store_has_it(store, bundle):
    folder = f"{store.root}/snapshots/{ID}"
    found = bundled.contents(bundle)
    assert set(found) == ENTRIES
    for name, content in found.items():
        if name.startswith("snapshot/"):
            with open(f"{folder}/{name.removeprefix('snapshot/')}", "rb") as stream:  # noqa: PTH123 -- of a test
                assert content == stream.read(), name
    assert found["report.html"].startswith(b"<!doctype html>")
    about = json.loads(found["bundle.json"])
    assert (about["schema_version"], about["cluster"], about["snapshot_id"]) == (1, "prod", ID)
    assert set(about["entries"]) == ENTRIES - {"bundle.json"}


def test_the_same_contents_give_the_same_bytes_whenever_and_whatever_the_umask(store, bundle, tmp_path):
    usual = os.umask(0o077)
    try:
        again = bundled.write(store, tmp_path / "again.zip")
    finally:
        os.umask(usual)
    assert again.read_bytes() == bundle.read_bytes()
    assert {stat.S_IMODE(path.stat().st_mode) for path in (bundle, again)} == {0o640}
    assert [path.name for path in tmp_path.iterdir()] == ["again.zip"]
    with zipfile.ZipFile(bundle) as archive:
        assert archive.namelist() == sorted(ENTRIES)
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_what_is_read_is_the_report_and_the_manifest(store, bundle):
    with Bundle(bundle) as found:
        assert found.report == store.read_report(ID)
        assert found.manifest == store.manifest(ID)


@pytest.mark.parametrize("kind", ["file", "link", "dangling link"])
def test_a_file_that_exists_is_never_replaced(store, tmp_path, kind):
    target = tmp_path / "prod.zip"
    if kind == "file":
        target.write_text("mine")
    else:
        target.symlink_to(store.root if kind == "link" else tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"prod\.zip: exists already; remove it, or name another file with --out"):
        bundled.write(store, target)
    assert kind != "file" or target.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_is_not_there_is_named(store, tmp_path):
    with pytest.raises(UsageError, match=r"none/prod\.zip: No such file or directory; name another file with --out"):
        bundled.write(store, tmp_path / "none" / "prod.zip")


def test_a_damaged_snapshot_leaves_no_half_bundle(tmp_path):
    store = bundled.judged_store(tmp_path / "store")
    (tmp_path / "store" / "snapshots" / ID / f"{LogLine.table()}.parquet").write_bytes(b"short")
    with pytest.raises(SnapshotError, match=LogLine.table()):
        bundled.write(store, tmp_path / "prod.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_snapshot_without_report_is_refused(tmp_path):
    store = Store(tmp_path / "store")
    other = "20260914T190000Z-prod-0002"
    store.write(small_cluster.snapshot(bundled.SPEC, other))
    with pytest.raises(UsageError, match=f"{other} has no report; `kafka-audit diff EARLIER {other}` creates it"):
        bundles.write_bundle(store, other, tmp_path / "prod.zip", page=str, cluster=None)


def test_one_that_no_reader_would_take_is_not_written(store, tmp_path, monkeypatch):
    monkeypatch.setattr(bundles, "MOST_ENTRY_BYTES", 1000)
    with pytest.raises(UsageError, match="send its report instead"):
        bundled.write(store, tmp_path / "prod.zip")
    assert not (tmp_path / "prod.zip").exists()


@pytest.mark.parametrize(
    "name",
    [
        *("../../etc/cron.d/x", "/etc/passwd", "snapshot/../../x.json", "C:\\x.parquet", "snapshot/a/b.parquet"),
        *("snapshot/X.parquet", "snapshot/zk.parquet\x1b[31m", "snapshot/", "link", "README"),
    ],
)
def test_any_other_name_is_refused_and_nothing_is_written(bundle, tmp_path, name, monkeypatch):
    there = tmp_path / "there"
    there.mkdir()
    monkeypatch.chdir(there)
    before = sorted(path for path in tmp_path.rglob("*"))
    hostile = bundled.rewritten(bundle, tmp_path / "hostile.zip", {name: b"x"})
    message = refusal(hostile)
    assert "hostile.zip: " in message
    assert "\x1b" not in message
    assert sorted(path for path in tmp_path.rglob("*")) == sorted([*before, hostile])


def test_an_entry_without_a_name_is_refused(bundle, tmp_path):
    """`ZipInfo.is_dir` raises IndexError for it."""
    data = bytearray(bundled.rewritten(bundle, tmp_path / "nameless.zip", {"x": b""}).read_bytes())
    at = data.rindex(b"PK\x01\x02") + 28
    assert data[at : at + 4] == struct.pack("<HH", 1, 0)
    data[at : at + 4] = struct.pack("<HH", 0, 1)  # its name is an extra field now
    (tmp_path / "nameless.zip").write_bytes(data)
    assert "nameless.zip: : is not the name of an entry of a bundle" in refusal(tmp_path / "nameless.zip")


def test_a_link_is_refused(bundle, tmp_path):
    with zipfile.ZipFile(bundle) as whole, zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        for info in whole.infolist():
            if info.filename == "report.html":
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, whole.read(info.filename))
    assert "report.html: is a link, a folder or a device" in refusal(tmp_path / "link.zip")


def test_an_entry_that_is_there_twice_is_refused(bundle, tmp_path):
    hostile = tmp_path / "twice.zip"
    hostile.write_bytes(bundle.read_bytes())
    with zipfile.ZipFile(hostile, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("report.html", "another")
    assert "report.html: is there twice" in refusal(hostile)


def test_a_bomb_is_refused_before_it_is_decompressed(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(bundles, "MOST_ENTRY_BYTES", 4 << 20)
    monkeypatch.setattr(bundles, "MOST_BYTES", 8 << 20)
    zeros = bytes(5 << 20)
    for changes, problem in (
        ({"report.html": zeros}, "report.html: has 5 MB, an entry of a bundle at most 4"),
        ({f"snapshot/t{number}.parquet": zeros[: 4 << 20] for number in range(3)}, "of entries, a bundle has at most 8"),
    ):
        hostile = tmp_path / f"{len(changes)}.zip"
        with zipfile.ZipFile(hostile, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in (bundled.contents(bundle) | changes).items():
                archive.writestr(name, content)
        assert hostile.stat().st_size < 1 << 20
        assert problem in refusal(hostile)


def test_an_entry_that_is_longer_than_its_header_says_is_damaged(bundle, tmp_path):
    """The sizes in the headers are what the bounds are checked with."""
    hostile = tmp_path / "longer.zip"
    with zipfile.ZipFile(hostile, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in bundled.contents(bundle).items():
            archive.writestr(name, content + bytes(8 << 20) if name == "report.html" else content)
    data = bytearray(hostile.read_bytes())
    stated, claimed = (struct.pack("<I", len(bundled.contents(bundle)["report.html"]) + more) for more in (8 << 20, 0))
    assert data.count(stated) == 2  # in the entry's header and in the directory
    hostile.write_bytes(data.replace(stated, claimed))
    assert "report.html: is damaged" in refusal(hostile)


def test_many_entries_are_refused(tmp_path):
    for number, problem in ((bundles.MOST_ENTRIES + 1, "has 201 entries"), (40_000, "the list of its entries is too long")):
        with zipfile.ZipFile(tmp_path / f"{number}.zip", "w") as archive:
            for name in range(number):
                archive.writestr(str(name), b"")
        assert problem in refusal(tmp_path / f"{number}.zip")


@pytest.mark.parametrize("name", sorted(ENTRIES - {"bundle.json"}))
def test_a_missing_entry_is_named(bundle, tmp_path, name):
    message = refusal(bundled.rewritten(bundle, tmp_path / "less.zip", {name: None}, agreeing=False))
    assert message.startswith(f"{tmp_path}/less.zip: {name}: is missing; ask for a new bundle")


def test_a_table_that_is_left_out_everywhere_but_in_the_manifest_is_named(bundle, tmp_path):
    hostile = bundled.rewritten(bundle, tmp_path / "less.zip", {"snapshot/log_line.parquet": None})
    assert "snapshot/log_line.parquet: is missing" in refusal(hostile)


@pytest.mark.parametrize("name", ["snapshot/findings.json", "snapshot/log_line.parquet", "report.html", "snapshot/manifest.json"])
def test_a_changed_entry_is_named(bundle, tmp_path, name):
    content = bundled.contents(bundle)[name]
    changed = bundled.rewritten(bundle, tmp_path / "changed.zip", {name: content[:-1] + b"X"}, agreeing=False)
    assert f"changed.zip: {name}: does not match its size or checksum in bundle.json; ask for a new bundle" in refusal(changed)


def test_a_forged_table_is_named(bundle, tmp_path):
    held = bundled.contents(bundle)
    for content in (b"PAR1PAR1", b"", held["snapshot/log_line.parquet"][:-30] + bytes(30), held["snapshot/sample.parquet"]):
        forged = bundled.rewritten(bundle, tmp_path / "forged.zip", {"snapshot/log_line.parquet": content})
        assert "snapshot/log_line.parquet: is not a table that this version can read" in refusal(forged)


def changed(bundle, name, **fields):
    return json.dumps(json.loads(bundled.contents(bundle)[name]) | fields).encode()


@pytest.mark.parametrize(
    ("name", "fields", "problem"),
    [
        ("bundle.json", {"schema_version": 2}, "was written by a newer version (schema 2, this version supports 1); upgrade"),
        ("bundle.json", {"schema_version": "1"}, "is not the list of a bundle's entries"),
        ("bundle.json", {"snapshot_id": "../../x"}, "is not the list of a bundle's entries"),
        ("bundle.json", {"snapshot_id": ["x"]}, "is not the list of a bundle's entries"),
        ("bundle.json", {"entries": [1]}, "is not the list of a bundle's entries"),
        ("bundle.json", {"entries": {}}, "is not in the list of bundle.json"),
        ("snapshot/manifest.json", {"schema_version": 3}, "was written by a newer version (schema 3"),
        ("snapshot/manifest.json", {"snapshot_id": "20260914T180000Z-prod-0009"}, "belongs to snapshot"),
        ("snapshot/manifest.json", {"cluster": "../x"}, "is of another cluster than its snapshot"),
        ("snapshot/manifest.json", {"started_ms": "1"}, "is not a valid manifest"),
        ("snapshot/manifest.json", {"tables": 1}, "is not a valid manifest"),
        ("snapshot/findings.json", {"schema_version": 99}, "has schema_version 99"),
        ("snapshot/findings.json", {"snapshot_id": "20260914T180000Z-prod-0009"}, "is not a report of this snapshot"),
        ("snapshot/findings.json", {"cluster": "other"}, "is not a report of this snapshot"),
        ("snapshot/findings.json", {"findings": [{"code": 1}]}, "is not a report of this snapshot"),
    ],
)
def test_other_versions_and_edited_lists_are_named(bundle, tmp_path, name, fields, problem):
    other = bundled.rewritten(bundle, tmp_path / "other.zip", {name: changed(bundle, name, **fields)})
    message = refusal(other)
    assert message.startswith(f"{tmp_path}/other.zip: ")
    assert problem in message
    assert "; " in message


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"[" * 100_000, b"\xff", b"null"])
@pytest.mark.parametrize("name", ["bundle.json", "snapshot/manifest.json", "snapshot/findings.json"])
def test_text_that_is_no_such_json(bundle, tmp_path, name, text):
    assert f"other.zip: {name}: " in refusal(bundled.rewritten(bundle, tmp_path / "other.zip", {name: text}))


def test_other_files_are_no_bundles(bundle, tmp_path):
    texts = {"empty": b"", "text": b"hello", "cut": bundle.read_bytes()[:-100], "head": bundle.read_bytes()[:5000]}
    for name, content in texts.items():
        (tmp_path / name).write_bytes(content)
        assert f"{name}: is damaged, or no part of a ZIP file" in refusal(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("README", "x")
    assert "is not a bundle: bundle.json is missing; name a file that `kafka-audit bundle` wrote" in refusal(
        tmp_path / "other.zip"
    )
    assert "does not exist" in refusal(tmp_path / "nowhere.zip")
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in refusal(tmp_path / "pipe")
    assert "is not a regular file" in refusal(tmp_path)


def test_an_encrypted_or_oddly_compressed_entry_is_refused(bundle, tmp_path):
    with zipfile.ZipFile(tmp_path / "lzma.zip", "w", zipfile.ZIP_LZMA) as archive:
        for name, content in bundled.contents(bundle).items():
            archive.writestr(name, content)
    assert "compressed as no entry of a bundle is" in refusal(tmp_path / "lzma.zip")
    data = bytearray(bundle.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(data)
    assert "is encrypted" in refusal(tmp_path / "locked.zip")


def test_flipped_bytes_end_as_one_error_or_change_nothing(store, bundle, tmp_path):
    """A ZIP file has bytes that say nothing of its contents, such as times."""
    chance = random.Random(7)  # noqa: S311 -- of a test
    honest = bundle.read_bytes()
    report, refused = store.read_report(ID), 0
    for _ in range(300):
        data = bytearray(honest)
        at = chance.choice((len(data) - chance.randrange(1, 5000), chance.randrange(len(data))))
        data[at : at + chance.randrange(1, 5)] = chance.randbytes(chance.randrange(5))
        (tmp_path / "flipped.zip").write_bytes(data)
        try:
            with Bundle(tmp_path / "flipped.zip") as found:
                assert found.report == report
        except SnapshotError:
            refused += 1
    assert refused > 200
