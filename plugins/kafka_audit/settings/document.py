"""A YAML document whose values have their place, so that every error names file, line and key.

`read_yaml_document` parses a file into an `Item` tree; the readers of `Item` (`text`, `whole`, `fields`, …) return typed values
or raise `UsageError`. No complaint repeats a value that may be a secret: YAML's own messages quote the file, so they are not
passed on.
"""

import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import NoReturn

import yaml

from kafka_audit.bounds import bounded_yaml
from kafka_audit.bounds.bounded_yaml import YamlLimitError
from kafka_audit.model.errors import UsageError
from kafka_audit.model.package_yaml import LOADER
from kafka_audit.model.text import did_you_mean

log = logging.getLogger(__name__)
_ADDRESS = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9_.-]+):(\d{1,5})")
_MOST_BYTES = 1024 * 1024  # 500 clusters with everything that may be said of them
_WORDED_CHARACTERS = 65_536
_MAX_DEPTH = 20  # a cluster file is 5 levels deep; an alias that contains itself is endless
_MAX_PORT = 65535
_INFINITY = float("inf")


@dataclass(frozen=True, kw_only=True)
class Item:
    """One value of the document. `value` is a scalar, a `dict[str, Item]` or a `list[Item]`."""

    value: object
    file: str
    line: int  # counted from 1; 0 where `file` is an option of the command
    path: tuple[str, ...] = ()
    heir: str = ""  # the cluster that inherits this value from `defaults`

    def refuse(self, message: str) -> NoReturn:
        """Raise `UsageError` with what is wrong here: `file:line: key.path: message`, and which of it is inherited."""
        msg = self._placed(message + self._inheritance())
        raise UsageError(msg)

    def warn(self, message: str) -> None:
        """Log what is odd here and can be lived with, worded as `refuse` does."""
        log.warning(self._placed(message))

    def _placed(self, message: str) -> str:
        key = f"{'.'.join(self.path)}: " if self.path else ""
        return f"{self.place}: {key}{message}"

    @property
    def place(self) -> str:
        """Return `file:line`."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def _inheritance(self) -> str:
        if self.heir:
            return f"; cluster {self.heir} inherits this, and `null` at this key of the cluster removes it"
        if not isinstance(self.value, dict):
            return ""
        inherited = [f"{key} ({item.place})" for key, item in self.value.items() if isinstance(item, Item) and item.heir]
        return f"; inherited: {', '.join(inherited)}; `null` removes an inherited key" if inherited else ""

    def _refuse_type(self, expected: str, remedy: str = "") -> NoReturn:
        if self.value is None:
            self._refuse_empty(expected)
        self.refuse(f"must be {expected}, not {_kind(self.value)}{remedy}")

    def _refuse_empty(self, expected: str) -> NoReturn:
        self.refuse(f"is empty; set it to {expected}, or remove the key")

    def text(self, expected: str = "text") -> str:
        """Return a non-empty string."""
        if not isinstance(self.value, str):
            self._refuse_type(expected, "" if isinstance(self.value, dict | list) else "; quote it")
        if not self.value.strip():
            self._refuse_empty(expected)
        return self.value

    def choice(self, choices: Iterable[str]) -> str:
        """Return a string that is one of `choices`."""
        choices = tuple(choices)
        value = self.text(f"one of {', '.join(choices)}")
        if value not in choices:
            self.refuse(f"{value!r} is not one of {', '.join(choices)}{did_you_mean(value, choices)}")
        return value

    def whole(self, minimum: int, maximum: float = _INFINITY) -> int:
        """Return an integer between `minimum` and `maximum`; `true` is none, although Python counts it as 1."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self._refuse_type("a whole number")
        if self.value < minimum:
            self.refuse(f"must be at least {minimum}, not {self.value}")
        if self.value > maximum:
            self.refuse(f"must be at most {maximum}, not {self.value}")
        return self.value

    def number(self, minimum: float, maximum: float = _INFINITY) -> float:
        """Return a finite number between `minimum` and `maximum`."""
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            self._refuse_type("a number")
        if not minimum <= self.value <= maximum or self.value == _INFINITY:  # nan compares false, too
            limit = f"at least {minimum:g}" if maximum == _INFINITY else f"from {minimum:g} to {maximum:g}"
            self.refuse(f"must be {limit}, not {self.value}")
        return float(self.value)

    def flag(self) -> bool:
        """Return a boolean."""
        if not isinstance(self.value, bool):
            self._refuse_type("true or false")
        return self.value

    def day(self) -> date:
        """Return a date written as 2027-01-31, quoted or not."""
        if isinstance(self.value, date) and not isinstance(self.value, datetime):
            return self.value
        try:
            return date.fromisoformat(str(self.value))
        except ValueError:
            self.refuse("must be a date such as 2027-01-31")

    def address(self) -> str:
        """Return `host:port`; an IPv6 host is in brackets."""
        return self.check_address(self.text("host:port"))

    def check_address(self, value: str) -> str:
        """Return `value` if it is `host:port`; text with an `@` may hold a password and is not repeated."""
        match = _ADDRESS.fullmatch(value)
        if match is None or not 0 < int(match[1]) <= _MAX_PORT:
            shown = repr(value) if "@" not in value else "a value with credentials"
            self.refuse(f"{shown} is not a host:port such as b1.example.com:9092")
        return value

    def items(self, expected: str) -> list["Item"]:
        """Return the items of a non-empty list."""
        if not isinstance(self.value, list):
            self._refuse_type(expected)
        if not self.value:
            self._refuse_empty(expected)
        return self.value

    def names(self, expected: str) -> dict[str, "Item"]:
        """Return a non-empty mapping whose keys the user chooses."""
        if not isinstance(self.value, dict):
            self._refuse_type(expected)
        if not self.value:
            self._refuse_empty(expected)
        return self.value

    def fields(self, known: Iterable[str], elsewhere: Mapping[str, str]) -> dict[str, "Item"]:
        """Return a mapping of which every key is known.

        Args:
            known: the valid keys.
            elsewhere: key -> full path, of keys that are right at another place; consulted for the suggestion.

        Raises:
            UsageError: an unknown key, with the nearest right one; a password, whatever else is wrong.
        """
        known = tuple(known)
        if not isinstance(self.value, dict):
            self._refuse_type(f"a mapping with some of the keys {', '.join(known)}")
        if "password" in self.value:
            self.value["password"].refuse("passwords are not allowed in this file; set the environment variable in password_env")
        for key, item in self.value.items():
            if key not in known:
                item.refuse(f"unknown key{_nearest(key, known, elsewhere)}")
        return self.value


