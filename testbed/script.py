"""Run a script of the test bed: ``script.py SECONDS FILE ARGUMENT…``. After SECONDS it prints where it hangs, and ends.

Run inside the worker host; imports nothing of the package, but the script may.
"""

import faulthandler
import runpy
import sys
from pathlib import Path


def main() -> None:
    """Run the script as if it had been started itself."""
    seconds, *sys.argv = sys.argv[1:]
    faulthandler.dump_traceback_later(float(seconds), exit=True)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
