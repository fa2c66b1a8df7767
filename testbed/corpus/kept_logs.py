"""Logs of faults, and what `kafka-audit logs` makes of nothing else: ``python -m testbed.corpus.kept_logs record|show|docs``.

`record` breaks a cluster for each fault that the archive lacks, keeps of each node the first lines of its log, the last ones and
all at WARN and above since the fault began, without secrets, and repairs it. No audit is taken. `show` reads each run alone.
"""

import argparse
import contextlib
import io
import re
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import takewhile
from pathlib import Path

import zstandard

from kafka_audit.checks import catalogue as checks
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.collect.logs.pieces import LogFile
from kafka_audit.lint.logged import logged_risks
from kafka_audit.logs.diagnosis import log_document
from kafka_audit.logs.tally import LogTally
from kafka_audit.report.log_report import log_text
from kafka_audit.says.process_lines import event_in
from testbed import records
from testbed.corpus.actions import carry_out
from testbed.corpus.auditing import Auditor
from testbed.corpus.catalogue import Fault, faults, without_sign
from testbed.corpus.printed import text_worth
from testbed.corpus.runner import Stage
from testbed.errors import BedError

ARCHIVE = records.RECORDS / "logs.tar.zst"
WAIT_S = 12  # after a fault, for lines that are written again and again
_AT_ENDS, _OF_NODE = 200, 5_000  # lines; bytes of one node, compressed
_BAD = re.compile(r"\b(?:WARN|ERROR|FATAL)\b")
_HEAD = re.compile(r"\[?\d{4}-\d\d-\d\d")
_SETTING = re.compile(r"\s+[\w.-]+ = ")  # hundreds at each start, of which the last ones before the fault and since are kept
_SETTINGS = "KafkaConfig values"
_NEED_REPORTS = {"printed", "look", "raise_controller_epoch"}  # repairs that go by what an audit says
Logs = Mapping[str, str]


def read(path: Path = ARCHIVE) -> dict[tuple[str, str], dict[str, str]]:
    """Return the logs by fault and version, each by node and file; none where there is no archive."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    if path.is_file():
        with zstandard.open(path, "rb") as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                fault, version, name = member.name.split("/", 2)
                content = archive.extractfile(member)
                found.setdefault((fault, version), {})[name] = content.read().decode() if content else ""
    return found


def write(runs: Mapping[tuple[str, str], Logs], path: Path = ARCHIVE) -> None:
    """Write the archive, whole."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for (fault, version), logs in sorted(runs.items()):
            for name, text in sorted(logs.items()):
                entry = tarfile.TarInfo(f"{fault}/{version}/{name}")
                entry.size = len(content := text.encode())
                archive.addfile(entry, io.BytesIO(content))
    beside = path.with_suffix(".new")
    beside.write_bytes(zstandard.ZstdCompressor(level=19, threads=1).compress(packed.getvalue()))
    beside.replace(path)


def sizes(folder: Path) -> dict[Path, int]:
    """Return how long the logs of a cluster are now."""
    return {path: path.stat().st_size for path in folder.glob("*/logs/*.log")}


def kept(folder: Path, before: Mapping[Path, int]) -> dict[str, str]:
    """Return what is kept of a cluster's logs, by node and file; `before` has their lengths when the fault began."""
    found: dict[str, str] = {}
    for node in sorted({path.parent for path in folder.glob("*/logs/*.log")}):
        lines = _AT_ENDS
        while True:
            texts = {path: _part(path, before.get(path, 0), lines) for path in sorted(node.glob("*.log"))}
            rest = "\n".join(line for text in texts.values() for line in text.splitlines() if not _SETTING.match(line))
            if lines <= 1 or len(zstandard.compress(rest.encode(), 19)) <= _OF_NODE:
                break
            lines //= 2
        for path, text in texts.items():
            if text:
                found[f"{node.parent.name}/{path.name}"] = text.replace(str(folder.parent), "/bed").replace(str(folder), "/bed")
    return found


