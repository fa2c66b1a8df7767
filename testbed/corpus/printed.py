"""What tools printed on broken clusters, kept for each run of the corpus, and what that is worth by the rule of `words`."""

import json
import lzma
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from testbed.corpus.catalogue import Fault, faults, presets
from testbed.corpus.confusion import pairs_of
from testbed.corpus.documents import terminal_reports
from testbed.corpus.inputs import ALL_INPUTS
from testbed.corpus.record import Result
from testbed.corpus.recorded import CLUSTERS, SUFFIX, recordings
from testbed.corpus.words import Demands, Worth, worth

PRINTED = Path(__file__).parent / "printed"
OWN = "kafka-audit"
HEALED = "kafka-audit after the repair"
NOT_SCORED = "not scored again"
"""The worth of a text that was not kept: runs before 2026-11-27 recorded codes, and of other tools one line."""


def keep(fault: str, version: str, date: str, texts: Mapping[str, str], folder: Path = PRINTED) -> None:
    """Keep what tools printed in a run, instead of an earlier one."""
    folder.mkdir(exist_ok=True)
    content = json.dumps({"date": date, "texts": dict(texts)}, ensure_ascii=False, sort_keys=True).encode()
    _path(folder, fault, version).write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))


def kept(run: Result, folder: Path = PRINTED) -> dict[str, str]:
    """Return what tools printed in a run, by tool; empty if it was not kept."""
    path = _path(folder, run["id"], run["version"])
    if not path.is_file():
        return {}
    found = json.loads(lzma.decompress(path.read_bytes()))
    return found["texts"] if found["date"] == run.get("date") else {}


def _path(folder: Path, fault: str, version: str) -> Path:
    return folder / f"{fault}-{version.replace(' ', '-')}.json.xz"


def text_worth(fault: Fault, text: str) -> Worth:
    """Return what a printed report is worth on a cluster with a fault."""
    return worth(text, fault.demands, others(fault.demands, fault.besides), presets()[fault.preset].brokers)


@cache
def every_demand() -> dict[str, Demands]:
    """Return the words that name the faults of the corpus and the recorded causes, by name."""
    own = {
        recording.name: recording.demands
        for recording in recordings().values()
        if recording.demands is not None and not recording.fault
    }
    return {name: fault.demands for name, fault in faults().items()} | own


def others(own: Demands | None, besides: Iterable[str]) -> dict[str, Demands]:
    """Return the words of all that a cluster does not have."""
    every = every_demand()
    true = {own, *(every[name] for name in besides), *(fault.demands for fault in faults().values() if fault.usual)}
    return {name: demands for name, demands in every.items() if demands not in true}


def rejudged(runs: Iterable[Result]) -> dict[tuple[str, str], str]:
    """Return what `kafka-audit run` prints today of the recorded snapshots of runs' faults and versions."""
    wanted = {(run["id"], run["version"]) for run in runs}
    held = {
        (recording.fault, recording.version): recording.name
        for recording in recordings().values()
        if (CLUSTERS / f"{recording.name}{SUFFIX}").is_file()
    }
    names = {key: name for key, name in held.items() if key in wanted}
    texts = terminal_reports(pairs_of(names.values(), (ALL_INPUTS,)))
    return {key: texts[f"{name} {ALL_INPUTS}"] for key, name in names.items()}
