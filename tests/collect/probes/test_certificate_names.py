"""Subjects as Java writes them; many more are compared with Java itself in tests/configuration/principals."""

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from kafka_audit.collect.probes.certificates import java_name


def der(*pairs):
    return x509.Name([x509.NameAttribute(oid, value) for oid, value in pairs]).public_bytes()


@pytest.mark.parametrize(
    ("pairs", "name"),
    [
        (((NameOID.COUNTRY_NAME, "DE"), (NameOID.ORGANIZATION_NAME, "A, B"), (NameOID.COMMON_NAME, "k")), "CN=k,O=A\\, B,C=DE"),
        (((NameOID.COMMON_NAME, "a=b#c"),), "CN=a\\=b\\#c"),
        (((NameOID.COMMON_NAME, " a b "),), "CN=\\ a b\\ "),
        (((NameOID.EMAIL_ADDRESS, "a@b"),), "1.2.840.113549.1.9.1=#1603614062"),
        ((), ""),
    ],
)
def test_names_are_java_s(pairs, name):
    assert java_name(der(*pairs)) == name


def test_a_name_cut_anywhere_is_refused():
    whole = der((NameOID.COMMON_NAME, "kafka"), (NameOID.EMAIL_ADDRESS, "a@b"))
    for end in range(len(whole)):
        with pytest.raises(ValueError, match="ends too early"):
            java_name(whole[:end])
