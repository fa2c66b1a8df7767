"""Hold our principals against Kafka's own builder of them: ``python -m testbed.principals --seed 7``."""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_audit.collect.probes.certificates import java_name
from kafka_audit.configuration import principals
from kafka_audit.configuration.principals import MappingError, RulesError, UnsupportedError
from testbed.oracle import ask
from testbed.principal_cases import REALM, Case, cases

VERSIONS = ("3.9.1", "4.3.0")
_TOLD = 10


def ours(case: Case) -> dict[str, object] | None:
    """Return our answer in the shape of the oracle's, None where we know none."""
    try:
        principals.ssl_rules(case.ssl)
        principals.kerberos_rules(case.kerberos)
        return {"names": [_name(case, *peer) for peer in case.peers]}
    except RulesError as refused:
        return {"refused": str(refused)}
    except UnsupportedError:
        return None


def _name(case: Case, kind: str, who: bytes | str | None) -> str:
    if who is None:
        return principals.ANONYMOUS
    try:
        if isinstance(who, bytes):
            return principals.of_certificate(java_name(who), case.ssl)
        return principals.of_login(kind, who, case.kerberos, REALM)
    except MappingError as failed:
        return f"failed: {failed}"


def agree(mine: dict[str, object], theirs: dict[str, object]) -> bool:
    """Compare; of what java.util.regex refuses only the words, for it tells the place in lines of its own."""
    if "refused" in mine and "refused" in theirs:
        words, _, pattern = str(theirs["refused"]).partition("\n")
        return mine == theirs or (bool(pattern) and str(mine["refused"]).startswith(words.partition(" near index ")[0]))
    return mine == theirs


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How far we agree with one version."""

    cases: int
    unknown: int
    refused: int
    names: int
    failed: int
    differences: tuple[str, ...]


def compare(version: str, asked: Sequence[Case]) -> Outcome:
    """Ask one version of Kafka and ourselves about every case."""
    oracle_answers, mine = (
        ask("PrincipalOracle", version, [question.asked() for question in asked]),
        [ours(question) for question in asked],
    )
    differences = [
        f"{case.asked()}: ours {answer}, Kafka {theirs}"
        for case, answer, theirs in zip(asked, mine, oracle_answers, strict=True)
        if answer is not None and not agree(answer, theirs)
    ]
    names = [name for answer in oracle_answers for name in answer.get("names", ())]
    return Outcome(
        cases=len(asked),
        unknown=mine.count(None),
        refused=sum("refused" in answer for answer in oracle_answers),
        names=len(names),
        failed=sum(name.startswith("failed: ") for name in names),
        differences=tuple(differences),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(prog="python -m testbed.principals", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000), help="default: another each time")
    parser.add_argument("--cases", type=int, default=10_000, help="sets of rules, five names each (default 10000)")
    options = parser.parse_args(arguments)
    asked, worst = list(cases(options.seed, options.cases)), 0
    for version in VERSIONS:
        found = compare(version, asked)
        worst |= bool(found.differences)
        rules = f"{found.cases} sets of rules, {found.refused} refused, {found.unknown} not known here"
        names = f"{found.names} principals, {found.failed} failed, {len(found.differences)} sets differ"
        sys.stdout.write(f"{version}, seed {options.seed}: {rules}, {names}\n")
        sys.stdout.writelines(f"  {difference}\n" for difference in found.differences[:_TOLD])
    return worst


if __name__ == "__main__":
    sys.exit(main())
