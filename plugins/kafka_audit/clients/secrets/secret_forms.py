"""The forms in which another party may repeat a secret that it received. Pure."""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

_SHORTEST = 4  # characters: fewer are parts of words
_SHORTEST_REVERSED = 8  # of shorter ones, some are words: pots, reward
_KEY = re.compile(r"SharedAccess(?:Key|Signature)=([^;]{4,})")  # in a connection string, a password for Azure Event Hubs
_URL_SAFE = str.maketrans("+/", "-_")


def secret_forms(secret: str) -> Iterable[str]:
    r"""Return a secret as it is, in base64, in hexadecimal digits, as in a URL and reversed, the longest form first.

    Base64 of a longer text that holds it, such as the message of PLAIN (`\0user\0password`), holds one of these forms. The key in
    a connection string is a secret by itself.
    """
    found = {form for text in (secret, *_KEY.findall(secret)) for form in _forms(text)}
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
