"""The seed of tests that compare generated cases with Java's answers: the same in each run, so that a red test stays red.

`KAFKA_AUDIT_TEST_SEED=random make test` looks at other cases; a failure names their number.
"""

import os
import random

_ASKED = os.environ.get("KAFKA_AUDIT_TEST_SEED", "2026")
SEED = random.SystemRandom().randrange(1_000_000) if _ASKED == "random" else int(_ASKED)


def dice_of_seed():
    """Return random numbers that begin with the seed."""
    return random.Random(SEED)  # noqa: S311 -- no secret
