"""The certificate that a TLS endpoint presented, from its DER form. The bytes are not trusted."""

import base64
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from kafka_audit.clients.read_error import clean_line
from kafka_audit.collect.probes.certificate_names import java_name
from kafka_audit.compare.hosts import canonical_host, ip_address_of
from kafka_audit.model.tables import AuthorityCertificate, Certificate

if TYPE_CHECKING:
    from cryptography import x509

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
        "sans": tuple(sorted(clean_line(name) for name in (names + addresses)[:_MOST_NAMES])),
        **dates,
        "name_matches": matches(host, names or common, addresses),
    }


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
