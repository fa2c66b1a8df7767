"""What the classes of a release can log is read from their code; the class here was made by javac 17 from SOURCE."""

import base64
import shutil
import zipfile
from collections import Counter

import pytest

from testbed.says.calls import Line, lines_of
from testbed.says.code import HOLE, formatted, joined, substituted
from testbed.says.count import count

SOURCE = """
    void of(boolean fenced, Exception cause) {
        log.warn("Broker {} is slow", name);
        log.error("Epoch " + size + (fenced ? " is fenced" : " is new") + '.', cause);
        String text = String.format("Disk %s of %d failed%n", name, 3);
        log.error(text);
        StringBuilder built = new StringBuilder("Topics: ");
        built.append(name).append(", ").append(7);
        log.error(built.toString());
        for (int tries = 0; tries < 5; tries++) log.error("Try " + tries + " failed");
        log.debug("not kept");
        if (fenced) throw new IllegalArgumentException("Name " + name + " is taken");
        log.info(reason("x"));
    }
    private String reason(String part) { return "Because of " + part + name; }
"""
CLASS = """
yv66vgAAAD0AhAoAAgADBwAEDAAFAAYBABBqYXZhL2xhbmcvT2JqZWN0AQAGPGluaXQ+AQADKClWCQAIAAkHAAoMAAsADAEAIG9yZy9hcGFjaGUva2Fma2
EvZXhhbXBsZS9FeGFtcGxlAQADbG9nAQASTG9yZy9zbGY0ai9Mb2dnZXI7CAAOAQARQnJva2VyIHt9IGlzIHNsb3cJAAgAEAwAEQASAQAEbmFtZQEAEkxq
YXZhL2xhbmcvU3RyaW5nOwsAFAAVBwAWDAAXABgBABBvcmcvc2xmNGovTG9nZ2VyAQAEd2FybgEAJyhMamF2YS9sYW5nL1N0cmluZztMamF2YS9sYW5nL0
9iamVjdDspVgkACAAaDAAbABwBAARzaXplAQABSggAHgEACiBpcyBmZW5jZWQIACABAAcgaXMgbmV3EgAAACIMACMAJAEAF21ha2VDb25jYXRXaXRoQ29u
c3RhbnRzAQAnKEpMamF2YS9sYW5nL1N0cmluZzspTGphdmEvbGFuZy9TdHJpbmc7CwAUACYMACcAKAEABWVycm9yAQAqKExqYXZhL2xhbmcvU3RyaW5nO0
xqYXZhL2xhbmcvVGhyb3dhYmxlOylWCAAqAQAWRGlzayAlcyBvZiAlZCBmYWlsZWQlbgoALAAtBwAuDAAvADABABFqYXZhL2xhbmcvSW50ZWdlcgEAB3Zh
bHVlT2YBABYoSSlMamF2YS9sYW5nL0ludGVnZXI7CgAyADMHADQMADUANgEAEGphdmEvbGFuZy9TdHJpbmcBAAZmb3JtYXQBADkoTGphdmEvbGFuZy9TdH
Jpbmc7W0xqYXZhL2xhbmcvT2JqZWN0OylMamF2YS9sYW5nL1N0cmluZzsLABQAOAwAJwA5AQAVKExqYXZhL2xhbmcvU3RyaW5nOylWBwA7AQAXamF2YS9s
YW5nL1N0cmluZ0J1aWxkZXIIAD0BAAhUb3BpY3M6IAoAOgA/DAAFADkKADoAQQwAQgBDAQAGYXBwZW5kAQAtKExqYXZhL2xhbmcvU3RyaW5nOylMamF2YS
9sYW5nL1N0cmluZ0J1aWxkZXI7CABFAQACLCAKADoARwwAQgBIAQAcKEkpTGphdmEvbGFuZy9TdHJpbmdCdWlsZGVyOwoAOgBKDABLAEwBAAh0b1N0cmlu
ZwEAFCgpTGphdmEvbGFuZy9TdHJpbmc7EgABAE4MACMATwEAFShJKUxqYXZhL2xhbmcvU3RyaW5nOwgAUQEACG5vdCBrZXB0CwAUAFMMAFQAOQEABWRlYn
VnBwBWAQAiamF2YS9sYW5nL0lsbGVnYWxBcmd1bWVudEV4Y2VwdGlvbhIAAgBYDAAjAFkBACYoTGphdmEvbGFuZy9TdHJpbmc7KUxqYXZhL2xhbmcvU3Ry
aW5nOwoAVQA/CABcAQABeAoACABeDABfAFkBAAZyZWFzb24LABQAYQwAYgA5AQAEaW5mbxIAAwBkDAAjAGUBADgoTGphdmEvbGFuZy9TdHJpbmc7TGphdm
EvbGFuZy9TdHJpbmc7KUxqYXZhL2xhbmcvU3RyaW5nOwEABENvZGUBAA9MaW5lTnVtYmVyVGFibGUBAAJvZgEAGShaTGphdmEvbGFuZy9FeGNlcHRpb247
KVYBAA1TdGFja01hcFRhYmxlBwBsAQATamF2YS9sYW5nL0V4Y2VwdGlvbgEAClNvdXJjZUZpbGUBAAxFeGFtcGxlLmphdmEBABBCb290c3RyYXBNZXRob2
RzDwYAcQoAcgBzBwB0DAAjAHUBACRqYXZhL2xhbmcvaW52b2tlL1N0cmluZ0NvbmNhdEZhY3RvcnkBAJgoTGphdmEvbGFuZy9pbnZva2UvTWV0aG9kSGFu
ZGxlcyRMb29rdXA7TGphdmEvbGFuZy9TdHJpbmc7TGphdmEvbGFuZy9pbnZva2UvTWV0aG9kVHlwZTtMamF2YS9sYW5nL1N0cmluZztbTGphdmEvbGFuZy
9PYmplY3Q7KUxqYXZhL2xhbmcvaW52b2tlL0NhbGxTaXRlOwgAdwEACUVwb2NoIAEBLggAeQEADFRyeSABIGZhaWxlZAgAewEAD05hbWUgASBpcyB0YWtl
bggAfQEADUJlY2F1c2Ugb2YgAQEBAAxJbm5lckNsYXNzZXMHAIABACVqYXZhL2xhbmcvaW52b2tlL01ldGhvZEhhbmRsZXMkTG9va3VwBwCCAQAeamF2YS
9sYW5nL2ludm9rZS9NZXRob2RIYW5kbGVzAQAGTG9va3VwACAACAACAAAAAwAAAAsADAAAAAAAGwAcAAAAAAARABIAAAADAAAABQAGAAEAZgAAAB0AAQAB
AAAABSq3AAGxAAAAAQBnAAAABgABAAAAAwAAAGgAaQABAGYAAAFMAAUABgAAAMsqtAAHEg0qtAAPuQATAwAqtAAHKrQAGRuZAAgSHacABRIfugAhAAAsuQ
AlAwASKQW9AAJZAyq0AA9TWQQGuAArU7gAMU4qtAAHLbkANwIAuwA6WRI8twA+OgQZBCq0AA+2AEASRLYAQBAHtgBGVyq0AAcZBLYASbkANwIAAzYFFQUI
ogAZKrQABxUFugBNAAC5ADcCAIQFAaf/5yq0AAcSULkAUgIAG5kAFLsAVVkqtAAPugBXAAC3AFq/KrQAByoSW7YAXbkAYAIAsQAAAAIAZwAAADIADAAAAA
YADwAHAC0ACABFAAkATwAKAFoACwBuAAwAfAANAJsADgCmAA8AuwAQAMoAEQBqAAAANwAF/wAgAAMHAAgBBwBrAAIHABQE/wABAAMHAAgBBwBrAAMHABQE
BwAy/gBcBwAyBwA6AfoAGx8AAgBfAFkAAQBmAAAAIwACAAIAAAALKyq0AA+6AGMAALAAAAABAGcAAAAGAAEAAAASAAMAbQAAAAIAbgBvAAAAGgAEAHAAAQ
B2AHAAAQB4AHAAAQB6AHAAAQB8AH4AAAAKAAEAfwCBAIMAGQ==
"""


