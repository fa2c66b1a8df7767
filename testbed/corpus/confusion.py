"""The confusion matrix of causes: what is said of each recorded cluster, judged anew, with all inputs and with fewer.

A pure function of recordings and documents, and the section of docs/corpus.md that is written from it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from kafka_audit.faults.fault import known_faults
from testbed.corpus.documents import Document, Pair, documents
from testbed.corpus.inputs import INPUTS
from testbed.corpus.recorded import CLUSTERS, SUFFIX, Recording, recordings, unpacked, unrecorded

DECIDED, SUSPECTED, UNDECIDED, SYMPTOM, SILENT, WRONG = "decided", "suspected", "undecided", "symptom", "silent", "wrong"
NAMED = frozenset({DECIDED, SUSPECTED, UNDECIDED})
"""Verdicts with which a reader has the true cause before him."""
_SURE = frozenset({"measured", "inferred"})
_CUT = "KA302"  # the check of several causes, which names the one in its evidence
_UNREGISTERED = "KA113"  # the same, of a broker that runs
_OF_KINDS = frozenset(["KA401", "KA403", "KA404", "KA405", "KA406", "KA412", "KA501", "KA508", "KA608"])
"""Checks that name a cause of the matrix: never a mere symptom of another one."""
_REASONS = _OF_KINDS | {"KA103", "KA111", "KA113", "KA209", "KA216", "KA301", "KA303", "KA304", "KA305"}
"""Checks that name a reason why an edge fails; the other ones report an effect, a setting, or a gap of the audit."""

Verdicts = dict[str, dict[str, str]]
"""Verdicts by recording and inputs."""


class _Truth:
    """What is wrong with a recorded cluster, in the words that documents have for it."""

    def __init__(self, recording: Recording) -> None:
        known = {fault.name: fault for fault in known_faults()}
        own = [known[name] for name in recording.broken_by]
        self.kinds = {fault.kind for fault in own}
        self.names = {*self.kinds, *recording.cause, *({fault.check for fault in own} - {_UNREGISTERED})} - {_CUT}
        self.faults = {*recording.broken_by}
        if "tls" in self.kinds:
            self.faults.add("handshake")  # a handshake whose reason is not named
        self.effect = {*recording.effect} - {_CUT} - _OF_KINDS


def verdict(recording: Recording, document: Document) -> str:
    """Return what a document is worth to a reader who does not know what is wrong with the recorded cluster.

    Wrong: it is sure of another cause, or rules the true one out. Decided: it is sure of the true one. Suspected: it names the
    true one first, with rivals that are not ruled out. Undecided: the true one is among the candidates. Symptom: it reports what
    follows from the cause, and no candidates. Silent: nothing.
    """
    truth = _Truth(recording)
    found = [_of_incident(truth, incident, document) for incident in document["incidents"]] or [_of_findings(truth, document)]
    order = (WRONG, DECIDED, SUSPECTED, UNDECIDED, SYMPTOM, SILENT)
    return min(found, key=order.index)


def _of_incident(truth: _Truth, incident: Mapping[str, Any], document: Document) -> str:
    sure = incident["confidence"] in _SURE
    candidates = {candidate["cause"]: candidate["state"] for candidate in incident["candidates"]}
    named = _named(incident, document)
    if named & truth.names and _same_fault(truth, incident, document):
        return DECIDED if sure else SUSPECTED
    if sure and named - truth.effect:
        return WRONG
    states = {candidates[kind] for kind in truth.kinds & candidates.keys()}
    if states == {"ruled_out"}:
        return WRONG
    return UNDECIDED if states else SYMPTOM


def _named(incident: Mapping[str, Any], document: Document) -> set[str]:
    """Return the codes and kinds of causes that an incident names, first of all candidates; none where it names an effect."""
    if incident["cause"] == _CUT:
        return {str(root["evidence"].get("cause") or "address") for root in _roots(incident, document)}
    runs = [root["evidence"] for root in _roots(incident, document) if root["evidence"].get("runs")]
    if incident["cause"] == _UNREGISTERED and runs:
        return {str(evidence["cause"]) for evidence in runs if evidence.get("cause")}
    if incident["cause"] in _REASONS:
        return {incident["cause"]}
    if incident["confidence"] not in _SURE:
        return set()
    states = defaultdict(set)
    for candidate in incident["candidates"]:
        states[candidate["state"]].add(candidate["cause"])
    return states["measured"] or states["possible"] | states["rare"]


def _same_fault(truth: _Truth, incident: Mapping[str, Any], document: Document) -> bool:
    """Return whether the login fails for the true reason, where KA412 names one."""
    kinds = {root["evidence"].get("kind") for root in _roots(incident, document)} if incident["cause"] == "KA412" else set()
    return not kinds - {None} or bool(kinds & truth.faults)


def _roots(incident: Mapping[str, Any], document: Document) -> list[Mapping[str, Any]]:
    own = {*incident["findings"]}
    return [finding for finding in document["findings"] if finding["fingerprint"] in own and finding["code"] == incident["cause"]]


def _of_findings(truth: _Truth, document: Document) -> str:
    """Return what findings below HIGH say, which are in no incident."""
    failing = [finding for finding in document["findings"] if finding["status"] == "FAIL"]
    naming = [finding for finding in failing if finding["code"] in truth.names]
    if naming:
        return DECIDED if any(finding["confidence"] in _SURE for finding in naming) else SUSPECTED
    if any(finding["code"] in _OF_KINDS and finding["confidence"] in _SURE for finding in failing):
        return WRONG
    return SYMPTOM if any(finding["code"] in truth.effect for finding in failing) else SILENT


def pairs_of(names: Iterable[str], wanted: Collection[str] = tuple(INPUTS)) -> dict[str, Pair]:
    """Return recordings with some sets of inputs, by the names of both with a space between them."""
    pairs: dict[str, Pair] = {}
    for name in names:
        snapshot, previous = unpacked((CLUSTERS / f"{name}{SUFFIX}").read_bytes())
        for inputs, reduced in ((inputs, INPUTS[inputs]) for inputs in wanted):
            key = f"{name} {inputs}"
            before = None if previous is None else replace(reduced(previous), snapshot_id=f"{key}-previous")
            pairs[key] = replace(reduced(snapshot), snapshot_id=key), before
    return pairs


def judged(names: Iterable[str]) -> Verdicts:
    """Return the verdicts on recordings, each judged anew with each of the inputs in one pass of the engine."""
    pairs = pairs_of(names)
    found = documents(pairs, passing=False)
    return {
        name: {inputs: verdict(recordings()[name], found[f"{name} {inputs}"]) for inputs in INPUTS}
        for name in dict.fromkeys(key.partition(" ")[0] for key in pairs)
    }


def of_causes() -> tuple[str, ...]:
    """Return the recordings of clusters that a cause broke, in the order of causes."""
    order = [fault.name for fault in known_faults()]
    recorded = [
        recording
        for recording in recordings().values()
        if recording.broken_by and (CLUSTERS / f"{recording.name}{SUFFIX}").is_file()
    ]
    return tuple(
        case.name
        for case in sorted(recorded, key=lambda recording: (order.index(recording.broken_by[0]), recording.mode != "ZooKeeper"))
    )


_HEAD = """## Causes of a broken edge

