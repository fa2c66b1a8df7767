"""Run the fault corpus: ``python -m testbed.corpus run``, ``controls``, ``healthy``, ``list``, ``docs``."""

import argparse
import gc
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from testbed.corpus import healthy, page, printed, record
from testbed.corpus.auditing import ENGINES, Auditor
from testbed.corpus.catalogue import GROUPS, VERSIONS, Control, Fault, controls, faults
from testbed.corpus.runner import run_controls, run_faults

Some = TypeVar("Some", Fault, Control)
_BEGAN = time.monotonic()


def say(line: str) -> None:
    """Print a step with the time since the start."""
    sys.stdout.write(f"[{time.monotonic() - _BEGAN:5.0f} s] {line}\n")
    sys.stdout.flush()


def pending(wanted: dict[str, Some], options: argparse.Namespace, kind: str) -> list[tuple[Some, str]]:
    """Return what is to be run: all that is named, on each of its versions, without what the record has already."""
    known = record.newest(record.read(options.record))
    chosen = {
        version for asked_version in options.versions or VERSIONS for version in GROUPS.get(asked_version, (asked_version,))
    }
    names = options.names or list(wanted)
    if unknown := [name for name in names if name not in wanted]:
        sys.exit(f"no {kind} {', '.join(unknown)}; `python -m testbed.corpus list` shows all")
    return [
        (wanted[name], version)
        for name in names
        for version in wanted[name].versions
        if version in chosen
        and (options.rerun or (kind, name, version) not in known or _unprinted(known[kind, name, version], options))
    ]


def _unprinted(run: record.Result, options: argparse.Namespace) -> bool:
    return options.unprinted and run["kind"] == "fault" and not printed.kept(run)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m testbed.corpus", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, kind in (("run", "fault"), ("controls", "control"), ("healthy", "control")):
        command = commands.add_parser(name, help=f"run {kind}s that the record does not have yet")
        command.add_argument("names", nargs="*", metavar=kind.upper(), help="only these")
        command.add_argument("--versions", nargs="+", choices=[*GROUPS, *VERSIONS], metavar="VERSION", help="only on these")
        command.add_argument("--rerun", action="store_true", help="those that the record has, too")
        command.add_argument("--unprinted", action="store_true", help="those of which the record has no printed texts, too")
        command.add_argument("--minutes", type=float, default=float("inf"), help="begin none after so many minutes")
        kept = healthy.HEALTHY if name == "healthy" else record.RECORD
        command.add_argument("--record", type=Path, default=kept, help="file of the record")
        command.add_argument("--engine", choices=ENGINES, default=ENGINES[0], help="what runs the queries (default duckdb)")
        command.add_argument("--reports", type=Path, help="folder for the reports on broken and repaired clusters")
        command.add_argument("--rounds", type=int, default=1, help="of each control")
    commands.add_parser("list", help="list faults and controls")
    commands.add_parser("docs", help="write docs/corpus.md and docs/versions.md from the record").add_argument(
        "folder", nargs="?", type=Path, default=Path("docs")
    )
    options = parser.parse_args(arguments)
    match options.command:
        case "list":
            entries: list[Fault | Control] = [*faults().values(), *controls().values()]
            for entry in entries:
                sys.stdout.write(f"{entry.id:32} {', '.join(entry.versions):60} {entry.title}\n")
        case "docs":
            gc.disable()  # a fifth of the time was looking for garbage among 210 documents that the page needs
            page.write(options.folder)
        case _:
            _run(options)
    return 0


def _run(options: argparse.Namespace) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    auditor, deadline = Auditor(options.engine), _BEGAN + 60 * options.minutes
    if options.reports is not None:
        options.reports.mkdir(parents=True, exist_ok=True)
    try:
        if options.command == "run":
            wanted_faults = pending(faults(), options, "fault")
            ran = run_faults(wanted_faults, auditor, say, path=options.record, deadline=deadline, reports=options.reports)
            say(f"{ran} run")
        elif options.command == "healthy":
            under_load = pending(healthy.under_load(), options, "healthy")
            audits = healthy.run_healthy(under_load, options.rounds, auditor, say, path=options.record, deadline=deadline)
            say(f"{audits} audits")
        else:
            wanted = pending(controls(), options, "control")
            audits = run_controls(wanted, options.rounds, auditor, say, path=options.record, deadline=deadline)
            say(f"{audits} audits")
    finally:
        auditor.close()


if __name__ == "__main__":
    sys.exit(main())
