"""A Dockerfile of a broker: the image that it builds on, and the variables that it sets. Pure."""

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kafka_audit.configuration.files import commands, environment
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import Property

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+(.*)", re.DOTALL)
_FROM = re.compile(r"(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*", re.IGNORECASE)
_STARTS, _FILES = frozenset({"CMD", "ENTRYPOINT"}), frozenset({"COPY", "ADD", "RUN"})
_OF_KAFKA = re.compile(r"\.properties|/config\b|/docker\b|\.sh\b")
_ARGUMENT = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::?-[^}]*)?\}|([A-Za-z_]\w*))")


def is_dockerfile(path: str) -> bool:
    """Return whether a file is a Dockerfile by its name: `Dockerfile`, `Dockerfile.kafka`, `kafka.Dockerfile`."""
    parts = posixpath.basename(path).lower().split(".")
    return "dockerfile" in (parts[0], parts[-1])


@dataclass(frozen=True, kw_only=True)
class Built:
    """What a Dockerfile makes: the image below it, its variables, what it starts, and whether it changes files of Kafka."""

    image: str = ""
    variables: tuple[Property, ...] = ()
    start: Mapping[str, Property] = field(default_factory=dict)
    changed: bool = False

    @property
    def words(self) -> str:
        """The words of what it starts, "" where the image below decides."""
        given = " ".join(self.start[name].value for name in ("ENTRYPOINT", "CMD") if name in self.start)
        return re.sub(r"[\[\]\",]", " ", given)


def built(text: str, arguments: Mapping[str, str] = MappingProxyType({})) -> Built:
    """Return the last stage of a Dockerfile; `arguments` replace the defaults of its `ARG`."""
    stage, stages, known, own = Built(), dict[str, Built](), dict[str, str](), ""
    for name, rest, line in _instructions(text):
        if name == "FROM" and (match := _FROM.fullmatch(_ARGUMENT.sub(lambda one: known.get(one[1] or one[2], one[0]), rest))):
            stage = stages.get(match[1], Built(image=match[1]))
            own = match[2] or ""
        elif name == "ARG":
            key, _, default = rest.partition("=")
            known[key] = arguments.get(key, default.strip("\"'")) or "${" + key + "}"
        elif name == "ENV":
            stage = replace(stage, variables=(*stage.variables, *(Property(key, value, line) for key, value in _assigned(rest))))
        elif name in _STARTS:
            stage = replace(stage, start={**stage.start, name: Property(name, rest, line)})
        elif name in _FILES and _OF_KAFKA.search(rest):
            stage = replace(stage, changed=True)
        stages[own] = stage
    return stage


def described_dockerfile(text: str) -> Described | None:
    """Return the broker that the image starts, None where it starts another program; what runs it may add variables."""
    made = built(text)
    how = commands.start_of(made.words, next(iter(made.start.values()), Property("CMD", "", 1)))
    if how is None or not made.variables:
        return None
    return environment.described_broker(made.variables, image=made.image, elsewhere=Property("docker run", "", 1), start=how)


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