def _part(path: Path, began: int, most: int) -> str:
    raw = path.read_bytes()
    began = began if began <= len(raw) else 0
    (early, known), (late, changed) = (
        _settings_apart(part.decode(errors="replace").splitlines()) for part in (raw[:began], raw[began:])
    )
    # Only server.log says which node and release it is.
    first = [*early[:most], *filter(event_in, early[most:])] if path.name == "server.log" else []
    start = late[:most] if not early and path.name in {"server.log", "console.log"} else []
    middle = late[len(start) : max(len(start), len(late) - most)]
    end = late[max(len(start), len(late) - most) :]
    configured = (known, changed) if path.name == "server.log" else ([], [])
    lines = [*first, *configured[0], *start, *_bad(middle, most), *configured[1], *end]
    return "".join(f"{masked(line[:1500])}\n" for line in lines)


def _settings_apart(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return lines without settings, and the last line that announces settings, with these."""
    last = max((number for number, line in enumerate(lines) if _SETTINGS in line), default=None)
    block = [] if last is None else [lines[last], *takewhile(_SETTING.match, lines[last + 1 :])]
    return [line for line in lines if not _SETTING.match(line) and _SETTINGS not in line], block


def _bad(lines: Sequence[str], most: int) -> Iterator[str]:
    """Yield lines at WARN and above with what is below them: the first of each kind, all of them where they are few."""
    kinds: Counter[str] = Counter()
    keeps, below = False, 0
    for line in lines:
        if _HEAD.match(line):
            kind = re.sub(r"\d+", "#", line[:120])
            kinds[kind] += bool(_BAD.search(line[:80]))
            keeps, below = 0 < kinds[kind] <= most // 4 and bool(_BAD.search(line[:80])), 0
        elif keeps:
            below += 1
        if keeps and below <= 6:  # noqa: PLR2004 -- the exceptions, and a few frames
            yield line


def record(wanted: Iterable[tuple[Fault, str]], minutes: float, path: Path = ARCHIVE, wait_s: float = WAIT_S) -> int:
    """Break clusters, keep their logs, repair them; return how many were kept."""
    stage, runs, until = Stage(Auditor(), say), read(path), time.monotonic() + 60 * minutes
    count = 0
    try:
        for fault, version in wanted:
            if time.monotonic() > until:
                break
            try:
                scene = stage.prepare(fault.preset, version, audited=False)
                scene.undo, scene.ran, scene.followed, scene.look = [], [], [], bool  # no audit is compared
                before = sizes(scene.cluster.folder) if fault.steps else {}
                carry_out(scene, fault.steps)
                time.sleep(wait_s)
                runs[fault.id, version] = kept(scene.cluster.folder, before)
            except (BedError, subprocess.SubprocessError, OSError) as error:
                say(f"{fault.id} on {version}: NOT RUN: {error}")
                stage.clear()
                continue
            count += 1
            write(runs, path)
            say(f"{fault.id} on {version}: {sum(map(len, runs[fault.id, version].values()))} characters")
            _repair(stage, fault)
    finally:
        stage.clear()
    return count


def _repair(stage: Stage, fault: Fault) -> None:
    """Repair a cluster for the next fault; one for which a report is needed is thrown away."""
    if fault.alone or fault.healed_as or not fault.steps or any(step.do in _NEED_REPORTS for step in fault.heal):
        stage.clear()
        return
    with contextlib.suppress(BedError, subprocess.SubprocessError):
        carry_out(stage.running, fault.heal)
        return
    stage.clear()


def diagnosed(logs: Logs, *, quotes: bool = True) -> str:
    """Return what `kafka-audit logs` prints of one run's logs; without `quotes`, only what it says itself."""
    tally = LogTally()
    for name, text in logs.items():
        tally.read(LogFile(name, io.BufferedReader(io.BytesIO(text.encode()))))
    document = log_document(tally)
    document["risks"] += logged_risks(tally, checks(), date.today())  # noqa: DTZ011 -- of certificates alone
    for part in () if quotes else ("unknown", "signs"):
        document[part] = [{**one, "text": ""} for one in document[part]]
    return log_text(document, width=130)


def table(path: Path = ARCHIVE, names: Collection[str] = ()) -> Iterator[tuple[str, str, str, str]]:
    """Yield fault, version, what the text is worth by the rule of the corpus, and its first line."""
    for (name, version), logs in read(path).items():
        if (fault := faults().get(name)) is not None and (name in names or not names):
            text = diagnosed(logs, quotes=False)
            yield name, version, text_worth(fault, text).verdict, text.partition("\n")[0]


def page(path: Path = ARCHIVE) -> str:
    """Return the page of the table."""
    rows = [*table(path)]
    signed = [row for row in rows if row[0] not in without_sign()]
    count = Counter(worth for _, _, worth, _ in signed)
    named = count["cause"] + count["undecided"]
    figures = (
        f"{len(rows)} runs of {len({row[0] for row in rows})} of {len(faults())} faults. {len(rows) - len(signed)} runs are of"
        f" faults without a sign. Of the other {len(signed)}, the cause, or one of two, is named in {named}"
        f" ({named / (len(signed) or 1):.0%}):"
        f" cause {count['cause']}, undecided {count['undecided']}, symptom {count['symptom']}, silent {count['silent']}."
        f" Of all runs, something false is said in {sum(row[2] == 'wrong' for row in rows)}."
    )
    lines = [
        f"| `{name}` | {version} | {worth} | {'no' if name in without_sign() else 'yes'} | {first.replace('|', '/')} |"
        for name, version, worth, first in rows
    ]
    return "\n".join((_PAGE.format(figures=figures), *lines, ""))


_PAGE = """# Faults by their logs alone

Written by `python -m testbed.corpus.kept_logs docs`. For each fault of the [corpus](corpus.md) that was run, the logs of all
nodes are kept (`testbed/records/logs.tar.zst`), and `kafka-audit logs` reads them, and nothing else. What it prints is worth what
the rule of the corpus says; lines that it only quotes do not count. Causes, and risks by settings, count alike. *Sign*: whether a
line of any process shows the cause; [the others](corpus.md#faults-without-a-sign-in-logs) are listed with the reason.
*Undecided*: two causes are named, of which one is true. *Symptom*: only an effect is named.

{figures}

| Fault | Release | Worth | Sign | First line |
|---|---|---|---|---|"""


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m testbed.corpus.kept_logs", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="keep the logs of faults that the archive lacks")
    recording.add_argument("names", nargs="*", metavar="FAULT", help="only these, again")
    recording.add_argument("--versions", nargs="+", default=["3.9.1 ZooKeeper", "4.3.0 KRaft"], metavar="VERSION")
    recording.add_argument("--minutes", type=float, default=25.0, help="begin none after so many minutes")
    recording.add_argument("--wait", type=float, default=WAIT_S, metavar="S", help="after a fault, for lines that are repeated")
    showing = commands.add_parser("show", help="what `kafka-audit logs` says of each run alone")
    showing.add_argument("names", nargs="*", metavar="FAULT", help="the whole text of these")
    commands.add_parser("docs", help="write docs/logs-corpus.md")
    options = parser.parse_args(arguments)
    if options.command == "docs":
        Path("docs/logs-corpus.md").write_text(page())
        return 0
    if options.command == "show":
        for run, logs in read().items():
            if run[0] in options.names:
                sys.stdout.write(f"== {run}\n{diagnosed(logs)}\n")
        for row in () if options.names else table():
            sys.stdout.write(f"{row[0]:34} {row[1]:16} {row[2]:10} {row[3]}\n")
        return 0
    known = read()
    wanted = [
        (fault, version)
        for version in options.versions
        for fault in sorted(faults().values(), key=lambda one: (one.alone, one.preset != "plain", one.preset))
        if version in fault.versions
        and (fault.id in options.names if options.names else not any(fault.id == name for name, _ in known))
    ]
    say(f"{record(wanted, options.minutes, wait_s=options.wait)} kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
