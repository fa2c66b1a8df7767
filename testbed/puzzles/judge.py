"""What answers to puzzles are worth: by their words alone, the same rule for every tool. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from testbed.corpus.catalogue import presets
from testbed.corpus.printed import others
from testbed.corpus.words import named, worth

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from testbed.puzzles.bundle import Puzzle

CAUSE, UNDECIDED, SYMPTOM, SILENT, WRONG, QUIET = "cause", "undecided", "symptom", "silent", "wrong", "quiet"
"""As `words.VERDICTS` has them; `quiet` is the right answer to a healthy cluster."""


def verdict(puzzle: Puzzle, answer: str) -> str:
    """Return what an answer is worth: cause and place are in one line of it, as a statement; and no other fault is."""
    recording = puzzle.recording
    false = others(recording.demands, recording.besides)
    if recording.demands is None:
        return WRONG if named(answer, false) else QUIET
    return worth(answer, recording.demands, false, presets()[recording.preset].brokers).verdict


def shares(given: Iterable[Puzzle], answers: Mapping[str, str]) -> dict[str, int]:
    """Return how many answers are worth what; a puzzle without an answer is silent, or quiet."""
    return dict(Counter(verdict(puzzle, answers.get(puzzle.number, "")) for puzzle in given))
