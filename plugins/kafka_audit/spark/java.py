"""The Java that Spark's scripts start, and its version, read without starting it."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

OLDEST = 17  # Spark 4 runs on nothing older


def binary(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the path of `java`, with links; None if there is no executable file."""
    home = environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java", path=environ.get("PATH"))
    return Path(found) if found and os.access(found, os.X_OK) else None


def major(java: Path) -> int | None:
    """Return its major version by the file `release` of its installation, None if unknown."""
    try:
        text = (java.resolve().parents[1] / "release").read_text(errors="replace")
    except OSError:
        return None
    version = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.MULTILINE)
    return int(version[1]) if version else None
