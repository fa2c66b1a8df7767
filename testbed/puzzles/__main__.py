"""Recorded clusters as puzzles (docs/puzzles.md): ``python -m testbed.puzzles list``, ``ask``, ``score``, ``export``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.corpus.recorded import CLUSTERS, SUFFIX
from testbed.errors import BedError
from testbed.puzzles import agent, bundle, judge, page

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line; return 0 for a right answer, 1 for another one, 2 for a question that cannot be answered."""
    parser = argparse.ArgumentParser(prog="python -m testbed.puzzles", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="all puzzles, each with its part: practice or held-out")
    ask = commands.add_parser("ask", help="what a party of a cluster said; without a party, who can be asked")
    ask.add_argument("puzzle", metavar="PUZZLE")
    ask.add_argument(
        "party", nargs="?", metavar="PARTY", help="such as zookeeper, broker:2, logs:2, vantage:worker, kcat, kafka-topics"
    )
    score = commands.add_parser("score", help="what an answer on standard input is worth")
    score.add_argument("puzzle", metavar="PUZZLE")
    export = commands.add_parser("export", help="write all puzzles as text: a folder for each, a file for each party")
    export.add_argument("folder", type=Path, metavar="FOLDER")
    docs = commands.add_parser("docs", help="let a scripted agent answer all, and write docs/puzzles.md")
    docs.add_argument("--page", type=Path, default=ROOT / "docs" / "puzzles.md", metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        return _answer(options)
    except BedError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _answer(options: argparse.Namespace) -> int:
    every = bundle.puzzles()
    if options.command == "list":
        for puzzle in every.values():
            sys.stdout.write(f"{puzzle.number}  {page.part(puzzle):9} {puzzle.recording.version}\n")
    elif options.command == "ask":
        puzzle = _named(options.puzzle)
        known = [*bundle.parties(puzzle), *page.TOOLS]
        tool = page.TOOLS.get(options.party)
        text = "\n".join(known) if options.party is None else tool(puzzle) if tool else bundle.said(puzzle, options.party)
        sys.stdout.write(f"{text}\n")
    elif options.command == "score":
        verdict = judge.verdict(_named(options.puzzle), sys.stdin.read())
        sys.stdout.write(f"{verdict}\n")
        return int(verdict not in {judge.CAUSE, judge.QUIET})
    elif options.command == "export":
        for puzzle in every.values():
            _export(puzzle, options.folder / page.part(puzzle) / puzzle.number)
    else:
        with tempfile.TemporaryDirectory() as folder:
            options.page.write_text(page.page(every.values(), agent.answers(every.values(), folder), _size()), encoding="utf-8")
    return 0


def _size() -> int:
    return sum(path.stat().st_size for path in CLUSTERS.glob(f"*{SUFFIX}"))


def _named(number: str) -> bundle.Puzzle:
    if number not in bundle.puzzles():
        message = f"there is no puzzle {number!r}: `python -m testbed.puzzles list` shows all"
        raise BedError(message)
    return bundle.puzzles()[number]


def _export(puzzle: bundle.Puzzle, folder: Path) -> None:
    folder.mkdir(parents=True)
    for party in bundle.parties(puzzle):
        (folder / f"{party.replace(':', '-')}.txt").write_text(f"{bundle.said(puzzle, party)}\n", encoding="utf-8")
    for name, tool in page.TOOLS.items():
        (folder / f"{name}.txt").write_text(f"{tool(puzzle)}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
