"""The certificate that a TLS endpoint presented, from its DER form, with names as Java writes them. The bytes are not trusted."""

import base64
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from kafka_audit.clients.read_error import clean_line
from kafka_audit.compare.addresses import canonical_host, ip_address_of
from kafka_audit.model.tables import AuthorityCertificate, Certificate

if TYPE_CHECKING:
    from cryptography import x509

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


_LONGEST_KEY = 32  # bytes; RFC 5280 proposes the 20 of SHA-1
_MOST_NAMES = 100
_MOST_AUTHORITIES = 500


def decode_certificate(shown: str, host: str) -> dict[str, object] | None:
    """Return the fields of a `Certificate` row from the certificate, None if it cannot be read.

    Args:
        shown: the certificate, DER in base64.
        host: the advertised host that its names are compared with.
    """
    from cryptography import x509  # noqa: PLC0415 -- takes 40 ms, and a cluster without TLS shows no certificate

    try:
        found = x509.load_der_x509_certificate(base64.b64decode(shown, validate=True))
        names, addresses = _names(found)
        subject, issuer = java_name(found.subject.public_bytes()), found.issuer.rfc4514_string()
        common = [str(attribute.value) for attribute in found.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)]
        dates = {"not_before_ms": _ms(found.not_valid_before_utc), "not_after_ms": _ms(found.not_valid_after_utc)}
    # TypeError: an attribute of a name whose type is not its own, e.g. a country as a string of bits.
    except (ValueError, TypeError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType, x509.InvalidVersion):
        return None
    return {
        "subject": clean_line(subject),
        "issuer": clean_line(issuer),
        "issuer_key": _issuer_key(found),
        "sans": tuple(sorted(clean_line(name) for name in (names + addresses)[:_MOST_NAMES])),
        **dates,
        "name_matches": matches(host, names or common, addresses),
    }


def _issuer_key(certificate: "x509.Certificate") -> str | None:
    """Return the identifier of the key that signed a certificate: a CA that is replaced often keeps its name."""
    from cryptography import x509  # noqa: PLC0415 -- see above

    try:
        named = certificate.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    except x509.ExtensionNotFound:
        return None
    return None if named is None else named[:_LONGEST_KEY].hex()


def read_authorities(pem: bytes, file: str, sample: int) -> tuple[AuthorityCertificate, ...]:
    """Return the certificates of a file in PEM format; none where it holds anything else."""
    from cryptography import x509  # noqa: PLC0415 -- see above

    try:
        found = x509.load_pem_x509_certificates(pem)
    except ValueError:
        return ()
    rows = []
    for authority in found[:_MOST_AUTHORITIES]:
        with suppress(ValueError, TypeError):  # an unreadable date or name
            rows.append(
                AuthorityCertificate(
                    sample=sample,
                    file=clean_line(file),
                    subject=clean_line(authority.subject.rfc4514_string()),
                    issuer=clean_line(authority.issuer.rfc4514_string()),
                    not_before_ms=_ms(authority.not_valid_before_utc),
                    not_after_ms=_ms(authority.not_valid_after_utc),
                )
            )
    return tuple(rows)


def matches(host: str, names: list[str], addresses: list[str]) -> bool:
    """Return whether a certificate's names cover a host: addresses exactly, names in any case and with one `*` label in front."""
    number = ip_address_of(host.partition("%")[0])
    if number is not None:
        return str(number) in addresses
    wanted = canonical_host(host)
    _, _, parent = wanted.partition(".")
    given = {canonical_host(name) for name in names}
    return wanted in given or ("." in parent and f"*.{parent}" in given)


def certificate_row(  # noqa: PLR0913 -- one argument a column
    shown: str,
    *,
    sample: int,
    vantage: str,
    broker_id: int,
    listener: str,
    host: str,
    port: int,
    trusted: bool | None,
    error: str | None,
) -> Certificate | None:
    """Return the row of what was shown, None where it is no certificate."""
    evidence = decode_certificate(shown, host)
    if evidence is None:
        return None
    where = {"sample": sample, "vantage": vantage, "broker_id": broker_id, "listener": listener, "host": host, "port": port}
    return Certificate(**where, **evidence, trusted=trusted, error=error)  # type: ignore[arg-type] # columns by name, see `decode_certificate`


def _names(certificate: "x509.Certificate") -> tuple[list[str], list[str]]:
    from cryptography import x509  # noqa: PLC0415 -- see above

    try:
        sans = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return [], []
    return sans.get_values_for_type(x509.DNSName), [str(address) for address in sans.get_values_for_type(x509.IPAddress)]


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
