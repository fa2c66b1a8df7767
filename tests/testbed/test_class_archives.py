from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from testbed import class_archives
from testbed.jars import java

if TYPE_CHECKING:
    from pathlib import Path

MAIN_CLASS = "kafka.Kafka"


def _run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([java(), *options, "-version"], capture_output=True, text=True, check=True)


@pytest.fixture
def server(tmp_path: Path) -> Any:
    (tmp_path / "jars").mkdir()
    return SimpleNamespace(jars=tmp_path / "jars", main_class=MAIN_CLASS, folder=tmp_path)


def _options(server: Any) -> list[str]:
    return class_archives.options(server.jars, server.main_class, server.folder)


def test_a_first_server_lists_its_classes_and_the_next_ones_map_the_archive_of_them(server: Any) -> None:
    _run(*_options(server))
    assert "java/lang/Object" in (server.folder / class_archives.LISTED).read_text()
    class_archives.make([cast("Any", server)])
    mapped, *quiet = _options(server)
    assert mapped.startswith("-XX:SharedArchiveFile=")
    assert _run(mapped, *quiet, "-Xshare:on", class_archives.COLLECTOR).stdout == ""


@pytest.mark.parametrize("listed", [None, "no/Such/Class id: x\n"])
def test_what_lists_nothing_or_nonsense_leaves_no_archive(server: Any, listed: str | None) -> None:
    if listed is not None:
        (server.folder / class_archives.LISTED).write_text(listed)
    class_archives.make([cast("Any", server)])
    assert list(server.jars.iterdir()) == []
    assert _options(server) == [f"-XX:DumpLoadedClassList={server.folder / class_archives.LISTED}"]


def test_an_archive_that_java_cannot_map_costs_neither_the_start_nor_a_line(server: Any) -> None:
    _run(*_options(server))
    class_archives.make([cast("Any", server)])
    archive = next(server.jars.iterdir())
    archive.chmod(0o600)
    archive.write_bytes(b"not an archive")
    assert _run(*_options(server)).stdout == ""
