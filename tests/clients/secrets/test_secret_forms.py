"""The forms in which another party may repeat a secret."""

import base64
from urllib.parse import quote

from kafka_audit.clients.secrets.masking import secret_forms

KEY = "aGFzaGVkLWtleS1vZi1hLW5hbWVzcGFjZQ=="
STRING = f"Endpoint=sb://space.servicebus.windows.net/;SharedAccessKeyName=auditor;SharedAccessKey={KEY};EntityPath=orders"


def hidden(text, secret):
    for form in secret_forms(secret):
        text = text.replace(form, "***")
    return text


def test_the_key_in_a_connection_string_is_a_secret_by_itself():
    for form in (KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode(), KEY.encode().hex()):
        assert hidden(f"login with {form} failed", STRING) == "login with *** failed"
    assert hidden(f"login with {STRING} failed", STRING) == "login with *** failed"


def test_what_is_no_secret_in_a_connection_string_stays():
    text = "Endpoint sb://space.servicebus.windows.net/ does not know auditor"
    assert hidden(text, STRING) == text


def test_another_password_has_no_parts():
    assert hidden("one word of it: horse", "correct horse") == "one word of it: horse"
