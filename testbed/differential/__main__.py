"""Compare `configuration.starts` with KafkaConfig: ``python -m testbed.differential --version 3.9.1 --seed 7``."""

import argparse
import random
import sys
from collections.abc import Sequence

from testbed.differential.compare import ROLES, Outcome, compare, configurations, definitions_file
from testbed.jars import COMPARED

_AGREEMENT, _WORDING, _ACCEPTED = 0.999, 0.99, 1 / 3
_TOLD = 12


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and compare; 1 where we agree less than promised."""
    parser = argparse.ArgumentParser(prog="python -m testbed.differential", description=__doc__)
    parser.add_argument("--version", action="append", choices=COMPARED, help="default: all")
    parser.add_argument("--cases", type=int, default=5000, help="configurations for each version and mode (default 5000)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000), help="default: random")
    parser.add_argument("--mode", choices=("zookeeper", "kraft"), help="default: both, if the version has both")
    parser.add_argument("--differences", type=int, default=_TOLD, help=f"how many to show (default {_TOLD})")
    parser.add_argument("--messages", action="store_true", help="count Kafka's messages by their first words")
    parser.add_argument("--define", action="store_true", help="write the definitions of each version instead")
    options = parser.parse_args(arguments)
    wrong = False
    for version in options.version or COMPARED:
        if options.define:
            definitions_file(version).write_text(compare(version, []).definitions, "utf-8")
            continue
        for mode in ROLES[version]:
            if options.mode in {None, mode}:
                outcome = compare(version, list(configurations(version, mode, options.cases, options.seed)))
                wrong |= _tell(f"{version} {mode}, seed {options.seed}", outcome, options.differences)
                shapes = outcome.said.most_common() if options.messages else []
                sys.stdout.writelines(f"  {count:6} {text}\n" for text, count in shapes)
    return int(wrong)


def _tell(title: str, outcome: Outcome, differences: int) -> bool:
    accepted = outcome.accepted / outcome.cases
    sys.stdout.write(
        f"{title}: {outcome.cases} configurations, {accepted:.1%} accepted by Kafka; verdicts agree in {outcome.agreement():.3%} "
        f"({len(outcome.verdicts)} differ); messages of {outcome.refused} refusals in {outcome.wording():.2%} "
        f"({len(outcome.messages)} differ, {outcome.reordered} more in order only)\n"
    )
    for difference in (*outcome.verdicts, *outcome.messages)[:differences]:
        sys.stdout.write(f"  Kafka: {difference.kafka}\n  ours:  {difference.ours}\n  of:    {difference.properties}\n")
    return outcome.agreement() < _AGREEMENT or outcome.wording() < _WORDING or accepted < _ACCEPTED


if __name__ == "__main__":
    sys.exit(main())
