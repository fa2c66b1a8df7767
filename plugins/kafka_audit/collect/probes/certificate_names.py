"""Names of certificates as Java writes them, since Kafka's rules and ACLs are written for these. Pure.

Source: `javax.security.auth.x500.X500Principal.getName()` (RFC 2253) and `sun.security.x509.AVA.toRFC2253String` of Java 17.
"""

from collections.abc import Iterator

_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
_TEXTS = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1C, 0x1E})  # UTF8, Printable, T61, IA5, General, Universal, BMP
_ESCAPED = frozenset(',=+<>#;"\\')
_LONG = 0x80
_BROKEN = "a name that ends too early"


def java_name(der: bytes) -> str:
    """Return a distinguished name, given as DER, in Java's words; raises ValueError where it is broken."""
    _, content, _ = _taken(der, 0)
    return ",".join("+".join(_pair(data) for data in _each(group)) for group in reversed([*_each(content)]))


def _pair(content: bytes) -> str:
    """Return `CN=name`; a value of an attribute without keyword, or that is no text, in hexadecimal."""
    _, oid, at = _taken(content, 0)
    keyword = _KEYWORDS.get(_dotted(oid))
    tag, value, _ = _taken(content, at)
    if keyword is None or tag not in _TEXTS:
        return f"{keyword or _dotted(oid)}=#{content[at:].hex()}"
    # Java takes the bytes for UTF-8 whatever the tag says.
    return f"{keyword}={_escaped(value.decode('utf-8', 'replace'))}"


def _escaped(text: str) -> str:
    shown = ["\\00" if char == "\0" else f"\\{char}" if char in _ESCAPED else char for char in text]
    blanks = [char in {" ", "\r"} for char in text]
    first = blanks.index(False) if False in blanks else len(blanks)
    last = len(blanks) - blanks[::-1].index(False) if False in blanks else len(blanks)
    return "".join(f"\\{label}" if place < first or place >= last else label for place, label in enumerate(shown))


def _dotted(oid: bytes) -> str:
    if not oid or oid[-1] >= _LONG:
        raise ValueError(_BROKEN)
    numbers, value = [], 0
    for byte in oid:
        value = value << 7 | byte & 0x7F
        if byte < _LONG:
            numbers.append(value)
            value = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _each(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        _, inside, at = _taken(content, at)
        yield inside


def _taken(data: bytes, at: int) -> tuple[int, bytes, int]:
    """Return tag, content and where the next element begins."""
    if at + 2 > len(data):
        raise ValueError(_BROKEN)
    size, start = data[at + 1], at + 2
    if size >= _LONG:
        start += size - _LONG
        size = int.from_bytes(data[at + 2 : start])
    if start + size > len(data):
        raise ValueError(_BROKEN)
    return data[at], data[start : start + size], start + size