@pytest.fixture
def jar(tmp_path):
    jar = tmp_path / "kafka-example.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/apache/kafka/example/Example.class", base64.b64decode(CLASS))
        archive.writestr("kafka/tools/Example.class", b"warn: a class that is not read")
    return jar


def test_the_texts_of_a_class_are_followed_through_its_code(jar):
    lines, sites = lines_of([jar])
    assert sites == {("W", "Example", "known"): 1, ("E", "Example", "known"): 4}
    assert lines == {
        Line("WARN", "Example", "Broker … is slow"),
        Line("ERROR", "Example", "Epoch … is fenced."),
        Line("ERROR", "Example", "Epoch … is new."),
        Line("ERROR", "Example", "Disk … of 3 failed"),
        Line("ERROR", "Example", "Topics: …, 7"),
        Line("ERROR", "Example", "Try … failed"),
        Line("INFO", "Example", "Because of x…"),
        Line("THROWN", "IllegalArgumentException@org/apache/kafka/example/Example", "Name … is taken"),
    }


@pytest.mark.skipif(shutil.which("javap") is None, reason="no javap: a JRE without the JDK")
def test_javap_counts_the_same_calls(jar):
    assert count([jar]) == Counter({("W", "Example", "counted"): 1, ("E", "Example", "counted"): 4})


def test_a_text_has_holes_where_only_the_program_knows_it():
    either = frozenset(("a", "b"))
    assert joined(frozenset(("x ",)), either) == {"x a", "x b"}
    many = frozenset(map(str, range(20)))
    assert joined(frozenset(("x ",)), many) == {f"x {HOLE}"}
    assert formatted("%s of %d: 100%%%n", [frozenset(("A",)), None]) == {f"A of {HOLE}: 100%\n"}
    assert substituted("{} and {}", [frozenset(("A",))]) == {f"A and {HOLE}"}
