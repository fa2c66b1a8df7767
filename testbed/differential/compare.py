"""Ask KafkaConfig and our rules about the same configurations, and return where they differ."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import kafka_audit.configuration.definitions
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.configuration.starts import start_refusal
from testbed.differential import faults
from testbed.differential.pieces import Draft
from testbed.jars import COMPARED
from testbed.oracle import ask

_FAULTLESS = 0.45  # share of configurations into which no fault is put
_KRAFT = ("broker", "controller", "combined")


def _roles(version: str) -> Mapping[str, Sequence[str]]:
    """Return the roles of a release by mode: KRaft came with 2.8, the migration with 3.4, and ZooKeeper went with 4.0."""
    at = version_numbers(version)
    migrating = ("zookeeper", "zookeeper", "migrating") if at >= (3, 4) else ()
    zookeeper = {"zookeeper": ("zookeeper", *migrating)} if at < (4,) else {}
    return zookeeper | ({"kraft": _KRAFT} if at >= (2, 8) else {})


ROLES: Mapping[str, Mapping[str, Sequence[str]]] = {version: _roles(version) for version in COMPARED}
"""By release and mode, what a configuration is for."""


def configurations(version: str, mode: str, count: int, seed: int) -> Iterator[dict[str, str]]:
    """Yield configurations for a release; the same ones for the same seed.

    Args:
        version: a judged release.
        mode: one of the release's modes in `ROLES`.
        count: how many.
        seed: of the dice.
    """
    dice = random.Random(f"{version} {mode} {seed}")  # noqa: S311 -- no secret
    for _ in range(count):
        draft = Draft(dice, version, dice.choice(ROLES[version][mode]))
        draft.write()
        if dice.random() > _FAULTLESS:
            for _ in range(dice.choice((1, 1, 1, 2, 3))):
                faults.put_in(draft)
        yield draft.properties


_ORACLE = "KafkaConfigOracle"
_PARTS = re.compile(r"[^\s,()\[\]]+")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One configuration that Kafka and our rules judge differently; None for "accepted"."""

    properties: Mapping[str, str]
    kafka: str | None
    ours: str | None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How far we agree, and the definitions of the release, as Kafka reports them now.

    `reordered` counts messages that list the same things in another order; `said` Kafka's messages by their beginnings.
    """

    cases: int
    accepted: int
    verdicts: tuple[Difference, ...]
    messages: tuple[Difference, ...]
    reordered: int
    said: Counter[str]
    definitions: str

    @property
    def refused(self) -> int:
        """How many Kafka refused."""
        return self.cases - self.accepted

    def agreement(self) -> float:
        """Return the share of equal verdicts."""
        return 1 - len(self.verdicts) / max(1, self.cases)

    def wording(self) -> float:
        """Return the share of Kafka's refusals for which we have Kafka's message, the order of lists aside."""
        wrong = len(self.messages) + sum(verdict.kafka is not None for verdict in self.verdicts)
        return 1 - wrong / max(1, self.refused)


def compare(version: str, cases: Sequence[Mapping[str, str]]) -> Outcome:
    """Judge configurations by a release's KafkaConfig and by our rules."""
    verdicts, messages, reordered, accepted = [], [], 0, 0
    refusals: Counter[str] = Counter()
    answers = ask(_ORACLE, version, cases)
    count = len(answers) - len(cases)
    for properties, kafka in zip(cases, answers[count:], strict=True):
        found = start_refusal(properties, version)
        ours = found.message if found else None
        accepted += kafka is None
        refusals[shape(kafka)] += kafka is not None
        if kafka == ours:
            continue
        difference = Difference(properties=properties, kafka=kafka, ours=ours)
        if kafka is None or ours is None:
            verdicts.append(difference)
        elif sorted(_PARTS.findall(kafka)) == sorted(_PARTS.findall(ours)):
            reordered += 1
        else:
            messages.append(difference)
    return Outcome(
        cases=len(cases),
        accepted=accepted,
        verdicts=tuple(verdicts),
        messages=tuple(messages),
        reordered=reordered,
        said=+refusals,
        definitions=_definitions(answers[:count]),
    )


def shape(message: str | None) -> str:
    """Return the beginning of a message without its values, to count by."""
    return re.sub(r"'[^']*'|[0-9]+|\[[^\]]*\]", "…", message or "")[:70]


def _definitions(rows: Sequence[object]) -> str:
    lines = (json.dumps(answer, ensure_ascii=False, separators=(",", ":")) for answer in rows)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def definitions_file(version: str) -> Path:
    """Return where a release's definitions are kept."""
    return Path(kafka_audit.configuration.definitions.__file__).with_name(f"kafka-{version}.json")
