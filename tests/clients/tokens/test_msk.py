"""Tokens of Amazon MSK, against their documented form only: there is no MSK here that could accept or refuse one."""

import base64
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.tokens import cloud
from kafka_audit.clients.tokens.cloud import fetch_msk_token

KEY_ID, SECRET_KEY = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


@pytest.fixture
def aws(monkeypatch, tmp_path):
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return monkeypatch


def test_a_token_has_the_form_that_amazon_documents(aws):
    aws.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    aws.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    token = fetch_msk_token("eu-west-1", 10.0)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", token.value)
    url = urlsplit(base64.urlsafe_b64decode(token.value + "=" * (-len(token.value) % 4)).decode())
    fields = {name: values[0] for name, values in parse_qs(url.query).items()}
    assert (url.scheme, url.netloc, url.path) == ("https", "kafka.eu-west-1.amazonaws.com", "/")
    assert fields["Action"] == "kafka-cluster:Connect"
    assert fields["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
    assert re.fullmatch(rf"{KEY_ID}/\d{{8}}/eu-west-1/kafka-cluster/aws4_request", fields["X-Amz-Credential"])
    assert fields["X-Amz-Expires"] == "900"
    assert fields["X-Amz-SignedHeaders"] == "host"
    assert re.fullmatch(r"[0-9a-f]{64}", fields["X-Amz-Signature"])
    assert "User-Agent" in fields
    assert 880 < token.lifetime_s <= 900
    assert SECRET_KEY not in url.query
    assert token.about == "AWS region eu-west-1"


@pytest.mark.usefixtures("aws")
def test_without_credentials_the_row_says_so():
    with pytest.raises(ReadError) as caught:
        fetch_msk_token("eu-west-1", 10.0)
    assert (caught.value.error, caught.value.message) == ("no token", "this worker has no AWS credentials")
    assert "AWS_PROFILE" in caught.value.needs


def test_a_profile_that_does_not_exist_is_named(aws):
    aws.setenv("AWS_PROFILE", "audits")
    with pytest.raises(ReadError, match=r"no token: no AWS credentials \(The config profile \(audits\) could not be found\)"):
        fetch_msk_token("eu-west-1", 10.0)


def test_without_the_extra_it_is_named(aws):
    aws.setattr(cloud, "find_spec", lambda _name: None)
    with pytest.raises(ReadError, match="not supported") as caught:
        fetch_msk_token("eu-west-1", 10.0)
    assert "pip install 'kafka-audit[msk]'" in caught.value.needs
