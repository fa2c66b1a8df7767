"""Rules of principals and those who connect, generated for `testbed.principals`."""

import base64
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cryptography import x509
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID

from kafka_audit.configuration.principals import KERBEROS

REALM = "EXAMPLE.COM"

_ATTRIBUTES = (
    NameOID.COMMON_NAME,
    NameOID.ORGANIZATIONAL_UNIT_NAME,
    NameOID.ORGANIZATION_NAME,
    NameOID.LOCALITY_NAME,
    NameOID.STATE_OR_PROVINCE_NAME,
    NameOID.DOMAIN_COMPONENT,
    NameOID.USER_ID,
    NameOID.STREET_ADDRESS,
    NameOID.EMAIL_ADDRESS,
    NameOID.SERIAL_NUMBER,
)
_VALUES = (
    "kafka-1",
    "Broker 2",
    "a,b",
    "x=y",
    " lead",
    "trail ",
    "  ",
    "#1",
    'q"u',
    "back\\slash",
    "<a>+;",
    "Müller",
    "\u65e5\u672c",
    "A1",
    "kafka1.example.com",
    "user@host",
    "a/b",
    "\u0130stanbul",
    "stra\xdfe",
    "line\nend",
    "\U0001f600",
    "O",
    "tab\there",
)
_PATTERNS = (
    "^CN=(.*?),OU=(.*?),O=(.*?)$",
    "^CN=(.*?),.*$",
    "^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$",
    ".*",
    "CN=([^,]*)(,.*)?",
    "^CN=kafka-(\\d+)",
    "^(?<cn>CN=.*)$",
    "(?i)^cn=(.+?)(?:,|$).*",
    "CN=(\\w+)\\.?(.*)",
    ".*?=(.)(.).*",
    "(.*)",
    "",
    "[^=]+=(.*+)",
    "(?:CN|O)=(.*)",
    "(.)*",
)
_PIECES = (
    "(",
    ")",
    "[",
    "]",
    "*",
    "+",
    "?",
    "{2}",
    "{1,}",
    "{",
    ".",
    "^",
    "$",
    "|",
    "\\\\",
    "\\.",
    "\\d",
    "\\W",
    "\\p{L}",
    "\\b",
    "\\Q,\\E",
    "(?i)",
    "(?s)",
    "(?:",
    "(?=",
    "(?<!",
    "(?>",
    "\\1",
    "a",
    "CN",
    "=",
    ",",
    ".*",
    "(.*)",
    "[a-z]",
    "[^,]",
    "[\\w-]",
    "[]x]",
    "\\x41",
    "&&",
)
_TARGETS = (
    "$1",
    "$1@$2",
    "$0",
    "x",
    "",
    "$1-$3",
    "${cn}",
    "$12",
    "$",
    "\\\\$1",
    "$a",
    "User-$1",
    "$2$1",
    "$10$9",
    "\\$1",
    "$3$4$5",
)
_FORMATS = ("$1", "$1.$2", "$1@$0", "$0", "$2-$1", "$3", "x$1y", "$", "", "$01", "$1/$2", "$1;$2$0")
_USERS = ("kafka/kafka1.example.com", "alice", "Bob/admin", "a.b", "zk/h", "", "a/", "/h", "a/b/c", "x y")
_REALMS = (f"@{REALM}", "@OTHER.ORG", "", "@", "@a@b")
_TEXT = {name: getattr(_ASN1Type, name) for name in ("UTF8String", "PrintableString", "IA5String", "T61String", "BMPString")}


@dataclass(frozen=True, kw_only=True)
class Case:
    """Rules, and peers: (how it comes, certificate subject in DER or user, None for neither)."""

    ssl: str | None
    kerberos: str | None
    peers: tuple[tuple[str, bytes | str | None], ...]

    def asked(self) -> dict[str, object]:
        """Return it for the oracle."""
        peers = [[kind, base64.b64encode(who).decode() if isinstance(who, bytes) else who] for kind, who in self.peers]
        return {"ssl": self.ssl, "kerberos": self.kerberos, "realm": REALM, "peers": peers}


def cases(seed: int, count: int) -> Iterator[Case]:
    """Yield generated cases, the same for the same seed."""
    dice = random.Random(seed)  # noqa: S311 -- cases, not keys
    for number in range(count):
        ssl = _rules(dice, _ssl_rule) if number % 2 else None
        kerberos = None if number % 2 else _rules(dice, _kerberos_rule)
        others = (("SSL", None), ("PLAINTEXT", None), ("PLAIN", dice.choice(_USERS[1:3])))
        peers = [("SSL", _subject(dice)) for _ in range(5)] if number % 2 else [(KERBEROS, _user(dice)) for _ in range(5)]
        yield Case(ssl=ssl, kerberos=kerberos, peers=(*peers, *others))


def _at_times(dice: random.Random, share: float) -> bool:
    return dice.random() < share


def _rules(dice: random.Random, rule: Callable[[random.Random], str]) -> str:
    texts = [rule(dice) for _ in range(dice.randint(1, 3))] + ["DEFAULT"] * _at_times(dice, 0.4)
    text = dice.choice((",", ", ", " , ")).join(texts)
    if _at_times(dice, 0.1):
        place = dice.randrange(len(text) + 1)
        text = text[:place] + dice.choice("/,\\ ]LxR:[(") + text[place + dice.randint(0, 1) :]
    return text + dice.choice(("", "", " ", ",")) * _at_times(dice, 0.2)


def _pattern(dice: random.Random) -> str:
    if _at_times(dice, 0.85):
        return dice.choice(_PATTERNS)
    pieces = dice.choices(_PIECES, k=dice.randint(1, 6))
    return "".join(pieces) if _at_times(dice, 0.3) else f"{''.join(pieces)}.*"


def _ssl_rule(dice: random.Random) -> str:
    return f"RULE:{_pattern(dice)}/{dice.choice(_TARGETS)}/{dice.choice(('', '', 'L', 'U'))}"


def _kerberos_rule(dice: random.Random) -> str:
    match = f"({_pattern(dice).replace(')', '')})" if _at_times(dice, 0.5) else ""
    change = f"s/{_pattern(dice)}/{dice.choice(_TARGETS)}/{dice.choice(('', 'g'))}" if _at_times(dice, 0.5) else ""
    case = dice.choice(("", "", "/L", "/U"))
    return f"RULE:[{dice.choice('1122230')}:{dice.choice(_FORMATS)}]{match}{change}{case}"


def _user(dice: random.Random) -> str:
    return dice.choice(_USERS) + dice.choice(_REALMS)


def _subject(dice: random.Random) -> bytes:
    groups = [x509.RelativeDistinguishedName([_attribute(dice)]) for _ in range(dice.randint(0, 4))]
    if _at_times(dice, 0.1):
        pair = [x509.NameAttribute(NameOID.COMMON_NAME, "two"), x509.NameAttribute(NameOID.USER_ID, "at once")]
        groups.append(x509.RelativeDistinguishedName(pair))
    if _at_times(dice, 0.8):
        groups.append(x509.RelativeDistinguishedName([x509.NameAttribute(NameOID.COMMON_NAME, dice.choice(_VALUES))]))
    return x509.Name(groups).public_bytes()


def _attribute(dice: random.Random) -> x509.NameAttribute[str]:
    value = dice.choice(_VALUES)
    kinds = ["UTF8String", "BMPString"] if not value.isascii() else [*_TEXT]
    kind = dice.choice(kinds) if max(value) <= "\uffff" else "UTF8String"
    return x509.NameAttribute(dice.choice(_ATTRIBUTES), value, _TEXT[kind])
