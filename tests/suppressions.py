"""How often rules and types are switched off, and tests are expected to fail. All may only get fewer."""

import io
import json
import re
import tokenize
from collections import Counter

from airflow_environment import ROOT

FILE = ROOT / "tests" / "packaging" / "suppressions.json"
FOLDERS = ("plugins", "dags", "spark_jobs", "testbed", "tests", "benchmarks", "docs", ".ci")
KINDS = {
    "noqa": re.compile(r"#\s*noqa\b"),
    "type: ignore": re.compile(r"#\s*type:\s*ignore\b"),
    "xfail": re.compile(r"\bxfail\b"),
}


def counted(source: str) -> Counter[str]:
    """Return how many suppressions a module has: comments of a kind, and names such as `pytest.mark.xfail`; no text of it."""
    found: Counter[str] = Counter()
    if not any(pattern.search(source) for pattern in KINDS.values()):
        return found  # most modules: to take a thousand of them apart needs seconds
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in {tokenize.COMMENT, tokenize.NAME}:
            found.update(kind for kind, pattern in KINDS.items() if pattern.search(token.string))
    return found


def of_repository() -> dict[str, int]:
    """Return the numbers of all modules."""
    paths = [ROOT / "setup.py", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    found = sum((counted(path.read_text(encoding="utf-8")) for path in paths), Counter[str]())
    return {kind: found[kind] for kind in KINDS}


def allowed() -> dict[str, int]:
    """Return the numbers that may not be exceeded."""
    numbers: dict[str, int] = json.loads(FILE.read_text(encoding="utf-8"))
    return numbers


def lowered() -> str:
    """Return the content of the file with the numbers of now, where they are lower."""
    now = of_repository()
    return json.dumps({kind: min(now[kind], number) for kind, number in allowed().items()}, indent=2) + "\n"
