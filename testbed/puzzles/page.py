"""Writes docs/puzzles.md: how a tool or an agent is scored, and how two of them do. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from testbed.puzzles import judge
from testbed.puzzles.bundle import Puzzle, kafka_topics, kcat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

TOOLS: Mapping[str, Callable[[Puzzle], str]] = MappingProxyType({"kafka-topics": kafka_topics, "kcat": kcat})
"""What two tools print of the view of one broker."""
PARTS = ("practice", "held-out")
_COLUMNS = (judge.CAUSE, judge.UNDECIDED, judge.SYMPTOM, judge.SILENT, judge.WRONG, judge.QUIET)
_PAGE = """# Puzzles: score your own tool or agent

Written by `python -m testbed.puzzles docs`. A puzzle is a real Kafka cluster, broken in a known way, in a form that can be
asked again: what ZooKeeper, each broker, each controller, the logs, the files and the network said, before and after.
Nothing in it says what is wrong. Some are healthy. There are {number} in the repository ({size} kB); `make recordings` makes
them anew on real brokers.

```
python -m testbed.puzzles list
python -m testbed.puzzles ask p5699               # who can be asked
python -m testbed.puzzles ask p5699 broker:2      # what broker 2 said, in rows of the tables of a snapshot
python -m testbed.puzzles ask p5699 before:broker:2
python -m testbed.puzzles ask p5699 kcat          # what kcat -L prints of one broker's view
echo 'Broker 2 lost its disk' | python -m testbed.puzzles score p5699
python -m testbed.puzzles export build/puzzles    # all as text files
```

Rows have the columns of [tables](tables.md). A party that did not answer has a row in `source_read` with the error.

## The rule

The judge reads words without knowing their author, by the same rule as in [the corpus](corpus.md): *cause*, if one line has
the cause and the place as a statement; *undecided*, if the cause is named as a possible one; *symptom*; *silent*; *wrong*, if
a line states another fault, which this cluster does not have, even beside the true one. The right answer to a healthy cluster
names no fault: *quiet*. `score` ends with 0 for *cause* and *quiet*.

A third of the puzzles is **held out**. Do not improve a tool, a prompt or a rule with them; score them once. The names of
what is wrong are in `testbed/corpus/recordings.yaml`, so keep that file from an agent.

## Two agents

A scripted agent asks `kafka-audit mcp` with the official SDK's client ([agents](agents.md)): `why` for each cluster, and
repeats the answers. The other one has the outputs of `kafka-topics --describe --under-replicated-partitions` and `kcat
-L`, rendered from the view of the broker that comes first, and repeats them. Neither has seen a puzzle before. The authors
of kafka-audit have seen all of them, the held-out ones too, so the first row says that nothing is lost on the way to an
agent, not how kafka-audit does on clusters that are unknown to its authors.

| answers from | part | {columns} |
|---|---|{rule}|
{rows}
"""


def part(puzzle: Puzzle) -> str:
    """Return the part that a puzzle belongs to."""
    return PARTS[puzzle.held_out]


def page(given: Iterable[Puzzle], answers: Mapping[str, str], size: int = 0) -> str:
    """Return the page.

    Args:
        given: all puzzles.
        answers: of the agent with our tools, by number.
        size: of all recordings, in bytes.
    """
    every = list(given)
    alone = {puzzle.number: "\n\n".join(tool(puzzle) for tool in TOOLS.values()) for puzzle in every}
    rows = [
        _row(name, part_name, every, named)
        for name, named in (("kafka-audit mcp", answers), ("kafka-topics and kcat", alone))
        for part_name in PARTS
    ]
    return _PAGE.format(
        number=len(every),
        size=round(size / 1000),
        columns=" | ".join(_COLUMNS),
        rule="|".join("---" for _ in _COLUMNS),
        rows="\n".join(rows),
    )


def _row(name: str, wanted: str, every: Sequence[Puzzle], named: Mapping[str, str]) -> str:
    puzzles = [puzzle for puzzle in every if part(puzzle) == wanted]
    found = judge.shares(puzzles, named)
    return f"| {name} | {wanted} ({len(puzzles)}) | {' | '.join(str(found.get(column, 0)) for column in _COLUMNS)} |"