Each cause below broke a real cluster, with ZooKeeper and in KRaft where it exists there. An audit of each was recorded
(`make recordings`), and `python -m testbed.corpus docs` judges the recordings anew: with all inputs; without the vantages on
brokers' hosts; without logs; without vantages, logs and files (a cluster file with addresses and a login alone); and with
Metadata alone (the auditor has no right; ZooKeeper's registry, which needs none, is read).

*decided*: measured or inferred, and true. *suspected*: named first, with the rivals that are not ruled out. *undecided*: among
the candidates. *symptom*: what follows from it is reported, without candidates. *silent*: nothing is reported. *wrong*: another
cause is measured or inferred, or the true one is called ruled out; a test keeps this at 0.
"""


def section(verdicts: Verdicts) -> str:
    """Return the section of the page: a row for each cause and mode, a column for each set of inputs, and the shares."""
    rows: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for name, found in verdicts.items():
        recording = recordings()[name]
        rows[recording.broken_by[0], recording.mode].append(found)
    decided = {inputs: _share(verdicts, inputs, {DECIDED}) for inputs in INPUTS}
    lines = [f"| Cause | Mode | {' | '.join(INPUTS)} |", f"|---|---|{'---|' * len(INPUTS)}"]
    for (cause, mode), clusters in rows.items():
        cells = [_cell(recording[inputs] for recording in clusters) for inputs in INPUTS]
        lines.append(f"| {_words(cause)} | {mode} | {' | '.join(cells)} |")
    lines.append(f"| **decided** | | {' | '.join(decided.values())} |")
    lines.append(f"| **true cause named** | | {' | '.join(_share(verdicts, inputs, NAMED) for inputs in INPUTS)} |")
    lines.append(f"| **wrong** | | {' | '.join(str(_count(verdicts, inputs, {WRONG})) for inputs in INPUTS)} |")
    figures = (
        f"{len({cause for cause, _ in rows})} causes, {len(verdicts)} clusters. What an input buys: the cause is decided in"
        f" {'; '.join(f'{share} {inputs}' for inputs, share in decided.items())}.\n"
    )
    missing = [f"- {_words(cause)} ({mode}): {why}" for (cause, mode), why in unrecorded().items()]
    return "\n".join([_HEAD, figures, *lines, "", "Not recorded:\n", *missing, ""])


def _words(cause: str) -> str:
    return cause.replace("_", " ")


def _cell(verdicts: Iterable[str]) -> str:
    counted = Counter(verdicts)
    if len(counted) == 1 and counted.total() == 1:
        return next(iter(counted))
    return ", ".join(f"{number} {name}" for name, number in counted.items())


def _share(verdicts: Verdicts, inputs: str, wanted: set[str] | frozenset[str]) -> str:
    return f"{_count(verdicts, inputs, wanted) / max(1, len(verdicts)):.0%}"


def _count(verdicts: Verdicts, inputs: str, wanted: set[str] | frozenset[str]) -> int:
    return sum(found[inputs] in wanted for found in verdicts.values())
