"""Texts with which an attacker harms the readers of a report, put into every text of a snapshot and of findings."""

import re
import unicodedata
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser

from msgspec import structs

import small_cluster
from kafka_audit.checks import catalogue
from kafka_audit.incidents import findings
from kafka_audit.incidents.causes import incidents
from kafka_audit.model.finding import Change, Judgement, Status
from kafka_audit.report.document import build_report

MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&amp;"
CONTROL = "\x1b[31m\x1b]0;title\x07\x00\r\n\x9b2J\u2028"
TURNED = "\u202egnp.exe\u2066\u200f\u200b\ufeff\u3164"
OTHERS = "`reboot`$(reboot)[l](javascript:alert(1))|**b**<!channel>@all{{ 7*7 }}"
PLANTED = f"{MARKUP}{CONTROL}{TURNED}{OTHERS}"
LONG = PLANTED + "x" * 65536
LINKS = (
    "[l](https://evil.example) ![i](https://evil.example/i.png) \\[m](https://evil.example) \\\\[n](//e)"
    " www.evil.example https://evil.example @all/team #1 `@all` <a@evil.example>"
)
"""What Markdown, SARIF and the trackers that show them make links, pictures and calls of."""

ORDERS = (
    "\r\n::stop-commands::t ::add-mask::a ##[add-mask]b ##vso[task.setvariable variable=c]d ##teamcity[x]"
    " [[ATTACHMENT|/etc/passwd]]"
)
"""What build servers obey in the output of a step, or in test results."""

STRINGS = (PLANTED, LONG, f"{'y' * 100}{CONTROL}{'z' * 65536}", LINKS, ORDERS)
NAMES = ("planted", "long", "long inside", "links", "orders")

MOST_BYTES = 1_200_000
_NAMES = ("broker/0/listener/{}", "broker/0/logdir/{}", "topic/{}", "topic/{}/partition/0", "cluster")
_SPEC = {
    "brokers": {0: "a:9092", 1: "b:9092", 2: "c:9092"},
    "views": {2: "empty"},
    "topics": {"orders": {"partitions": {0: {"replicas": [0, 1, 2]}, 1: {"replicas": [1, 2], "isr": [1]}}}},
    "probes": [{"to": 2, "from": 0, "layer": "tcp", "error": "no route to host"}, {"to": 1, "vantage": "worker"}],
    "configs": {0: {"authorizer.class.name": "A", "super.users": "User:a", "listeners": "PLAINTEXT://a:9092"}},
    "properties": {1: {"super.users": "User:b", "log.dirs": "/data"}},
    "acls": [["User:a", "All", "DENY"], ["User:b", "ClusterAction", "ALLOW"]],
    "logs": [{"broker": 0, "about": 2, "signature": "connection_not_established"}],
    "groups": {"billing": {"at": 1, "client": "sarama", "host": "10.1.1.1", "partitions": ["orders-0"]}},
    "reads": [{"observer": "broker:2", "operation": "Metadata", "error": "timeout", "message": "m", "needs": "n"}],
    "info": {"broker_vantages": 1},
}
# What is one of a few words of ours, or leads from one table to another, is not the cluster's to choose.
_OURS = {
    "observer", "protocol", "layer", "outcome", "role", "mode", "permission", "pattern_type", "resource_type", "operation",
    "signature", "reason", "topics_digest", "topic_digest", "content_digest", "brokers_digest", "acls_digest", "vantage",
    "cluster", "asked_as",
}  # fmt: skip

_COUNTED = {"broker": "2", "controller": "0", "from": "0", "count": "1", "leaderless": "1", "missing": "1", "replicas": "3"}


def snapshot(string):
    """Return the rows of such a cluster."""
    honest = small_cluster.snapshot(_SPEC)
    spoilt = (
        replace(row, **{key: string for key, value in vars(row).items() if key not in _OURS and isinstance(value, str)})
        for row in honest.rows
    )
    return replace(honest, cluster_id=string, rows=tuple(spoilt))


def document(string, cluster="prod"):
    """Return a report on a cluster that says `string` wherever it may say anything, with a failure of every check."""
    found = snapshot(string)
    view = small_cluster.view(found)
    judged = list(_judgements(found.snapshot_id, string))
    judged_findings = findings.findings_with_lifecycle(view, judged, mutes=(), previous_report=None, today=date(2026, 9, 14))
    kinds = ("broker_came", "endpoint", "config", "acl", "topic_created", "version")
    changes = [Change(kind=kind, resource=string, before=string, after=string) for kind in kinds]
    causes = incidents(view, judged_findings, changes)
    found = build_report(view, None, judged_findings, causes, changes, None, show_all=True, passed_over=[string])
    return structs.replace(found, cluster=cluster)


def _judgements(snapshot_id, string):
    for check in catalogue().values():
        for status in (Status.FAIL, Status.UNKNOWN):
            texts = [*check.says.values(), check.doc, "{needs}{why}"]
            keys = {key for text in texts for key in re.findall(r"\{(\w+)\}", text)}
            evidence = dict.fromkeys(keys, string) | _COUNTED | {"names": (string,), "parts": ({"name": string},)}
            for name in _NAMES if status is Status.FAIL else ("broker/1",):
                yield Judgement(
                    snapshot_id=snapshot_id, code=check.code, resource=name.format(string), status=status, evidence=evidence
                )


def unshown(text):
    """Return the characters of a text that would act on a terminal, turn or hide what is read."""
    return {char for char in set(text) if char not in "\n\t" and unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp", "Co"}} | (
        set(text) & {"\u3164"}
    )


def orders(output):
    """Return what build servers would obey in the output of a step: GitHub trims lines first, and finds `##[` anywhere."""
    lines = re.split(r"\r\n|\r|\n", output)
    found = [line for line in lines if re.match(r"\s*::[A-Za-z-]+( .*?)?::", line) and not re.match(r"\s*::[0-9a-fA-F]*:", line)]
    return found + re.findall(r"##\w*\[.{0,40}|\[\[ATTACHMENT\|.{0,40}", output)


class Elements(HTMLParser):
    """What a browser would make of a page: elements, attributes and texts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.says = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.says.append(data)


def harmless(page, scripts=1):
    """Assert that of what was planted nothing became an element, a handler, a link or a character that acts."""
    found = Elements(page)
    assert "img" not in found.tags
    assert found.tags.count("script") <= scripts
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert not [value for name, value in found.attributes if name in {"href", "src", "action"} and "script:" in (value or "")]
    assert unshown(page) == set()
    assert "x" * 5000 not in page
    assert "z" * 5000 not in page
    assert len(page.encode()) < MOST_BYTES
