"""A throw-away certificate authority, with certificates that are right or wrong in a chosen way."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = timedelta(days=1)
VALID_FOR = 400 * DAY  # KA307 and KA318 warn in the last weeks
OWNER_ONLY = 0o600
STORE_PASSWORD = "bed-store-password"  # noqa: S105 -- of throw-away keys


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """How a certificate is made.

    Attributes:
        san: addresses and DNS names that it is good for; None for those of the host it is given to.
        valid_for: time until it expires; negative, it has expired already.
        valid_since: when it begins to be valid, as time until then; negative, it has begun.
        foreign: whether an authority signed it that only its own host trusts.
        renamed: whether such an authority has another name; False: only another key, as after a CA was made anew.
        for_servers: whether it may not be shown by a client (extended key usage).
    """

    san: tuple[str, ...] | None = None
    valid_for: timedelta = VALID_FOR
    valid_since: timedelta = -VALID_FOR
    foreign: bool = False
    renamed: bool = True
    for_servers: bool = False


@dataclass(frozen=True, kw_only=True)
class KeyPair:
    """Files of one party, PEM, readable by their owner only.

    Attributes:
        certificate: the certificate.
        key: its private key, PKCS #8, without password.
        keystore: both in one PEM file, as ZooKeeper reads it.
        pkcs12: both in one PKCS #12 file with `STORE_PASSWORD`; Kafka 2.8 refuses a PEM key without password.
        truststore: the certificates that this party trusts.
    """

    certificate: Path
    key: Path
    keystore: Path
    pkcs12: Path
    truststore: Path


class Authority:
    """A certificate authority with its files in one folder."""

    def __init__(self, folder: Path, name: str = "bed", valid_for: timedelta = VALID_FOR) -> None:
        """Make key and certificate.

        Args:
            folder: made if missing; ``<name>-ca.pem`` is what others trust.
            name: common name, and the organisation in every subject.
            valid_for: time until the authority's own certificate expires.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._name = name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _subject(f"{name} CA", name)
        self.ca_file = folder / f"{name}-ca.pem"
        self.renew(valid_for)

    def renew(self, valid_for: timedelta = VALID_FOR) -> None:
        """Write another certificate of the same key into `ca_file`; what was issued before stays valid."""
        made = self._builder(self._subject, self._key.public_key(), valid_for)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.ca_file.write_bytes(_pem(made.sign(self._key, hashes.SHA256())))

    def issue(self, name: str, san: tuple[str, ...], wanted: Certificate | None = None) -> KeyPair:
        """Make a key and a certificate with the subject ``CN=<name>,O=<authority>``.

        A broker checks its own inter-broker certificate when it starts and would refuse one that has expired or that it
        does not trust; so such a party trusts its own certificate, which Java then accepts without looking at its dates.

        Args:
            name: common name, also the file name.
            san: names and addresses of the host.
            wanted: how it differs from a right one.
        """
        wanted = wanted or Certificate()
        if wanted.foreign:
            stranger = (
                Authority(self._folder, f"{name}-stranger")
                if wanted.renamed
                else Authority(self._folder / f"{name}-anew", self._name)
            )
            pair = stranger.issue(name, san, Certificate(san=wanted.san, valid_for=wanted.valid_for))
            trusted = pair.truststore.read_bytes() + self.ca_file.read_bytes()
            return self._write(name, pair.certificate.read_bytes(), pair.key.read_bytes(), trusted)
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._builder(_subject(name, self._name), key.public_key(), wanted.valid_for, wanted.valid_since)
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        made = made.add_extension(signer, critical=False)
        if wanted.for_servers:
            made = made.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        if names := wanted.san if wanted.san is not None else san:
            made = made.add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        certificate = _pem(made.sign(self._key, hashes.SHA256()))
        trusted = self.ca_file.read_bytes() + (certificate if wanted.valid_for < timedelta(0) else b"")
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return self._write(name, certificate, private, trusted)

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, valid_for: timedelta, valid_since: timedelta = -VALID_FOR
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._subject)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + valid_since)
            .not_valid_after(now + valid_for)
        )

    def _write(self, name: str, certificate: bytes, key: bytes, trusted: bytes) -> KeyPair:
        store = pkcs12.serialize_key_and_certificates(
            name.encode(),
            serialization.load_pem_private_key(key, None),  # type: ignore[arg-type]  # of its own making
            x509.load_pem_x509_certificate(certificate),
            None,
            serialization.BestAvailableEncryption(STORE_PASSWORD.encode()),
        )
        contents = {"cert.pem": certificate, "key.pem": key, "keystore.pem": key + certificate, "truststore.pem": trusted}
        paths = {}
        for end, content in (contents | {"keystore.p12": store}).items():
            path = paths[end] = self._folder / f"{name}-{end}"
            path.touch(OWNER_ONLY)
            path.chmod(OWNER_ONLY)
            path.write_bytes(content)
        return KeyPair(
            certificate=paths["cert.pem"],
            key=paths["key.pem"],
            keystore=paths["keystore.pem"],
            pkcs12=paths["keystore.p12"],
            truststore=paths["truststore.pem"],
        )


def _subject(common_name: str, organisation: str) -> x509.Name:
    # Kafka prints a subject from its end: CN first, as `User:CN=broker-0,O=bed` in super.users.
    return x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation), x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    )


def _general_name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
