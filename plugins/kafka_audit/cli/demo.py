"""`kafka-audit demo`: its code and its cluster are the test bed's, which a clone of the repository has and a wheel has not."""

import sys
from collections.abc import Sequence
from pathlib import Path

from kafka_audit.model.errors import UsageError

REPOSITORY = Path(__file__).resolve().parents[3]
"""Root of the clone that this package runs from; any other folder where the package was installed."""


def demo_command(argv: Sequence[str]) -> int:
    """Run the demo with its own arguments and return its exit code.

    Raises:
        UsageError: this installation is no clone of the repository.
    """
    if not (REPOSITORY / "testbed" / "demo.py").is_file():
        msg = "the demo requires a clone of the repository, because the test bed is not installed; run `make demo` in a clone"
        raise UsageError(msg)
    if str(REPOSITORY) not in sys.path:
        sys.path.insert(0, str(REPOSITORY))
    from testbed import demo  # noqa: PLC0415 -- only a clone has it

    return demo.main(argv)
