"""What another provider's notifier gets of a message that quotes a cluster: text, whatever the channel makes of it."""

import sys
import types

import pytest

from kafka_audit.airflow.alerts import alert_channels
from kafka_audit.alerting.messages import AlertMessage

HOSTILE = "Topic <b>x</b> & <!channel> <https://evil.example|here> [l](https://evil.example) @everyone `id` *b*"
MESSAGE = AlertMessage(key="k", first=True, subject=f"[NEW] {HOSTILE}", facts=(HOSTILE,))


@pytest.fixture
def sent(monkeypatch):
    """Return a function that sends the message by a class in a module of that name, and returns what the class got."""

    def send(module, **arguments):
        received = {}

        class Notifier:
            def __init__(self, **fields):
                received.update(fields)

            def notify(self, context):
                pass

        made = types.ModuleType(module)
        made.Notifier = Notifier
        monkeypatch.setitem(sys.modules, module, made)
        entry = {"notifier": f"{module}.Notifier", **arguments}
        monkeypatch.setattr(alert_channels.environment, "notifier_list", lambda: alert_channels.json.dumps([entry]))
        (channel,) = alert_channels.notifiers()
        channel.send(MESSAGE)
        return received

    return send


def test_slack_gets_no_mention_link_or_code(sent):
    (text,) = sent("slack_module", text="{subject} {text}").values()
    assert not {"<", ">", "`"} & set(text)
    assert "&lt;!channel&gt;" in text


@pytest.mark.parametrize("arguments", [{"html_content": "{subject}{text}"}, {"body": "{subject}{text}", "body_format": "html"}])
def test_html_gets_text(sent, arguments):
    text = next(iter(sent("mail_module", **arguments).values()))
    assert "<b>" not in text
    assert "&lt;b&gt;x&lt;/b&gt; &amp;" in text


@pytest.mark.parametrize(
    ("module", "arguments"),
    [("discord_module", {"text": "{subject}"}), ("x_module", {"body": "{subject}", "body_format": "markdown"})],
)
def test_markdown_gets_no_link_mention_or_code(sent, module, arguments):
    text = next(iter(sent(module, **arguments).values()))
    assert "](https" not in text.replace("\\]", "")
    assert "`@everyone`" in text
    assert "`id`" not in text.replace("\\`", "")


def test_plain_text_stays_as_it_is(sent):
    message = sent("pager_module", summary="{subject}", nested={"list": ["{key}", "{action}", 7]})
    assert message == {"summary": f"[NEW] {HOSTILE}", "nested": {"list": ["k", "trigger", 7]}}