def read_yaml_document(path: str | os.PathLike[str]) -> Item:
    """Parse a YAML file, raising `UsageError` where it is missing, unreadable, empty or no YAML."""
    file = os.fspath(path)
    text = _text(file)
    try:
        bounded_yaml.refuse_events(text)
        loader = LOADER(text)
        root = loader.get_single_node()
        bounded_yaml.refuse_aliases(root)
        if root is not None:
            return _item(loader, root, file, ())
        msg = f"{file}: is empty; it must contain `clusters:`, see clusters.example.yaml"
    except yaml.MarkedYAMLError as libyamls:
        error = _worded(text, libyamls)
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        # Tabs are the commonest slip, and YAML's words for them are the least clear.
        problem = "a tab is used for indentation; use spaces" if "'\\t'" in str(error.problem) else error.problem
        msg = f"{file}{line}: not YAML: {problem}"
    except YamlLimitError as error:
        msg = f"{file}:{error.line}: {error}"
    except yaml.reader.ReaderError:
        msg = f"{file}: not YAML: it contains a control character"
    raise UsageError(msg)


def _worded(text: str, error: yaml.MarkedYAMLError) -> yaml.MarkedYAMLError:
    """Return an error in the words of PyYAML's own parser, which are clearer than libyaml's; it is too slow for long texts."""
    if len(text) <= _WORDED_CHARACTERS:
        try:
            for _ in yaml.parse(text, Loader=yaml.SafeLoader):
                pass
        except yaml.MarkedYAMLError as worded:
            return worded
    return error


_PIPED: dict[tuple[str, int], bytes] = {}
"""What came through pipes, as in `--config <(decrypt clusters.yaml)`, by path and inode: each can be read once."""


def _text(file: str) -> str:
    try:
        with Path(file).expanduser().open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
            if not stream.seekable():
                data = _PIPED.setdefault((file, os.fstat(stream.fileno()).st_ino), data)
        if len(data) <= _MOST_BYTES:
            return data.decode("utf-8")
        msg = f"{file}: larger than {_MOST_BYTES >> 20} MB, the limit for a cluster file"
    except FileNotFoundError:
        without = "`kafka-audit run --bootstrap HOST:PORT` needs no file"
        msg = f"{file}: file not found; set --config, or copy clusters.example.yaml; {without}"
    except OSError as error:
        msg = f"{file}: cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        msg = f"{file}: is not UTF-8 text"
    raise UsageError(msg)


def _item(loader: yaml.SafeLoader, node: yaml.Node, file: str, path: tuple[str, ...]) -> Item:
    here = Item(value=None, file=file, line=node.start_mark.line + 1, path=path)
    if len(path) > _MAX_DEPTH:
        here.refuse("is nested too deeply")

    def inner(child: yaml.Node, key: str) -> Item:
        return _item(loader, child, file, (*path, key))

    value: object
    if isinstance(node, yaml.MappingNode):
        value = _mapping(loader, node, here, inner)
    elif isinstance(node, yaml.SequenceNode):
        value = [inner(child, str(index)) for index, child in enumerate(node.value)]
    else:
        try:
            value = loader.construct_object(node)
        except ValueError:  # 2027-13-45 looks like a date
            here.refuse("is not a valid date; quote it if it is text")
    return Item(value=value, file=file, line=here.line, path=path)


def _mapping(
    loader: yaml.SafeLoader, node: yaml.MappingNode, here: Item, inner: Callable[[yaml.Node, str], Item]
) -> dict[str, Item]:
    seen: set[str] = set()
    for key, _ in node.value:  # before `<<` is merged: a merged key may be overridden, a written one may not be repeated
        at_key = Item(value=None, file=here.file, line=key.start_mark.line + 1, path=(*here.path, str(key.value)))
        if key.tag not in {"tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"}:
            Item(value=None, file=here.file, line=at_key.line, path=here.path).refuse("keys must be text; quote the key")
        if key.value in seen:
            at_key.refuse("is a duplicate key; remove one")
        seen.add(key.value)
    loader.flatten_mapping(node)
    found = {}
    for key, child in node.value:
        item = inner(child, key.value)
        # A complaint about a key belongs to the key's line, also where its value starts on the next one.
        found[key.value] = Item(value=item.value, file=item.file, line=key.start_mark.line + 1, path=item.path)
    return found


def _kind(value: object) -> str:
    for types, name in (
        (dict, "a mapping"),
        (list, "a list"),
        (str, "text"),
        (bool, "true or false"),
        (int | float, "a number"),
        (date, "a date"),
    ):
        if isinstance(value, types):
            return name
    return "empty"


def _nearest(key: str, known: tuple[str, ...], elsewhere: Mapping[str, str]) -> str:
    if key in elsewhere:
        return f"; it belongs at {elsewhere[key]}"
    return did_you_mean(key, known) or f"; valid keys: {', '.join(known)}"
