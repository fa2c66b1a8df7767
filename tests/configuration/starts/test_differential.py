"""Our rules against KafkaConfig itself; the whole run is ``python -m testbed.differential``."""

import random

import pytest

from testbed.differential.compare import compare, definitions_file
from testbed.differential.generate import ROLES, configurations

SEED = random.SystemRandom().randrange(1_000_000)
CASES = 300


@pytest.mark.parametrize("version", ROLES)
def test_we_say_what_kafka_says(version):
    cases = [one for mode in ROLES[version] for one in configurations(version, mode, CASES // len(ROLES[version]), SEED)]
    found = compare(version, cases)
    assert found.accepted > CASES / 3
    assert found.refused > CASES / 5
    # One in some ten thousand configurations holds what only Java's own hash tables decide.
    assert len(found.verdicts) <= 1, f"seed {SEED}: {found.verdicts[0]}"
    assert len(found.messages) <= 1, f"seed {SEED}: {found.messages[0]}"
    kept = definitions_file(version).read_text("utf-8")
    assert found.definitions == kept, f"python -m testbed.differential --define --version {version}"
