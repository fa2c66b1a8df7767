"""A Dockerfile of a broker: the image that it builds on, and the variables that it sets. Pure."""

import posixpath
import re
import shlex
from collections.abc import Iterator

from kafka_audit.configuration.files import commands, environment
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import Property

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+(.*)", re.DOTALL)
_FROM = re.compile(r"(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*", re.IGNORECASE)
_STARTS = frozenset({"CMD", "ENTRYPOINT"})


def is_dockerfile(path: str) -> bool:
    """Return whether a file is a Dockerfile by its name: `Dockerfile`, `Dockerfile.kafka`, `kafka.Dockerfile`."""
    parts = posixpath.basename(path).lower().split(".")
    return "dockerfile" in (parts[0], parts[-1])


def described_dockerfile(text: str) -> Described | None:
    """Return the broker that the image starts, None where it starts another program; what runs it may add variables."""
    image, variables, start = "", list[Property](), dict[str, Property]()
    stages: dict[str, tuple[str, list[Property], dict[str, Property]]] = {}
    for name, rest, line in _instructions(text):
        if name == "FROM" and (match := _FROM.fullmatch(rest)):
            image, variables, start = match[1], [], {}
            if (stage := stages.get(match[1])) is not None:
                image, variables, start = stage[0], [*stage[1]], {**stage[2]}
            if match[2]:
                stages[match[2]] = image, variables, start
        elif name == "ENV":
            variables += (Property(key, value, line) for key, value in _assigned(rest))
        elif name in _STARTS:
            start[name] = Property(name, rest, line)
    words = " ".join(start[name].value for name in ("ENTRYPOINT", "CMD") if name in start)
    how = commands.start_of(re.sub(r"[\[\]\",]", " ", words), next(iter(start.values()), Property("CMD", "", 1)))
    if how is None or not variables:
        return None
    return environment.described_broker(variables, image=image, elsewhere=Property("docker run", "", 1), start=how)


def _instructions(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the name, the rest and the first line of each instruction; a backslash joins lines, those with `#` are comments."""
    parts: list[str] = []
    began = 1
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue
        began = began if parts else number
        written = line.rstrip()
        parts.append(written.removesuffix("\\"))
        if not written.endswith("\\"):
            if match := _INSTRUCTION.fullmatch(" ".join(parts)):
                yield match[1].upper(), match[2].strip(), began
            parts = []


def _assigned(rest: str) -> Iterator[tuple[str, str]]:
    """Yield the variables of `ENV A=b C="d e"`, or of `ENV A b`."""
    first, _, value = rest.partition(" ")
    if "=" not in first:
        yield first, value.strip()
        return
    try:
        words = shlex.split(rest)
    except ValueError:  # a quote without its end
        return
    yield from ((name, value) for name, equals, value in (word.partition("=") for word in words) if equals)
