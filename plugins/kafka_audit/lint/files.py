"""`lint` from arguments to what is said of each broker's file."""

import contextlib
import os
import pickle
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from kafka_audit.bounds import child_process
from kafka_audit.bounds.child_process import ChildError, ChildSlowError
from kafka_audit.checks import Check
from kafka_audit.lint import judging, members, reading
from kafka_audit.lint.judging import Rules
from kafka_audit.lint.members import Group, Member
from kafka_audit.lint.reading import LintTarget, Source
from kafka_audit.model.errors import AuditError, UsageError
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.linted import Linted

SECONDS = 20.0
"""That reading a file, or judging the files of a cluster, may take, and a third of what each of the two may take for all files.

Rendered charts of 2 MB take 5 on a busy machine.
"""

SECONDS_A_FILE = 0.05
"""What each file adds: those of one cluster are judged together. 1,000 brokers take 3 s, each of them 3 ms."""

MEGABYTES = 512
"""Of memory for the largest file, and of what is kept of all; each file adds one."""

_LEAST_SECONDS, _SHARE = 0.01, 3
_K = TypeVar("_K")
_T = TypeVar("_T")
_Ordered = tuple[tuple[int, int], Linted]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What was found, in the order of the arguments, and a line for each file that could not be read."""

    files: tuple[Linted, ...]
    errors: tuple[str, ...]

    def fails(self, least: Severity) -> bool:
        """Return whether there is an unmuted failure of a severity or above."""
        findings = (linted.finding for file in self.files for linted in file.linted_findings)
        return any(finding.status is Status.FAIL and not finding.muted and finding.severity >= least for finding in findings)


def lint_files(arguments: Sequence[str], rules: Rules) -> Outcome:
    """Judge the files that arguments mean: each is read once, within its time, and all of them within theirs.

    Raises:
        UsageError: an argument means no file at all, or the files are too many to be compared.
    """
    targets = reading.lint_targets(arguments)
    read, errors = _read(targets, rules)
    judge, turns = _Judge(read, rules), _Turns(len(targets))
    ((_, clusters),) = turns.each({"": judge.clusters})
    if isinstance(clusters, AuditError):
        msg = f"to find the files of each cluster {clusters}; lint those of each cluster in a call of its own"
        raise UsageError(msg)
    found: list[_Ordered] = []
    failed: list[tuple[int, AuditError]] = []
    smallest_first = sorted(range(len(clusters)), key=lambda place: judge.size(clusters[place]))
    for place, judged in turns.each({place: partial(judge.judged, clusters[place]) for place in smallest_first}):
        if isinstance(judged, AuditError):
            failed.append((place, judged))
        else:
            found += judged
    for place, error in sorted(failed, key=lambda pair: pair[0]):
        rest, refused = _without_culprits(judge, turns, clusters[place], error)
        found += rest
        errors |= refused
    lines = tuple(errors[target.path] for target in targets if target.path in errors)
    return Outcome(files=tuple(file for _, file in sorted(found, key=lambda pair: pair[0])), errors=lines)


class _Turns:
    """Runs what is done with files in child processes, in turn, within a time that they share.

    Once one did not end, none may take more than a third of what is left, so that however many do not, the others have some.
    """

    def __init__(self, files: int) -> None:
        self._usual, self._megabytes = SECONDS + SECONDS_A_FILE * files, MEGABYTES + files
        self._left, self._share = _SHARE * self._usual, 1

    def each(self, functions: Mapping[_K, Callable[[], _T]]) -> Iterator[tuple[_K, _T | AuditError]]:
        """Yield each name, and what its function returned, or why it did not."""
        waiting = dict(functions)
        possible = child_process.is_possible()
        turns = child_process.run_each_in_child(functions, self._limit, self._megabytes) if possible else functions.items()
        for name, outcome in turns:
            del waiting[name]
            try:
                became: _T | AuditError = outcome()
            except AuditError as error:
                became = error
            if possible:
                slow = isinstance(became, ChildSlowError)
                self._left -= self._given if slow else time.monotonic() - self._began
                self._share = _SHARE if isinstance(became, ChildError) else self._share
            yield name, became
            if self._left < _LEAST_SECONDS:
                break
        for name in waiting:
            yield name, ChildError("did not begin: other files took the time of all")

    def _limit(self) -> float:
        self._given, self._began = min(self._usual, self._left / self._share), time.monotonic()
        return self._given


def _read(targets: Sequence[LintTarget], rules: Rules) -> tuple[Mapping[int, bytes], dict[str, str]]:
    """Return the files that describe brokers, pickled, by their place, and by path a line for each that could not be read.

    The smallest are read first: what takes the time of all is seldom small.
    """
    read: dict[int, bytes] = {}
    errors: dict[str, str] = {}
    included: set[str] = set()
    room = (MEGABYTES + len(targets)) << 20
    smallest_first = sorted(range(len(targets)), key=lambda place: targets[place].size)
    turns = _Turns(len(targets)).each({place: partial(_pickled, targets[place], rules) for place in smallest_first})
    for place, found in turns:
        path = targets[place].path
        if isinstance(found, AuditError):
            errors[path] = f"{path}: the check {found}" if isinstance(found, ChildError) else str(found)
        elif found is not None and len(found[0]) > room:
            errors[path] = f"{path}: there is no memory for it beside the other files; lint it in a call of its own"
        elif found is not None:
            room -= len(found[0])
            read[place] = found[0]
            included.update(found[1])
    return dict(sorted(read.items())), {path: line for path, line in errors.items() if os.path.normpath(path) not in included}


def _pickled(target: LintTarget, rules: Rules) -> tuple[bytes, tuple[str, ...]] | None:
    """Return what a file describes, and which files it includes."""
    source = reading.read_lint_target(target, rules.checks, on_host=rules.on_host)
    return None if source is None else (pickle.dumps(source), source.includes)


@dataclass(frozen=True, kw_only=True)
class _Node:
    """A member of a cluster, as it can be sent: its file and its broker by their places."""

    file: int
    broker: int
    path: str
    broker_id: int
    same_id_in: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _ClusterNodes:
    """The nodes of a cluster, and those that may be of it but for their chroot."""

    nodes: tuple[_Node, ...]
    others: tuple[_Node, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node.path for node in self.nodes))


class _Judge:
    """Judges what was read. Only child processes unpickle it: each one what it judges, once."""

    def __init__(self, read: Mapping[int, bytes], rules: Rules) -> None:
        self._read, self._rules = read, rules
        self._sources: dict[int, Source] = {}

    def size(self, cluster: _ClusterNodes) -> int:
        """Return how large the files of a cluster are."""
        return sum(len(self._read[file]) for file in {node.file for node in cluster.nodes})

    def clusters(self) -> list[_ClusterNodes]:
        """Return which brokers of all files are of one cluster."""
        included = {path for file in self._read for path in self._source(file).includes}
        read = [file for file in self._read if os.path.normpath(self._source(file).path) not in included]
        places = {id(broker): (file, at) for file in read for at, broker in enumerate(self._source(file).brokers)}

        def nodes(group: Group) -> tuple[_Node, ...]:
            held = ((member, *places[id(member.broker)]) for member in group)
            return tuple(
                _Node(file=file, broker=at, path=member.source.path, broker_id=member.broker_id, same_id_in=member.same_id_in)
                for member, file, at in held
            )

        groups = members.cluster_groups(map(self._source, read))
        others = members.of_the_same_ensemble(groups)
        return [_ClusterNodes(nodes=nodes(group), others=nodes(others.get(place, ()))) for place, group in enumerate(groups)]

    def judged(self, cluster: _ClusterNodes, left_out: Collection[str] = ()) -> list[_Ordered]:
        """Return what is found in the files of a cluster, by their order; some of its files may be left out."""
        kept = [node for node in cluster.nodes if node.path not in left_out]
        group, others = (tuple(map(self._member, nodes)) for nodes in (kept, cluster.others))
        found = judging.linted(group, self._rules, others)
        return [((node.file, node.broker), file) for node, (_, file) in zip(kept, found, strict=True)]

    def _member(self, node: _Node) -> Member:
        source = self._source(node.file)
        return Member(source=source, broker=source.brokers[node.broker], broker_id=node.broker_id, same_id_in=node.same_id_in)

    def _source(self, file: int) -> Source:
        if file not in self._sources:
            self._sources[file] = child_process.unpickled(self._read[file])
        return self._sources[file]


def _without_culprits(
    judge: _Judge, turns: _Turns, cluster: _ClusterNodes, error: AuditError
) -> tuple[list[_Ordered], dict[str, str]]:
    """Return what is found in a cluster without the files for which judging does not even finish alone, and a line for each."""
    paths = cluster.paths
    alone = {path: partial(judge.judged, cluster, {*paths} - {path}) for path in paths if len(paths) > 1}
    culprits = [path for path, judged in turns.each(alone) if isinstance(judged, AuditError)]
    refused = {path: f"{path}: the check {error}" for path in culprits or paths[: len(paths) == 1]}
    if len(refused) == len(paths):
        return [], refused
    if culprits:
        ((_, rest),) = turns.each({"": partial(judge.judged, cluster, culprits)})
        if not isinstance(rest, AuditError):
            return rest, refused
        error = rest
    together = f"the check with {len(paths) - len(culprits) - 1} other files of its cluster {error}"
    return [], refused | {path: f"{path}: {together}" for path in paths if path not in culprits}


def serving(arguments: Sequence[str], checks: Mapping[str, Check]) -> tuple[Member, ...]:
    """Return the brokers of the files that arguments mean; files that cannot be read are left out.

    Raises:
        UsageError: an argument means no file at all.
    """
    return tuple(member for member in members_of(arguments, checks) if member.serves)


def members_of(arguments: Sequence[str], checks: Mapping[str, Check]) -> tuple[Member, ...]:
    """Return the same, and controllers that are no brokers; raises the same."""
    sources = []
    for target in reading.lint_targets(arguments):
        with contextlib.suppress(UsageError):
            sources.append(reading.read_lint_target(target, checks))
    return tuple(member for group in members.cluster_groups(filter(None, sources)) for member in group)
