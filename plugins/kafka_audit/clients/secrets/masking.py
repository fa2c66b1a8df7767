"""Free text, e.g. a line of a log or a party's own words about an error, without what must not leave it. Pure."""

import base64
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from urllib.parse import quote

from kafka_audit.clients.secrets.secret_keys import REST, SAID, TOKEN, USERINFO, is_secret, is_secret_key

MASK = "[masked]"
_OWN = "***"  # what stands for the auditor's own password, see `ListenerSecurity.hide`
MOST = 8000
"""Characters of a text that are searched; the shown part is much shorter."""

_PAIR = re.compile(
    r"(?<![\w.\-])([\w.\-]++)(\"?\s{0,3}+(?:=|:(?!//))\s{0,3}+)(\"(?:[^\"\\]|\\.)*+\"?|'[^']*+'?|[^\s,;)}\]\"']++)", re.DOTALL
)
_OPTION = re.compile(r"(?<!\S)--?([\w.\-]++)(\s++)(\"(?:[^\"\\]|\\.)*+\"?|'[^']*+'?|[^\s\-]\S*+)", re.DOTALL)
_INVALID, _FOR = "Invalid value ", " for configuration "
_KEY = re.compile(r"[\w.\-]*+")
_PROSE = re.compile(
    r"\W{0,4}(?:\[masked\]|(?:[a-z]\w*\.)+[A-Z]|channelId="  # the class that logs a line
    r"|(?:(?:a|an|and|are|as|at|be|been|by|can|cannot|could|did|do|does|for|from|had|has|have|if|in|is|it|its|may|must|no|not|of|on"
    r"|or|should|that|the|this|to|was|were|which|will|with|within|would)\s+){0,5}"
    r"(?:accepted|audience|authentication|authenticator|based|callback|clear|computed|configured|empty|endpoint|expected|expired"
    r"|expires|failed|failure|feature|file|format|found|google|guessed|handler|incorrect|invalid|issued|issuer|length|lifetime|login"
    r"|mechanism|missing|null|provided|provider|read|refresh|refused|rejected|renewal|request|required|sent|set|specified|type"
    r"|unknown|unset|valid|validation|verification|verified|wrong|[0-9.]+ s)\b)",
    re.IGNORECASE,
)
"""What follows a word for a secret where the sentence is about it: `password was incorrect`, `token endpoint`."""

_LONG = 1000  # characters of a value behind which the key was cut off


def masked(text: str) -> str:
    """Return a text without values of secret keys, tokens, logins in addresses, JAAS texts, and all behind a word for a secret.

    Cut the text afterwards, never before: half a token does not match the pattern of a token.
    """
    line = text[:MOST]
    rest = REST.search(line)
    shown = line if rest is None else line[: rest.start()] + MASK
    shown = TOKEN.sub(MASK, USERINFO.sub(f"{MASK}@", _without_refused_value(shown)))
    shown = _OPTION.sub(_pair, _without_pairs(shown))
    said = next((match for match in SAID.finditer(shown) if _PROSE.match(shown, match.end()) is None), None)
    if said is None:
        return shown
    mask = _OWN if _OWN in shown[said.end() :] else MASK
    return f"{shown[: said.end()]} {mask}"


def masked_command(command: Sequence[str]) -> list[str]:
    """Return a command without the passwords that its owner wrote into it: `sshpass -p X`, `--password X`, `PGPASSWORD=X`."""
    shown: list[str] = []
    own_option = "-p" if command and PurePosixPath(command[0]).name == "sshpass" else None
    for before, part in zip(("", *command), command, strict=False):
        is_value = before == own_option or (before.startswith("-") and "=" not in before and is_secret_key(before.lstrip("-")))
        attached = own_option is not None and part.startswith(own_option) and part != own_option
        shown.append(f"{own_option}{MASK}" if attached else MASK if is_value else masked(part))
    return shown


def _without_pairs(text: str) -> str:
    """Return a text without the values of secret keys: what stands behind a colon and a space may be the next key."""
    parts, done = [], 0
    found = _PAIR.search(text)
    while found is not None:
        shown, is_next = _pair(found), not is_secret_key(found[1]) and _PAIR.match(text, found.start(3)) is not None
        goes_on = found[2][-1].isspace() and (is_next or shown == found[0])
        end = found.end(2) if goes_on else found.end()
        parts += [text[done : found.start()], text[found.start() : end] if goes_on else shown]
        done = end
        found = _PAIR.search(text, done)
    return "".join([*parts, text[done:]])


def _pair(match: re.Match[str]) -> str:
    key, _, value = match.groups()
    # "password: Authentication failed" is prose; what a configuration calls by such a key is not.
    return match[0].removesuffix(value) + MASK if is_secret(key, value) else match[0]


def _without_refused_value(text: str) -> str:
    """Return Kafka's `Invalid value X for configuration K` without X, where K is a secret or X shows that it is one.

    X may be any text, these very words too: all between the first and the last of them goes where any key is a secret.
    """
    before, found, after = text.partition(_INVALID)
    value, *behind = after.split(_FOR)
    keys = [match[0].rstrip(".") for match in map(_KEY.match, behind) if match]
    if not found or not (is_secret("", value) or any(map(is_secret_key, keys)) or (not keys and len(value) > _LONG)):
        return text
    return f"{before}{_INVALID}{MASK}" + (f"{_FOR}{behind[-1]}" if behind else "")


_SHORTEST = 4  # characters: fewer are parts of words
_SHORTEST_REVERSED = 8  # of shorter ones, some are words: pots, reward
_CONNECTION_KEY = re.compile(r"SharedAccess(?:Key|Signature)=([^;]{4,})")  # that of a connection string is a password, too
_URL_SAFE = str.maketrans("+/", "-_")


def secret_forms(secret: str) -> Iterable[str]:
    r"""Return a secret as it is, in base64, in hexadecimal digits, as in a URL and reversed, the longest form first.

    Base64 of a longer text that holds it, such as the message of PLAIN (`\0user\0password`), holds one of these forms. The key in
    a connection string is a secret by itself.
    """
    found = {form for text in (secret, *_CONNECTION_KEY.findall(secret)) for form in _forms(text)}
    return sorted(found, key=len, reverse=True)


def _forms(secret: str) -> Iterable[str]:
    raw = secret.encode("utf-8", "surrogateescape")
    found = {raw.hex(), raw.hex().upper(), quote(raw, safe=""), repr(secret)[1:-1], json.dumps(secret)[1:-1]}
    for before in range(3):  # base64 of a longer text holds one of three, by where the secret begins in it
        text = base64.b64encode(b"\0" * before + raw).decode()
        inner = text[(0, 2, 3)[before] : len(text) - (0, 3, 2)[(len(raw) + before) % 3]]
        found |= {inner, inner.translate(_URL_SAFE)}
    if len(secret) >= _SHORTEST_REVERSED:
        found.add(secret[::-1])
    return {secret, *(value for value in found if len(value) >= _SHORTEST)}
