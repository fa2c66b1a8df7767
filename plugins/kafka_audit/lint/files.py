"""`lint` from arguments to what is said of each broker's file."""

import contextlib
import pickle
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

from kafka_audit.bounds import child_process
from kafka_audit.bounds.child_process import ChildError, ChildSlowError
from kafka_audit.checks import Check
from kafka_audit.lint import judging, members, reading
from kafka_audit.lint.judging import Rules
from kafka_audit.lint.members import Group, Member
from kafka_audit.lint.reading import LintTarget
from kafka_audit.model.errors import AuditError, UsageError
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.linted import Linted

SECONDS = 20.0
"""That reading a file, or judging the files of a cluster, may take, and half of what each of the two may take for all files.

Rendered charts of 2 MB take 5 on a busy machine.
"""

SECONDS_A_FILE = 0.05
"""What each file adds: those of one cluster are judged together. 1,000 brokers take 3 s, each of them 3 ms."""

MEGABYTES = 512
"""Of memory for the largest file, and of what is kept of all; each file adds one."""

_LEAST_SECONDS = 0.01
_K = TypeVar("_K")
_T = TypeVar("_T")


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
    ((_, groups),) = turns.each({"": judge.paths})
    if isinstance(groups, AuditError):
        msg = f"to find the files of each cluster {groups}; lint those of each cluster in a call of its own"
        raise UsageError(msg)
    found: list[tuple[int, Linted]] = []
    failed: dict[int, AuditError] = {}
    for place, judged in turns.each({place: partial(judge.judged, place) for place in range(len(groups))}):
        if isinstance(judged, AuditError):
            failed[place] = judged
        else:
            found += judged
    for place, error in failed.items():
        rest, refused = _without_culprits(judge, turns, place, groups[place], error)
        found += rest
        errors += refused
    return Outcome(files=tuple(file for _, file in sorted(found, key=lambda pair: pair[0])), errors=tuple(errors))


class _Turns:
    """Runs what is done with files in child processes, in turn, within a time that they share.

    What did not end leaves half of the time to the others, however many do not.
    """

    def __init__(self, files: int) -> None:
        self._usual, self._megabytes = SECONDS + SECONDS_A_FILE * files, MEGABYTES + files
        self._left = 2 * self._usual

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
            yield name, became
            if self._left < _LEAST_SECONDS:
                break
        for name in waiting:
            yield name, ChildError("did not begin: other files took the time of all")

    def _limit(self) -> float:
        self._given, self._began = min(self._usual, self._left / 2), time.monotonic()
        return self._given


def _read(targets: Sequence[LintTarget], rules: Rules) -> tuple[list[bytes], list[str]]:
    """Return the files that describe brokers, pickled, and a line for each that could not be read."""
    read, errors, room = [], [], (MEGABYTES + len(targets)) << 20
    for path, found in _Turns(len(targets)).each({target.path: partial(_pickled, target, rules) for target in targets}):
        if isinstance(found, AuditError):
            errors.append(f"{path}: the check {found}" if isinstance(found, ChildError) else str(found))
        elif found is not None and len(found) > room:
            errors.append(f"{path}: there is no memory for it beside the files before it; lint it in a call of its own")
        elif found is not None:
            room -= len(found)
            read.append(found)
    return read, errors


def _pickled(target: LintTarget, rules: Rules) -> bytes | None:
    source = reading.read_lint_target(target, rules.checks, on_host=rules.on_host)
    return None if source is None else pickle.dumps(source)


class _Judge:
    """Judges what was read. Only child processes unpickle it, each one once."""

    def __init__(self, read: Sequence[bytes], rules: Rules) -> None:
        self._read, self._rules = read, rules

    @cached_property
    def _groups(self) -> tuple[Sequence[Group], Mapping[int, Group], Mapping[int, int]]:
        """The brokers of each cluster, nodes with another chroot by place of a cluster, and the order of all."""
        sources = [child_process.unpickled(data) for data in self._read]
        order = {id(broker): number for number, broker in enumerate(broker for source in sources for broker in source.brokers)}
        groups = members.cluster_groups(sources)
        return groups, members.of_the_same_ensemble(groups), order

    def paths(self) -> list[tuple[str, ...]]:
        """Return the files of each cluster."""
        return [tuple(dict.fromkeys(member.source.path for member in group)) for group in self._groups[0]]

    def judged(self, place: int, left_out: Collection[str] = ()) -> list[tuple[int, Linted]]:
        """Return what is found in the files of a cluster, by their order; some of its files may be left out."""
        groups, others, order = self._groups
        group = tuple(member for member in groups[place] if member.source.path not in left_out)
        return [(order[id(member.broker)], file) for member, file in judging.linted(group, self._rules, others.get(place, ()))]


def _without_culprits(
    judge: _Judge, turns: _Turns, place: int, paths: tuple[str, ...], error: AuditError
) -> tuple[list[tuple[int, Linted]], list[str]]:
    """Return what is found in a cluster without the files for which judging does not even finish alone, and a line for each."""
    alone = {path: partial(judge.judged, place, {*paths} - {path}) for path in paths if len(paths) > 1}
    culprits = [path for path, judged in turns.each(alone) if isinstance(judged, AuditError)]
    refused = [f"{path}: the check {error}" for path in culprits or paths[: len(paths) == 1]]
    if len(refused) == len(paths):
        return [], refused
    if culprits:
        ((_, rest),) = turns.each({place: partial(judge.judged, place, culprits)})
        if not isinstance(rest, AuditError):
            return rest, refused
        error = rest
    together = f"the check with {len(paths) - len(culprits) - 1} other files of its cluster {error}"
    return [], [*refused, *(f"{path}: {together}" for path in paths if path not in culprits)]


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
