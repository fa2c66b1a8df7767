"""What the record has of the remedies that checks print: executed commands, words that were carried out, or why neither. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_audit.checks import catalogue
from testbed.corpus.catalogue import VERSIONS, Fault, by_scenario, faults, unexecuted
from testbed.corpus.record import Result


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """What was done of the remedy of one check, in runs after which the cluster was healed.

    Attributes:
        commands: how many were executed as printed, by version.
        words: versions on which the words were carried out.
        scenario: file of the test that breaks and heals it on a real cluster; empty without one.
        why: the reason for not executing it; empty without one.
    """

    commands: Mapping[str, int]
    words: tuple[str, ...]
    scenario: str
    why: str

    @property
    def executed(self) -> bool:
        """Whether the record has a run in which it was executed."""
        return bool(self.commands or self.words)


def remedies(results: Iterable[Result]) -> dict[str, Remedy]:
    """Return the remedies of all checks, by code.

    Args:
        results: the newest result of each fault and version.
    """
    commands: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    words: dict[str, set[str]] = defaultdict(set)
    for result in results:
        if not result["healed"]:
            continue
        fault, version = faults()[result["id"]], result["version"]
        printed = [check_of(fault, command) for command in result["commands"]]
        for code in printed:
            commands[code][version] += 1
        carried_out = (fault.follows or fault.cause) if result["followed"] else ()
        for code in carried_out:
            words[code].add(version)
    return {
        code: Remedy(
            commands={version: commands[code][version] for version in VERSIONS if version in commands[code]},
            words=tuple(version for version in VERSIONS if version in words[code]),
            scenario=by_scenario().get(code, ""),
            why=unexecuted().get(code, ""),
        )
        for code in sorted(catalogue())
    }


def check_of(fault: Fault, command: str) -> str:
    """Return the code of the check that prints a command that the repair of a fault runs.

    Raises:
        LookupError: no step of the repair runs it.
    """
    for step in fault.heal:
        if step.do == "printed":
            part, again = str(step.arguments["command"]), str(step.arguments.get("again", "--execute"))
            if part in command or part.replace("--execute", again) in command:
                return str(step.arguments["code"])
    message = f"{fault.id}: no step of the repair prints {command}"
    raise LookupError(message)
