"""JAAS texts as Kafka's JaasConfig reads them, which is by java.io.StreamTokenizer. Pure.

Messages are Kafka's, less what they quote of the text.

Brokers look for `listener.name.<listener>.<mechanism>.sasl.jaas.config` only, for both sides: the logins that the listener
accepts, and the login at other brokers if it is the inter-broker listener.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_FLAGS = frozenset({"REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL"})
_TOKEN = re.compile(
    r"(?P<skip>[\x00-\x20]+|//[^\r\n]*|/\*.*?(?:\*/|\Z)|/(?:.[^\r\n]*)?)"
    r"|(?P<number>-?(?:[0-9]+\.?[0-9]*|\.[0-9]*))"
    r"|(?P<word>[A-Za-z_$\u00a0-\U0010ffff][A-Za-z0-9_$.\u00a0-\U0010ffff-]*)"
    r"|(?P<quote>[\"'])(?P<text>(?:\\(?:.|\Z)|(?!(?P=quote))[^\\\r\n])*)(?:(?P=quote))?"
    r"|(?P<other>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{2}|[0-7]{1,2}|.)", re.DOTALL)
_CONTROL = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_WORD, _NUMBER = "word", "number"
_USER = "user_"


class JaasError(ValueError):
    """Kafka refuses the text."""


@dataclass(frozen=True, slots=True)
class JaasLogin:
    """A name and a password: on side "client" of this broker at others, on side "server" a login that it accepts."""

    side: str
    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Module:
    """A login module with its options."""

    name: str
    options: Mapping[str, str] = field(repr=False)

    def logins(self) -> Iterator[JaasLogin]:
        """Yield the logins of PLAIN, SCRAM and Kerberos modules (a principal has no password here); others hold none."""
        if self.name.endswith(".Krb5LoginModule") and "principal" in self.options:
            yield JaasLogin("client", self.options["principal"], "")
        plain = self.name.endswith(".PlainLoginModule")
        if not plain and not self.name.endswith(".ScramLoginModule"):
            return
        if "username" in self.options and "password" in self.options:
            yield JaasLogin("client", self.options["username"], self.options["password"])
        for key, value in self.options.items():
            if plain and key.startswith(_USER):
                yield JaasLogin("server", key.removeprefix(_USER), value)


def parse_jaas(text: str) -> Module:
    """Return the one module of a JAAS text; raises JaasError."""
    tokens = _tokens(text)
    found = [_module(name, tokens) for _, name in tokens]
    if len(found) != 1:
        msg = f"JAAS config property contains {len(found)} login modules, should be 1 module"
        if not found:
            msg = "Login module not specified in JAAS config"
        raise JaasError(msg)
    return found[0]


def _module(name: str | None, tokens: Iterator[tuple[str, str | None]]) -> Module:
    _, flag = next(tokens, (None, None))
    if name is None or flag is None or flag.upper() not in _FLAGS:
        msg = "Login module control flag is not one of required, requisite, sufficient and optional in JAAS config"
        raise JaasError(msg)
    options: dict[str, str] = {}
    for kind, key in tokens:
        if kind == ";":
            return Module(name, options)
        equals, _ = next(tokens, (None, None))
        _, value = next(tokens, (None, None))
        if key is None or equals != "=" or value is None:
            msg = f"Value not specified for key number {len(options) + 1} in JAAS config (quote values with a leading digit)"
            raise JaasError(msg)
        options[key] = value
    msg = "JAAS config entry not terminated by semi-colon"
    raise JaasError(msg)


def _tokens(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield (kind, text): a word, a number (whose text Kafka does not see), a quoted text under its quote, else a character."""
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup if match["quote"] is None else match["quote"]
        if kind == _WORD:
            yield _WORD, match[_WORD]
        elif kind == _NUMBER:
            yield _NUMBER, None
        elif match["quote"] is not None:
            yield match["quote"], _ESCAPE.sub(_unescaped, match["text"])
        elif match["other"] is not None:
            yield match["other"], None


def _unescaped(match: re.Match[str]) -> str:
    found = match[1]
    return chr(int(found, 8)) if found[0] in "01234567" else _CONTROL.get(found, found)
