"""The checklist of a release: ``make release`` (all steps), ``make release STEPS="archives sbom"`` (these).

Prints a line for each step, with what it shows and whether it passed, failed or was not run; its output is in
build/release/NAME.log. The exit code is 0 only if all steps ran and passed; only a step whose tool this machine does not have
(the image, without a builder) may be left to another one, and the last line names it.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kafka_audit import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "release"
SECOND_FOLDER = "another-folder-with-a-longer-name"
_BUILD = "from setuptools import build_meta as b; print(b.build_sdist('dist')); print(b.build_wheel('dist'))"
_WHEEL_OF_SOURCES = "from setuptools import build_meta as b; print(b.build_wheel('dist'))"


class StepError(RuntimeError):
    """A step found what must not be released; the first line says what."""


@dataclass(frozen=True)
class Step:
    """One line of the checklist: its name, what it shows, and how."""

    name: str
    shows: str
    run: Callable[[Path], None]
    tool: tuple[str, ...] = ()  # a machine where this command fails leaves the step to another one


def output(*command: str) -> str:
    """Return what a command prints; StepError if it fails."""
    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if completed.returncode:
        message = f"{command[0]} failed: {completed.stderr.strip()[-300:]}"
        raise StepError(message)
    return completed.stdout


def command(*words: str, clone: bool = False) -> Callable[[Path], None]:
    """Return a step that runs a command here or in a fresh clone, with its output in the log."""

    def run(log: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = ROOT
            if clone:
                place = Path(folder, "kafka-audit")
                output("git", "clone", "--quiet", str(ROOT), str(place))
            with log.open("ab") as file:
                code = subprocess.run(words, cwd=place, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
        if code:
            message = f"exit code {code} of {' '.join(words)}"
            raise StepError(message)

    return run


def clean(_log: Path) -> None:
    """Nothing is released that is not committed, and the changelog begins with this version."""
    changed = output("git", "status", "--porcelain").strip()
    if changed:
        message = f"not committed: {changed.splitlines()[0]}"
        raise StepError(message)
    heading = next(line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## "))
    if heading.split()[1] != __version__:
        message = f"CHANGELOG.md begins with {heading!r}, the package is {__version__}"
        raise StepError(message)


def built(place: Path, epoch: str, code: str = _BUILD) -> dict[str, Path]:
    """Build the archives of a folder; return them by file name. Source archives have the time of the commit, and no user."""
    environ = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "PYTHONHASHSEED": "0"}
    completed = subprocess.run([sys.executable, "-c", code], cwd=place, env=environ, capture_output=True, text=True, check=False)
    if completed.returncode:
        message = f"the build failed: {completed.stderr.strip()[-300:]}"
        raise StepError(message)
    archives = {path.name: path for path in (place / "dist").iterdir()}
    for path in archives.values():
        if path.name.endswith(".tar.gz"):
            path.write_bytes(same_bytes(path.read_bytes(), int(epoch)))
    return archives


def same_bytes(archive: bytes, epoch: int) -> bytes:
    """Return a source archive with one time and no user: setuptools writes those of the build into it."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as old,
        gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=epoch) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            content = old.extractfile(member)
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, content)
    return packed.getvalue()


