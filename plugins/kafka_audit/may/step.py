"""A step as a user types it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_audit.configuration.starts import nearest_release
from kafka_audit.lint.versions import refuse_unsupported
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import clean, did_you_mean
from kafka_audit.what_if.steps.topics import Move, read_plan

FORMS = {
    "stop": "2",
    "restart": "2",
    "upgrade": "4.3",
    "finalize": "",
    "migrate": "",
    "delete-znode": "/PATH",
    "remove-voter": "3",
    "unregister": "5",
    "format": "2",
    "reassign": "FILE",
    "delete-topic": "TOPIC",
    "set": "broker:2|brokers|topic:T KEY=VALUE",
}
"""What follows the name of each step."""

_OF_NODES = frozenset({"stop", "restart", "remove-voter", "unregister", "format"})
_UPGRADE, _SET = "upgrade", "set"
_MOST_DIGITS, _MOST_NAME = 10, 249


@dataclass(frozen=True, kw_only=True)
class TypedStep:
    """A step.

    Attributes:
        kind: its name, one of `FORMS`.
        text: as it was typed.
        node: the id that it names; None where it names none, or all brokers.
        role: `broker` or `controller`, where it names that, too.
        version: the release that is to run.
        name: the path, the file or the topic that it names.
        key, value: what it sets.
        moves: the partitions of the plan in its file.
    """

    kind: str
    text: str
    node: int | None = None
    role: str = ""
    version: str = ""
    name: str = ""
    key: str = ""
    value: str = ""
    moves: tuple[Move, ...] = ()

    @property
    def topics(self) -> frozenset[str]:
        """The topics that it is about."""
        of_plan = frozenset(move.topic for move in self.moves)
        return of_plan | ({self.name} if self.kind in {"delete-topic", "set"} and self.name else set())


def parse_step(words: Sequence[str], plan: bytes | None = None) -> TypedStep:  # noqa: C901, PLR0911 -- a branch for each step
    """Return the step that words mean; raises UsageError for what is none.

    `plan`: the content of the file that `reassign` names, where it is not read from this machine.
    """
    if not words:
        raise UsageError(f"no step is named; choose {', '.join(FORMS)}")  # noqa: EM102, TRY003
    kind, *rest = words
    text = " ".join(words)
    if kind not in FORMS:
        raise UsageError(f"{clean(kind)!r} is not a step; choose {', '.join(FORMS)}{did_you_mean(kind, FORMS)}")  # noqa: EM102, TRY003
    if len(rest) != len(FORMS[kind].split()):
        raise _wrong(kind, "it takes other words" if rest else "its words are missing")
    if kind in _OF_NODES:
        role, colon, number = rest[0].rpartition(":")
        if colon and role not in {"broker", "controller"}:
            raise _wrong(kind, f"{clean(role)!r} is neither broker nor controller")
        return TypedStep(kind=kind, text=text, node=_node(kind, number), role=role)
    if kind == "upgrade":
        return TypedStep(kind=kind, text=text, version=_version(rest[0]))
    if kind == "delete-znode":
        path = rest[0].rstrip("/")
        if not path.startswith("/") or "//" in path or {"..", "."} & {*path.split("/")}:
            raise _wrong(kind, f"{clean(rest[0])!r} is no path of a znode")
        return TypedStep(kind=kind, text=text, name=path)
    if kind == "reassign" and plan is not None:
        return TypedStep(kind=kind, text=text, name=rest[0], moves=read_plan(plan, rest[0]))
    if kind == "reassign":
        try:
            with Path(rest[0]).open("rb") as file:
                return TypedStep(kind=kind, text=text, name=rest[0], moves=read_plan(file.read(17 * 1024 * 1024), rest[0]))
        except OSError as error:
            raise _wrong(kind, f"{clean(rest[0])} cannot be read ({error.strerror})") from error
    if kind == "delete-topic":
        return TypedStep(kind=kind, text=text, name=_topic(kind, rest[0]))
    return _setting(text, *rest) if kind == "set" else TypedStep(kind=kind, text=text)


def _wrong(kind: str, why: str) -> UsageError:
    return UsageError(f"{kind}: {why}; write `{f'{kind} {FORMS[kind]}'.strip()}`")


def _node(kind: str, text: str) -> int:
    if not (text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS):
        raise _wrong(kind, f"{clean(text)!r} is not the id of a node")
    return int(text)


def _topic(kind: str, text: str) -> str:
    if not 0 < len(text) <= _MOST_NAME:
        raise _wrong(kind, "a topic has a name of 1 to 249 characters")
    return text


def _version(text: str) -> str:
    whole = text if text.count(".") > 1 else f"{text}.0"
    try:
        refuse_unsupported(whole)
        nearest_release(whole)
    except ValueError as error:
        raise _wrong(_UPGRADE, str(error)) from error
    return whole


def _setting(text: str, entity: str, assignment: str) -> TypedStep:
    key, equals, value = assignment.partition("=")
    kind, _, name = entity.partition(":")
    if not equals or not key:
        raise _wrong(_SET, f"{clean(assignment)!r} is no KEY=VALUE")
    if entity.isdecimal():
        kind, name = "broker", entity
    if entity == "brokers":
        return TypedStep(kind="set", text=text, key=key, value=value)
    if kind == "broker":
        return TypedStep(kind="set", text=text, node=_node("set", name), key=key, value=value)
    if kind == "topic":
        return TypedStep(kind="set", text=text, name=_topic("set", name), key=key, value=value)
    raise _wrong(_SET, f"{clean(entity)!r} is neither a broker nor a topic")
