"""Which files are meant, and what is in them: the only place of `lint` that reads files.

The files may come from anyone who opens a pull request. A link that leads out of what the user named is not followed, whether
there is something at its end or not.
"""

import contextlib
import glob
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kafka_audit.bounds import regular_files
from kafka_audit.bounds.regular_files import FileRefusedError, FileTooLargeError
from kafka_audit.checks import Check
from kafka_audit.configuration.files import forms
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import PropertiesError
from kafka_audit.lint import ignores
from kafka_audit.lint.ignores import Ignore
from kafka_audit.model.errors import UsageError

_STORES = (".keystore.location", ".truststore.location")


def found(broker: Described) -> Mapping[str, bool]:
    """Return by key whether the store that it names is a file here."""
    reported = {key: setting.value.strip() for key, setting in broker.properties.items() if key not in broker.unknown}
    return {key: _is_file(Path(value)) for key, value in reported.items() if key.endswith(_STORES) and value}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, a NUL in it
        return False


MOST_BYTES = 4 * 1024 * 1024
"""Rendered charts of a whole platform have 2 MB; what is larger may be a log, a data file or a disk image."""

_ENDINGS = (".properties", ".yaml", ".yml", ".env", ".config")
_ABOUT_KAFKA = re.compile(
    rb"KAFKA_|listeners\s*=|zookeeper\.connect|process\.roles|kind:[ \t]*Kafka(?:NodePool)?[ \t]*(?:#|[\r\n])"
    rb"|(?:cp-kafka|interbroker|interBrokerListenerName|configurationOverrides|kraftVersion)[ \t]*:"
)
_YAML = (".yaml", ".yml", ".json")
_POOLS = re.compile(rb"^kind:[ \t]*KafkaNodePool[ \t]*(?:#|\r?$)", re.MULTILINE)
_CLUSTER = re.compile(rb"^kind:[ \t]*Kafka[ \t]*(?:#|\r?$)", re.MULTILINE)
_MOST_BESIDE = 100


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file that describes brokers; `stores` has, by key, whether its key stores exist, if this is its host."""

    path: str
    data: bytes = field(repr=False)
    brokers: tuple[Described, ...] = field(repr=False)
    ignores: tuple[Ignore, ...]
    stores: tuple[Mapping[str, bool], ...] = ()
    includes: tuple[str, ...] = ()  # other files whose variables it has, which are no brokers of their own


@dataclass(frozen=True, kw_only=True)
class LintTarget:
    """A file to read; `named` by the user, or found in a folder, where files about other software are skipped.

    `tree` is the folder, without links, outside of which nothing is opened.
    """

    path: str
    named: bool
    tree: Path
    data: bytes | None = None  # what standard input had

    @property
    def leads_out(self) -> bool:
        """Whether a link leads out of the tree."""
        return self.data is None and _leads_out(self.path, self.tree)

    @property
    def size(self) -> int:
        """How many bytes the file has, 0 where that is not known; links are not followed."""
        try:
            return os.lstat(self.path).st_size
        except (OSError, ValueError):
            return 0


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
    if argument == forms.STDIN:
        yield LintTarget(path=argument, named=True, tree=_real(Path.cwd()), data=sys.stdin.buffer.read(MOST_BYTES + 1))
        return
    path = Path(argument)  # as it is: a shell has replaced `~`, and a pull request may have a folder of that name
    here = _real(Path.cwd())
    if not path.is_absolute() and ".." not in path.parts and _leads_out(path, here):
        yield LintTarget(path=str(path), named=True, tree=here)
    elif path.is_dir():
        yield from _below(path, _real(path))
    elif os.path.lexists(path) or not glob.has_magic(argument):  # a link to nothing, too: its name is no pattern
        yield LintTarget(path=str(path), named=True, tree=_real(path.parent))
    else:
        parts = path.parts
        fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
        tree = _real(Path(*parts[:fixed]))
        matches = sorted(match for match in _like(path, fixed) if not _leads_out(Path(match).parent, tree))
        if not matches:
            msg = f"{argument}: no file matches"
            raise UsageError(msg)
        for match in matches:
            if not _leads_out(match, tree) and Path(match).is_dir():
                yield from _below(Path(match), tree)
            else:
                yield LintTarget(path=match, named=False, tree=tree)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _leads_out(path: str | Path, tree: Path) -> bool:
    return not _real(Path(path)).is_relative_to(tree)


def _like(pattern: Path, fixed: int) -> Iterator[str]:
    """Yield what a pattern means, as shells do: nothing hidden, unless it says so, and `**` goes through no link to a folder.

    Its first `fixed` parts are no pattern.
    """
    parts = pattern.parts
    rest = [part if part == "**" else part.replace("**", "*") for part in parts[fixed:]]
    shown = any(part.startswith(".") for part in rest)
    folder = Path(*parts[:fixed])
    for path in folder.glob(str(Path(*rest))):
        below = path.relative_to(folder).parts
        if shown or not any(part.startswith(".") for part in below):
            yield str(path)


def _below(folder: Path, tree: Path) -> Iterator[LintTarget]:
    named = (path for path in sorted(folder.rglob("*")) if path.name.lower().endswith(_ENDINGS))
    files = [path for path in named if _leads_out(path, tree) or path.is_file()]
    kept = [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts[:-1])]
    if not kept:
        msg = f"{folder}: contains no {', '.join(_ENDINGS)} file"
        raise UsageError(msg)
    yield from (LintTarget(path=str(path), named=False, tree=tree) for path in kept)


def read_lint_target(target: LintTarget, checks: Mapping[str, Check], *, on_host: bool = False) -> Source | None:
    """Return a file that describes brokers, None for another one that was found in a folder.

    With `on_host`, key stores that the file names are looked up on this host.

    Raises:
        UsageError: it cannot be read, or it was named and describes no broker.
    """
    data = _bytes(target)
    beside = _Beside(target)
    own_lines = data.count(b"\n") + 1
    pools = [*beside.pools()] if _CLUSTER.search(data) and not _POOLS.search(data) else []
    try:
        brokers = forms.read_described(b"\n---\n".join((data, *pools)), target.path, beside.text, named=target.named)
        brokers = tuple(_of_file(broker, own_lines) for broker in brokers) if pools else brokers
        if not target.named:
            brokers = tuple(broker for broker in brokers if not broker.partial and not broker.fragment)
        if brokers:
            trailing = target.path.lower().endswith(_YAML)
            muted, there = (
                ignores.find_ignores(data, checks, trailing=trailing),
                tuple(found(described) for described in brokers) if on_host else (),
            )
            return Source(path=target.path, data=data, brokers=brokers, ignores=muted, stores=there, includes=tuple(beside.read))
    except PropertiesError as error:
        if not target.named and not _ABOUT_KAFKA.search(data):
            return None
        msg = f"{target.path}:{error.line if error.line <= own_lines else 1}: {error.problem}"
        raise UsageError(msg) from error
    if target.named:
        what = forms.what_else(data, target.path)
        what = what or "contains no broker settings; lint reads properties, Kubernetes manifests, compose and env files"
        msg = f"{target.path}: {what}"
        raise UsageError(msg)
    return None


def _of_file(broker: Described, lines: int) -> Described:
    """Return a node with its remarks at lines of its file: those of a pool of another file are at the first one."""
    remarks = (replace(remark, line=remark.line if remark.line <= lines else 1) for remark in broker.remarks)
    return replace(broker, remarks=tuple(remarks))


class _Beside:
    """Reads the files that a file names by their path from it, within its tree; `read` are those that it read."""

    def __init__(self, target: LintTarget) -> None:
        self._target = target
        self.read: list[str] = []

    def pools(self) -> Iterator[bytes]:
        """Yield the files of the same folder that have node pools, and no Kafka resource."""
        own = Path(self._target.path)
        for path in sorted(own.parent.glob("*.y*ml"))[:_MOST_BESIDE] if self._target.data is None else ():
            with contextlib.suppress(UsageError):
                data = b"" if path == own else _bytes(LintTarget(path=str(path), named=False, tree=self._target.tree))
                if _POOLS.search(data) and not _CLUSTER.search(data):
                    self.read.append(os.path.normpath(path))
                    yield data

    def text(self, name: str) -> str | None:
        path = Path(self._target.path).parent / name
        if self._target.data is not None or not name or "\0" in name or Path(name).is_absolute():
            return None
        with contextlib.suppress(UsageError):
            data = _bytes(LintTarget(path=str(path), named=False, tree=self._target.tree))
            self.read.append(os.path.normpath(path))
            return data.decode("utf-8", "replace")
        return None


def _bytes(target: LintTarget) -> bytes:
    path = target.path
    if target.data is not None:
        if len(target.data) > MOST_BYTES:
            msg = f"{path}: more than {MOST_BYTES >> 20} MiB, the limit for a configuration"
            raise UsageError(msg)
        return target.data
    if target.leads_out:
        msg = f"{path}: a link leads out of the folder that is linted; name the file itself"
        raise UsageError(msg)
    try:
        return regular_files.read_regular_file(path, MOST_BYTES)
    except FileRefusedError as error:
        msg = f"{path}: {error}" + (", the limit for a configuration" if isinstance(error, FileTooLargeError) else "")
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
    raise UsageError(msg)