def lacking(wheel: Path, files: list[str]) -> list[str]:
    """Return what a wheel lacks of the package's committed files, and what it holds besides."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    named = [
        name for name in files if not PurePosixPath(name).name.startswith(".")
    ]  # .airflowignore is for folders that are mounted
    wanted = {name.removeprefix("plugins/") if name.startswith("plugins/") else f"kafka_audit/{name}" for name in named}
    return sorted(wanted - names) + sorted(name for name in names - wanted if not name.startswith("kafka_audit-"))


def archives(log: Path) -> None:
    """Build twice in folders with other names, and once from the source archive: the same bytes; the wheel is complete."""
    epoch = output("git", "log", "-1", "--format=%ct").strip()
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for name in ("first", SECOND_FOLDER):
            place = Path(folder, name)
            place.mkdir()
            # A checkout of other rights and times than this one's: neither may be seen in an archive.
            packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(place, filter="data")
            found.append(built(place, epoch))
        first, second = found
        with tarfile.open(next(path for name, path in first.items() if name.endswith(".tar.gz"))) as sources:
            sources.extractall(Path(folder, "sources"), filter="data")
        (unpacked,) = Path(folder, "sources").iterdir()
        again = built(unpacked, epoch, _WHEEL_OF_SOURCES)
        sums = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sorted(first.items())}
        log.write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
        for name, path in [*second.items(), *again.items()]:
            if hashlib.sha256(path.read_bytes()).hexdigest() != sums[name]:
                message = f"{name} differs between two builds ({path.parent.parent.name})"
                raise StepError(message)
        (wheel,) = (path for name, path in first.items() if name.endswith(".whl"))
        wrong = lacking(wheel, output("git", "ls-files", "plugins/kafka_audit", "dags", "spark_jobs").split())
        if wrong:
            message = f"the wheel and the committed files differ by {len(wrong)}: {', '.join(wrong[:3])}"
            raise StepError(message)
        for name, path in first.items():
            shutil.copy(path, OUT / name)
    (OUT / "SHA256SUMS").write_text(log.read_text())


def notes(_log: Path) -> None:
    """Write the newest section of the changelog to build/release/notes.md."""
    sections = (ROOT / "CHANGELOG.md").read_text().split("\n## ")
    (OUT / "notes.md").write_text(f"## {sections[1].strip()}\n")


def records(log: Path) -> None:
    """Pages that are generated from records and code are those that are committed."""
    command("make", "docs")(log)
    command(sys.executable, "-m", "testbed.corpus", "docs")(log)
    changed = output("git", "status", "--porcelain").strip()
    if changed:
        message = f"a generated page is not committed: {changed.splitlines()[0]}"
        raise StepError(message)


PYTEST = (sys.executable, "-m", "pytest")
HOSTILE = [f"tests/scenarios/test_hostile_{party}.py" for party in ("cluster", "broker")]
BENCHMARKS = ("views", "joins", "kafka_topics", "audit_overhead", "large_audits", "what_if", "page", "lint", "zookeeper_read")
"""Those that bound an audit or a comparison and take minutes; the others measure days, brokers and fleets."""

STEPS = (
    Step("clean", "all is committed; the changelog begins with this version", clean),
    Step("archives", "wheel and source archive are the same bytes over two builds; the wheel has every file", archives),
    Step("notes", "the changelog of this version, for the release's page", notes),
    Step("sbom", "the SBOM of the image", command("make", "sbom", f"SBOM={OUT / 'kafka-audit.cdx.json'}")),
    Step("lint", "ruff, mypy, import contracts, pinned requirements", command("make", "lint")),
    Step("records", "pages that are generated are those that are committed", records),
    Step(
        "wheel",
        "a first verdict below 60 s from pip install, without Java",
        command(*PYTEST, "tests/packaging/test_base_wheel.py"),
    ),
    Step("demo", "a fresh clone breaks, audits, heals a cluster: README's first command", command("make", "demo", clone=True)),
    Step("test", "a fresh clone's tests: README's second command", command("make", "test", clone=True)),
    Step("hostile", "hostile brokers and clusters", command(*PYTEST, *HOSTILE)),
    Step("airflow", "the wheel in Airflow 3.1 to 3.3 on Python 3.11 to 3.13", command("make", "airflow")),
    Step("corpus", "faults and healthy clusters that the record lacks", command("make", "corpus", "MINUTES=30")),
    Step("speed", "benchmarks of an audit and of a comparison", command("make", "bench", f"NAMES={' '.join(BENCHMARKS)}")),
    Step("image", "the image builds, where a builder exists", command("docker", "build", "."), tool=("docker", "info")),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the steps that were asked for; return 0 only if all steps ran and passed."""
    parser = argparse.ArgumentParser(
        prog="make release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(step.name for step in STEPS))
    asked = parser.parse_args(arguments).steps
    unknown = sorted(set(asked).difference(step.name for step in STEPS))
    if unknown:
        parser.error(f"there is no step {unknown[0]}: {', '.join(step.name for step in STEPS)}")
    OUT.mkdir(parents=True, exist_ok=True)
    passed, elsewhere = True, []
    for step in STEPS:
        if asked and step.name not in asked:
            passed, outcome = False, "NOT RUN"
        elif lacks := lacking_tool(step.tool):
            outcome = f"NOT RUN, {lacks}"
            elsewhere.append(step.name)
        else:
            outcome = result(step)
            passed = passed and outcome.startswith("passed")
        sys.stdout.write(f"{step.name:9} {step.shows}: {outcome}\n")
        sys.stdout.flush()
    if elsewhere:
        sys.stdout.write(f"To be run on another machine before the release: {', '.join(elsewhere)}\n")
    return 0 if passed else 1


def lacking_tool(tool: tuple[str, ...]) -> str:
    """Return why a tool cannot be used here, "" if it can: a client of Docker may be there, and no engine."""
    if not tool:
        return ""
    if shutil.which(tool[0]) is None:
        return f"{tool[0]} is missing"
    works = subprocess.run(tool, capture_output=True, check=False).returncode == 0
    return "" if works else f"`{' '.join(tool)}` fails"


def result(step: Step) -> str:
    """Run a step; return what the table says of it."""
    log = OUT / f"{step.name}.log"
    log.write_bytes(b"")
    began = time.monotonic()
    try:
        step.run(log)
    except FileNotFoundError as error:
        return f"NOT RUN, {error.filename} is missing"
    except StepError as error:
        return f"FAILED after {time.monotonic() - began:.0f} s, {error} (build/release/{step.name}.log)"
    return f"passed in {time.monotonic() - began:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
