"""Refuse what could be another file tomorrow: a requirement without hash, an image without digest, an action without commit.

`python .ci/pinned.py [FOLDER]` prints each such place and ends with 1. It needs nothing installed, for it
runs before anything is.
"""

import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
PINNED = re.compile(rf"{NAME}(?:\[[^\]]*\])?==[^\s;*]+(?:\s*;[^#]*?)?(?:\s+--hash=sha256:[0-9a-f]{{64}})+")
DIGEST = re.compile(r"\S+@sha256:[0-9a-f]{64}")
INSTALLS = re.compile(r"\b(?:pip|pipx|uv) (?:install|sync|add|tool|run)\b[^&|;]*")
HELD = re.compile(r"--require-hashes\b.*--(?:only-binary :all:|no-build-isolation)(?:\s|$)")
ACTION = re.compile(r"(?:- )?uses:\s*[\"']?([^\s\"']+)")
COMMIT = re.compile(r"\./\S+|[^\s@]+@[0-9a-f]{40}|docker://\S+@sha256:[0-9a-f]{64}")
MODULE = re.compile(r"\b(?:[\w-]+\.)+[a-z]+/[\w./-]+@[\w.-]+")
VERSION = re.compile(r"\S+@v\d+\.\d+\.\d+")
"""Of a Go module: Go compares it with its checksum database."""
OWN = re.compile(r"--no-deps --no-build-isolation --editable \.(?:\s|$)")
"""The project itself: no dependency is fetched, and none to build it with."""


def main(root: Path) -> int:
    """Print what is not pinned below `root`; return how many of that, 1 at most."""
    found = [*requirements(root), *installs(root), *images(root), *actions(root)]
    for line in found:
        print(line, file=sys.stderr)  # noqa: T201 -- a program's output
    return min(len(found), 1)


def requirements(root: Path) -> Iterator[str]:
    """Yield each line of a lock that is not a version with hashes, and each requirement that no lock holds."""
    folder = root / "requirements"
    wanted = {source: _lock(source) for source in sorted(folder.glob("*.in"))}
    if not wanted:
        yield f"{folder}: no *.in"
    for source, lock in wanted.items():
        if not lock.is_file():
            yield f"{lock.name}: missing, `make lock` writes it"
            continue
        lines = list(_lines(lock))
        for number, line in lines:
            if not PINNED.fullmatch(line):
                yield f"{lock.name}:{number}: not a version with its sha256: {line[:80]}"
        locked = {_name(line) for _, line in lines}
        for number, line in _lines(source):
            if not line.startswith("-c ") and _name(line) not in locked:
                yield f"{source.name}:{number}: not in {lock.name}, `make lock UPGRADE=` adds it: {line[:80]}"
    for lock in {*root.glob("requirements*.txt"), *folder.glob("*.txt")} - {*wanted.values()}:
        yield f"{lock.name}: no {lock.with_suffix('.in').name} says what it was made from"


def _lock(source: Path) -> Path:
    """Return what a file of requirements is locked in: users look for the one of the runtime at the top."""
    return source.parent.parent / "requirements.txt" if source.stem == "runtime" else source.with_suffix(".txt")


def installs(root: Path) -> Iterator[str]:
    """Yield each command that installs Python packages without comparing hashes, and each Go module that could change."""
    for file in (root / "Dockerfile", root / "Makefile", *sorted((root / ".ci").glob("*")), *_workflows(root)):
        if not file.is_file() or file.name == Path(__file__).name:
            continue
        for number, line in _lines(file):
            for command in INSTALLS.findall(line):
                if not HELD.search(command) and not OWN.search(command):
                    yield f"{file.name}:{number}: installs without --require-hashes: {command.strip()[:80]}"
            for module in MODULE.findall(line) if file.name != "Dockerfile" else ():
                if not VERSION.fullmatch(module):
                    yield f"{file.name}:{number}: Go module without an exact version: {module[:80]}"


def actions(root: Path) -> Iterator[str]:
    """Yield each action of a workflow that a tag or a branch alone names."""
    for file in _workflows(root):
        for number, line in _lines(file):
            if (match := ACTION.match(line)) and not COMMIT.fullmatch(match[1]):
                yield f"{file.name}:{number}: action without its commit: {match[1]}"


def _workflows(root: Path) -> list[Path]:
    return sorted((root / ".github" / "workflows").glob("*.y*ml"))


def images(root: Path) -> Iterator[str]:
    """Yield each image of the Dockerfile and of docker-compose.yaml that a tag alone names."""
    stages = set()
    for number, line in _lines(root / "Dockerfile"):
        if match := re.match(r"FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", line, re.IGNORECASE):
            if match[1] not in stages and not DIGEST.fullmatch(match[1]):
                yield f"Dockerfile:{number}: image without digest: {match[1]}"
            stages.add(match[2] or match[1])
        for image in re.findall(r"--(?:from=|mount=\S*\bfrom=)([^\s,]+)", line):
            if image not in stages and not DIGEST.fullmatch(image):
                yield f"Dockerfile:{number}: image without digest: {image}"
    compose = list(_lines(root / "docker-compose.yaml"))
    built = {after.removeprefix("image: ") for (_, line), (_, after) in pairwise(compose) if line == "build: ."}
    for number, line in compose:
        match = re.match(r"image:\s*(?:&\S+\s+)?[\"']?([^\s\"'#]+)", line)
        if match and match[1] not in built and not match[1].startswith("*") and not DIGEST.fullmatch(match[1]):
            yield f"docker-compose.yaml:{number}: image without digest: {match[1]}"


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield each logical line with its number: stripped, continued lines joined, comments and empty ones left out."""
    begun, first = "", 0
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        text = re.sub(r"(?:^|\s)#.*", "", line).strip()
        if not text:
            continue
        first = first if begun else number
        begun = f"{begun} {text}".strip()
        if begun.endswith("\\"):
            begun = begun[:-1].rstrip()
            continue
        yield first, begun
        begun = ""
    if begun:
        yield first, begun


def _name(requirement: str) -> str:
    """Return the name of a requirement as registries compare it; the whole of a line that begins with none."""
    match = re.match(NAME, requirement)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else requirement


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent))
