"""`lint` from arguments to what is said of each broker's file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kafka_audit.bounds import child_process
from kafka_audit.bounds.child_process import ChildError
from kafka_audit.checks import Check
from kafka_audit.lint import judging, members, reading
from kafka_audit.lint.judging import Rules
from kafka_audit.lint.members import Member
from kafka_audit.lint.reading import LintTarget
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.linted import Linted

SECONDS = 20.0
"""That reading a file, or judging the files of a cluster, may take. Rendered charts of 2 MB take 5 on a busy machine."""

SECONDS_A_FILE = 0.05
"""What each file adds: those of one cluster are judged together. 1,000 brokers take 3 s, each of them 3 ms."""

MEGABYTES = 512
"""Of memory for the largest file; each file adds one."""


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
    """Judge the files that arguments mean, each within its time.

    Raises:
        UsageError: an argument means no file at all.
    """
    wanted = reading.lint_targets(arguments)
    if not child_process.is_possible():
        return _linted(wanted, rules, lambda _: None)
    refused: dict[str, str] = {}
    while True:
        left = [target for target in wanted if target.path not in refused]
        try:
            outcome = _apart(left, rules)
        except ChildError as error:
            refused |= _culprits(error, left, rules)
        else:
            return replace(outcome, errors=(*(f"{path}: {why}" for path, why in refused.items()), *outcome.errors))


def _apart(targets: Sequence[LintTarget], rules: Rules) -> Outcome:
    seconds = SECONDS + SECONDS_A_FILE * len(targets)
    return child_process.run_in_child(partial(_linted, targets, rules), seconds=seconds, megabytes=MEGABYTES + len(targets))


def _culprits(error: ChildError, targets: Sequence[LintTarget], rules: Rules) -> dict[str, str]:
    """Return the files for which judging did not finish, with the reason: of those judged together, the ones that do so alone."""
    if not isinstance(error.at, tuple):
        raise error
    if len(error.at) == 1:
        return {error.at[0]: f"the check {error}"}
    found = {}
    for target in targets:
        if target.path in error.at:
            try:
                _apart([target], rules)
            except ChildError as alone:
                found[target.path] = f"the check {alone}"
    return found or dict.fromkeys(error.at, f"the check with {len(error.at) - 1} other files of its cluster {error}")


def _linted(targets: Sequence[LintTarget], rules: Rules, note: Callable[[tuple[str, ...]], None]) -> Outcome:
    """Judge files; `note` gets the paths of those that come next."""
    sources, errors = reading.read_lint_targets(targets, rules.checks, note, on_host=rules.on_host)
    order = {id(broker): number for number, broker in enumerate(broker for source in sources for broker in source.brokers)}
    found = []
    groups = members.cluster_groups(sources)
    others = members.of_the_same_ensemble(groups)
    for place, group in enumerate(groups):
        note(tuple(dict.fromkeys(member.source.path for member in group)))
        for member, linted_file in judging.linted(group, rules, others.get(place, ())):
            found.append((order[id(member.broker)], linted_file))
    return Outcome(files=tuple(linted_file for _, linted_file in sorted(found, key=lambda pair: pair[0])), errors=tuple(errors))


def serving(arguments: Sequence[str], checks: Mapping[str, Check]) -> tuple[Member, ...]:
    """Return the brokers of the files that arguments mean; files that cannot be read are left out.

    Raises:
        UsageError: an argument means no file at all.
    """
    return tuple(member for member in members_of(arguments, checks) if member.serves)


def members_of(arguments: Sequence[str], checks: Mapping[str, Check]) -> tuple[Member, ...]:
    """Return the same, and controllers that are no brokers; raises the same."""
    sources, _ = reading.read_lint_targets(reading.lint_targets(arguments), checks)
    return tuple(member for group in members.cluster_groups(sources) for member in group)
