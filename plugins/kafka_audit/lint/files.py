"""`lint` from arguments to what is said of each broker's file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.checks import Check
from kafka_audit.lint import judging, members, reading
from kafka_audit.lint.judging import Rules
from kafka_audit.lint.members import Member
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.linted import Linted


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What was found, in the order of the arguments, and a line for each file that could not be read."""

    files: tuple[Linted, ...]
    errors: tuple[str, ...]

    def fails(self, least: Severity) -> bool:
        """Tell whether there is an unmuted failure of a severity or above."""
        findings = (told.finding for file in self.files for told in file.told)
        return any(one.status is Status.FAIL and not one.muted and one.severity >= least for one in findings)


def lint(arguments: Sequence[str], rules: Rules) -> Outcome:
    """Judge the files that arguments mean.

    Raises:
        UsageError: an argument means no file at all.
    """
    sources, errors = reading.read(reading.targets(arguments), rules.checks)
    order = {id(broker): number for number, broker in enumerate(broker for source in sources for broker in source.brokers)}
    found = [(order[id(member.broker)], one) for group in members.groups(sources) for member, one in judging.linted(group, rules)]
    return Outcome(files=tuple(one for _, one in sorted(found, key=lambda pair: pair[0])), errors=tuple(errors))


def serving(arguments: Sequence[str], checks: Mapping[str, Check]) -> tuple[Member, ...]:
    """Return the brokers of the files that arguments mean; files that cannot be read are left out.

    Raises:
        UsageError: an argument means no file at all.
    """
    sources, _ = reading.read(reading.targets(arguments), checks)
    return tuple(member for group in members.groups(sources) for member in group if member.serves)
