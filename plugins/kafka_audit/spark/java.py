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


def home(java: Path) -> Path:
    """Return the installation folder, without links."""
    return java.resolve().parents[1]


def release(java: Path) -> dict[str, str]:
    """Return the entries of its `release` file, such as JAVA_RUNTIME_VERSION and IMPLEMENTOR; empty if there is none."""
    try:
        text = (home(java) / "release").read_text(errors="replace")
    except OSError:
        return {}
    return dict(re.findall(r'^(\w+)="([^"\n]*)"', text, re.MULTILINE))


def major(java: Path) -> int | None:
    """Return its major version, None if unknown."""
    version = re.match(r"(?:1\.)?(\d+)", release(java).get("JAVA_VERSION", ""))
    return int(version[1]) if version else None
