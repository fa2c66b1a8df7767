"""Which settings are secrets, by their key or by what their value shows. Pure; rather one too many than one too few.

Kafka treats every unknown key as a secret; super.users would then be one, and the audit needs it. Keys and values can come
from any party that can write a znode: every pattern here takes linear time.
"""

import hashlib
import os
import re
import threading

LONGEST_KEY = 1000
"""Characters of a key that is read; Kafka has none of a tenth of it, so a longer one is taken for a secret."""

LONGEST_VALUE = 32 * 1024
"""Characters of a value that is read; the longest of Kafka's, lists of principals and throttled replicas, have fewer. A longer
one is taken for a secret: a million characters take up to a second and a half to read."""

_KEY = re.compile(
    r"passw|pwd|secret|jaas|credential|private|passphrase|license|certificate|user[._-]?info|connection[._-]?string"
    r"|(?:api|access|account)[._-]?key|(?:^|[._-])(?:key|pass|pw|sas|sig|creds?|authorization)$",
    re.IGNORECASE,
)
_TOKEN_SETTING = re.compile(r"[._-](?:ms|seconds|url|uri|endpoint|class|type)$", re.IGNORECASE)
_HARMLESS = re.compile(r"password\.encoder\.(?:cipher\.algorithm|iterations|key\.length|keyfactory\.algorithm)")
# A listener's name is its owner's to choose: `listener.name.secret.ssl.keystore.type` is about no secret.
_OF_LISTENER = re.compile(r"listener\.name\.[^.]+\.")

USERINFO = re.compile(r"(?<=://)[^/\s@]++@")
"""User and password of an address."""

TOKEN = re.compile(
    r"(?<![\w-])eyJ[\w-]{8,}+(?:\.[\w-]++)*+"  # a JSON web token, or the beginning of one
    r"|\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"  # of AWS
    r"|\bgh[opsur]_\w{20,}+|\bgithub_pat_\w{20,}+|\bglpat-[\w-]{20,}+|\bxox[abeoprs]-[\w-]{10,}+|\bAIza[\w-]{35}"
    r"|(?<=[?&;])(?:sig|signature|code|token|access_token|api[_-]?key|X-Amz-(?:Signature|Credential|Security-Token))=[^&\s\"']++"
    r"|\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)[= ][^;\s\"']++",
    re.IGNORECASE,
)
"""Values that are credentials by their form: tokens, cloud keys, signed URLs."""

REST = re.compile(r"LoginModule|-----BEGIN|encryptedPassword|\bBearer\s|\bBasic\s", re.IGNORECASE)
"""Prefixes after which the rest of the text is secret."""

_KEY_WORD = r"(?:passw(?:or)?d|passphrase|secret|token|(?<![a-z])(?:pass|pwd|pw))[\"']?\s*+"
_PAIR = re.compile(f"{_KEY_WORD}=", re.IGNORECASE)

SAID = re.compile(
    r"(?<![\w.\-/\\=@])(?:passw\w{0,10}|passphrases?|passcodes?|secrets?|tokens?"
    r"|(?:api|access|account|encryption|license|master|private|signing)[ _-]?keys?)"
    r"(?![\w\-/\\]|\.\w|://)(?![\"'.,;!?)\]\s]*+\Z)",
    re.IGNORECASE,
)
"""A word that names a secret, where more follows; no part of a key, a path or a distinguished name."""

_SAID_HERE = re.compile(
    rf"{_KEY_WORD}:(?!//)|(?<![\w.\-/\\=@:])(?:pass|pwd|pw|creds?|credentials?)[\"']?(?:\s++\S|\s*+:(?!//))"
    r"|(?<![\w.\-/\\=@])(?:password|passphrase)[\-/\\]",
    re.IGNORECASE,
)
"""The same in words and signs that texts of errors and logs use for much else."""

_OF_NAMES = re.compile(r"(?:.{0,200}\.)?(?:super\.users|listeners|protocol\.map|rules|zookeeper\.connect|voters|servers)")
_NAMES = re.compile(r"\S+?:\S")


def is_secret_key(key: str) -> bool:
    """Return whether the value of a key must not become a row."""
    if len(key) > LONGEST_KEY:
        return True
    if _HARMLESS.fullmatch(key):
        return False
    own = _OF_LISTENER.sub("", key, count=1) if key.startswith("listener.name.") else key
    return _KEY.search(own) is not None or ("token" in own.lower() and _TOKEN_SETTING.search(own) is None)


class _KnownSettings:
    """What `is_secret` found lately, by a keyed digest of setting and value: brokers set the same, and rows are judged twice."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._found: dict[bytes, bool] = {}
        self._seed = os.urandom(32)

    def name(self, key: str, value: str) -> bytes:
        text = f"{len(key)} {key}{value}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16, key=self._seed).digest()

    def get(self, name: bytes) -> bool | None:
        return self._found.get(name)

    def put(self, name: bytes, found: bool) -> None:  # noqa: FBT001 -- what is kept
        with self._lock:
            if len(self._found) >= self._most:
                del self._found[next(iter(self._found))]
            self._found[name] = found


_judged = _KnownSettings(100_000)  # 1,000 brokers with 300 settings, 50 of them their own; 15 MB


def is_secret(key: str, value: str) -> bool:
    """Return whether a setting's value must not become a row."""
    if len(key) > LONGEST_KEY or len(value) > LONGEST_VALUE:
        return True
    name = _judged.name(key, value)
    found = _judged.get(name)
    if found is None:
        # Names in these lists are their owners' to choose: `SECRET:SASL_SSL`, `User:CN=kafka,OU=Top Secret Service`.
        names = _OF_NAMES.fullmatch(key) is not None and _NAMES.match(value) is not None
        patterns = (REST, USERINFO, TOKEN, _PAIR, *(() if names else (SAID, _SAID_HERE)))
        found = is_secret_key(key) or any(pattern.search(value) is not None for pattern in patterns)
        _judged.put(name, found)
    return found


def known_secret(key: str, value: str) -> bool | None:
    """Return what `is_secret` found or would find without reading the value; None where that is not known."""
    if len(key) > LONGEST_KEY or len(value) > LONGEST_VALUE:
        return True
    return _judged.get(_judged.name(key, value))
