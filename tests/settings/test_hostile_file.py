"""A cluster file that stands for more than it holds, or is larger than any, is refused in one line."""

from itertools import pairwise

import pytest

from kafka_audit import settings
from kafka_audit.model.errors import UsageError

LEVELS = "abcdefghijklmnop"


def levels(first, form):
    text = f"{LEVELS[0]}: &{LEVELS[0]} {first}\n"
    return text + "".join(f"{name}: &{name} {form.format(','.join([f'*{before}'] * 9))}\n" for before, name in pairwise(LEVELS))


HOSTILE = {
    "lists of lists": (levels("[x,x,x]", "[{}]"), "has aliases that expand to more than 500000 values"),
    "merges of merges": (levels("{x: y}", "{{<<: [{}]}}"), "has aliases that expand to more than 500000 values"),
    "size": ("clusters:\n" + "".join(f"  c{i}: {{bootstrap: ['b:1']}}\n" for i in range(300_000)), "larger than 1 MB"),
    "brackets": ("clusters: " + "[" * 100_000, "is nested too deeply"),
    "values": ("clusters: [" + "x," * 510_000 + "x]", "contains more than 500000 values"),
}


@pytest.mark.parametrize(("text", "words"), HOSTILE.values(), ids=HOSTILE.keys())
def test_it_is_refused_in_one_line(tmp_path, text, words):
    (tmp_path / "clusters.yaml").write_text(text)
    with pytest.raises(UsageError, match=words) as raised:
        settings.load(tmp_path / "clusters.yaml")
    assert "\n" not in str(raised.value)


def test_endless_devices_are_not_read_to_their_end():
    with pytest.raises(UsageError, match="larger than 1 MB, the limit for a cluster file"):
        settings.load("/dev/zero")


def test_three_hundred_clusters_that_share_anchors_are_loaded(tmp_path):
    shared = "limits: &limits {read_s: 10, audit_s: 300}"
    text = f"clusters:\n  first:\n    bootstrap: [b:9092]\n    {shared}\n" + "".join(
        f"  c{i}:\n    bootstrap: [b{i}.example.com:9092]\n    limits: {{<<: *limits, settle_s: 1}}\n" for i in range(300)
    )
    (tmp_path / "clusters.yaml").write_text(text)
    assert len(settings.load(tmp_path / "clusters.yaml")) == 301
