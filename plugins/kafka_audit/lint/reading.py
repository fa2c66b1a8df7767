"""Which files are meant, and what is in them: with `stores`, the only place of `lint` that reads files."""

import glob
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kafka_audit.bounds import regular_files
from kafka_audit.bounds.regular_files import FileRefusedError, FileTooLargeError
from kafka_audit.checks import Check
from kafka_audit.configuration.files import forms
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import PropertiesError
from kafka_audit.lint import ignores, stores
from kafka_audit.lint.ignores import Ignore
from kafka_audit.model.errors import UsageError

MOST_BYTES = 4 * 1024 * 1024
"""Rendered charts of a whole platform have 2 MB; what is larger may be a log, a data file or a disk image."""

_ENDINGS = (".properties", ".yaml", ".yml", ".env", ".config")
_ABOUT_KAFKA = re.compile(
    rb"KAFKA_|listeners\s*=|zookeeper\.connect|process\.roles|kind:[ \t]*Kafka(?:NodePool)?[ \t]*(?:#|[\r\n])"
    rb"|(?:cp-kafka|interbroker|interBrokerListenerName|configurationOverrides|kraftVersion)[ \t]*:"
)
_YAML = (".yaml", ".yml", ".json")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file that describes brokers; `stores` has, by key, whether its key stores exist, if this is its host."""

    path: str
    data: bytes = field(repr=False)
    brokers: tuple[Described, ...] = field(repr=False)
    ignores: tuple[Ignore, ...]
    stores: tuple[Mapping[str, bool], ...] = ()


@dataclass(frozen=True, kw_only=True)
class LintTarget:
    """A file to read; `named` by the user, or found in a folder, where files about other software are skipped."""

    path: str
    named: bool


def lint_targets(arguments: Sequence[str]) -> tuple[LintTarget, ...]:
    """Return the files that arguments mean: files, folders with all below them, patterns; each once, in the order of arguments.

    Raises:
        UsageError: an argument means nothing.
    """
    found: dict[str, LintTarget] = {}
    for argument in arguments:
        for target in _meant(argument):
            found.setdefault(target.path, target)
    return tuple(found.values())


def _meant(argument: str) -> Iterator[LintTarget]:
    path = Path(argument).expanduser()
    if path.is_dir():
        yield from _below(path)
    elif path.exists() or not glob.has_magic(argument):
        yield LintTarget(path=str(path), named=True)
    else:
        matches = sorted(_like(path))
        if not matches:
            msg = f"{argument}: no file matches"
            raise UsageError(msg)
        for match in matches:
            yield from _below(Path(match)) if Path(match).is_dir() else (LintTarget(path=match, named=False),)


def _like(pattern: Path) -> Iterator[str]:
    """Yield what a pattern means, as shells do: nothing hidden, unless it says so, and `**` goes through no link to a folder."""
    parts = pattern.parts
    fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    rest = [part if part == "**" else part.replace("**", "*") for part in parts[fixed:]]
    shown = any(part.startswith(".") for part in rest)
    folder = Path(*parts[:fixed])
    for path in folder.glob(str(Path(*rest))):
        below = path.relative_to(folder).parts
        if shown or not any(part.startswith(".") for part in below):
            yield str(path)


def _below(folder: Path) -> Iterator[LintTarget]:
    files = [path for path in sorted(folder.rglob("*")) if path.name.lower().endswith(_ENDINGS) and path.is_file()]
    kept = [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts[:-1])]
    if not kept:
        msg = f"{folder}: contains no {', '.join(_ENDINGS)} file"
        raise UsageError(msg)
    yield from (LintTarget(path=str(path), named=False) for path in kept)


def read_lint_targets(
    all_targets: Iterable[LintTarget], checks: Mapping[str, Check], note: Callable[[tuple[str, ...]], None] = lambda _: None
) -> tuple[list[Source], list[str]]:
    """Return the files that describe brokers, and a line for each that could not be read; `note` gets the path of each before."""
    sources, errors = [], []
    for target in all_targets:
        note((target.path,))
        try:
            source = _source(target, checks)
        except UsageError as error:
            errors.append(str(error))
            continue
        if source is not None:
            sources.append(source)
    return sources, errors


def _source(target: LintTarget, checks: Mapping[str, Check]) -> Source | None:
    data = _bytes(target.path)
    try:
        brokers = forms.read_described(data, target.path)
        if brokers:
            trailing = target.path.lower().endswith(_YAML)
            muted, there = (
                ignores.find_ignores(data, checks, trailing=trailing),
                tuple(stores.found(described) for described in brokers),
            )
            return Source(path=target.path, data=data, brokers=brokers, ignores=muted, stores=there)
    except PropertiesError as error:
        if not target.named and not _ABOUT_KAFKA.search(data):
            return None
        msg = f"{target.path}:{error.line}: {error.problem}"
        raise UsageError(msg) from error
    if target.named:
        msg = f"{target.path}: contains no broker settings; lint reads properties, Kubernetes manifests, compose and env files"
        raise UsageError(msg)
    return None


def _bytes(path: str) -> bytes:
    try:
        return regular_files.read_regular_file(path, MOST_BYTES)
    except FileRefusedError as error:
        msg = f"{path}: {error}" + (", the limit for a configuration" if isinstance(error, FileTooLargeError) else "")
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
    raise UsageError(msg)
