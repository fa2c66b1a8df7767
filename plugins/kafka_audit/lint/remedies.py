"""What to do on a finding, in the names of the file that was linted. Pure.

The page of a check speaks of server.properties and of Kafka's settings. In a file from which an image, a chart or an operator
writes server.properties, the settings have other names, and some have fields of their own: `SettingNames` has them. Steps
that differ there are `remedies` in the file of the check's cases. Besides evidence they have `{resource}`, the place of the
settings, `{file}`, the path, `{field}`, the field of the setting, `{at}`, the name of a subchart, and `_PARTS`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kafka_audit.checks import Check
from kafka_audit.configuration.definitions import definitions
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.setting_names import Form, SettingNames
from kafka_audit.incidents.remedies import filled_page, what_to_do
from kafka_audit.lint.surroundings import MEND
from kafka_audit.model.commands import Prose
from kafka_audit.model.finding import Finding, Status, as_text
from kafka_audit.model.text import clean, is_plain_word
from kafka_audit.words.sentences import message

_SPAN = re.compile(r"`([a-z][A-Za-z0-9_.-]*)(?:=([^`]*))?`")
_PLACEHOLDER = re.compile(r"(`[^`]*`)|\{(\w+)\}")
_FILE = re.compile(r"server\.properties(?: of (?:broker \{broker\}|all brokers))?")
_OF_BROKERS = re.compile(
    r"server\.properties of ((?:broker|brokers|node) [0-9][0-9, and]*[0-9]|(?:broker|node) [0-9])( and of the others)?"
)
_IN_CLUSTER_FILE = re.compile(r" \([`']properties[`'] in the cluster file\)")
_TESTED, _TESTS = "`kafka-audit lint server.properties", "`kafka-audit lint {file}"
_BY_LISTENER = "listener.name."
_ODD = re.compile(r"[^A-Za-z0-9_.-]")
_OF_AUTHORIZERS = frozenset({"super.users", "allow.everyone.if.no.acl.found"})

_AS_WRITTEN = {
    Form.STRIMZI: "the ConfigMap that the operator writes for {}",
    Form.BITNAMI: "the output of `helm template` for {}",
    Form.CONFLUENT: "the output of `helm template` for {}",
}

_PARTS = {
    "{creators}": "Make sure that clients that rely on it create topics by other means (Kafka Streams and Connect do this "
    "themselves).",
    "{test}": "Test the file with `kafka-audit lint {file} --kafka-version {version}`, then apply it.",
}
_WRITTEN_ALONE = (
    "The operator writes this setting for all brokers, and no field of the resource sets it. A running broker that differs was "
    "not restarted since the resource changed: see the conditions in the status of the resource."
)
_ITS_FILE = re.compile(r"(?:its|the) server\.properties(?: of (?:broker \{broker\}|\{who\}))?")


def words_in_file(check: Check, finding: Finding, broker: Described) -> Finding:
    """Return a finding whose message names what a user edits, where that of the check speaks of server.properties."""
    template = check.says.get(finding.status, "")
    if broker.names.form is Form.PROPERTIES or _ITS_FILE.search(template) is None:
        return finding
    written = message(_ITS_FILE.sub("{its_file}", template), {**finding.evidence, "its_file": _shown(broker.names.place)})
    return replace(finding, message=written.text, headlines=written.headlines if finding.headlines else ())


def remedy_in_file(check: Check, finding: Finding, broker: Described, *, path: str, version: str) -> Prose:
    """Return the remedy of a finding in the names of its file.

    Args:
        check: of the finding.
        finding: with the remedy of its page.
        broker: whose file it is.
        path: the file.
        version: the release whose settings are known.
    """
    names = replace(broker.names, place=_shown(broker.names.place), afterwards=_shown(broker.names.afterwards))
    if isinstance(mend := finding.evidence.get(MEND), str):
        mended = re.sub(r"\{([a-z.]+)\}", lambda match: names.setting(match[1]), mend)
        return filled_page("\n".join(filter(None, (mended, names.afterwards))), {})
    if not finding.remedy:
        return ()
    if names.form is Form.PROPERTIES:
        page = what_to_do(check, finding.evidence)
        of_file = _TESTED in page and finding.status is Status.FAIL
        return filled_page(page.replace(_TESTED, _TESTS), {**finding.evidence, "file": path}) if of_file else finding.remedy
    if finding.status is Status.UNKNOWN and finding.evidence.get("needs"):
        return (_to_know(finding.remediation, names, version),)
    reported = {key: as_text(value) for key, value in finding.evidence.items()}
    key, steps = reported.get("key", ""), check.remedies.get(names.form)
    if steps is None:
        page = _in_names(_with_keys(what_to_do(check, finding.evidence), reported, version), names, version)
        remarks = [*_field(page, key, names, version), names.afterwards]
    else:
        parts = {**_PARTS, "{at}": names.below, "{field}": names.setting(key) if is_plain_word(key) else "FIELD"}
        page = re.sub(r"\{\w+\}", lambda match: parts.get(match[0], match[0]), steps)
        remarks = [
            *(_field(page, key, names, version) if "the setting that the message names" in steps else ()),
            names.afterwards,
        ]
    return filled_page("\n".join((page, *filter(None, remarks))), {**finding.evidence, "file": path, "resource": names.place})


def _shown(text: str) -> str:
    """Return a text with names of the file: without control characters, code and placeholders."""
    return re.sub(r"[`{}]", "'", clean(text))


def _is_setting(key: str, version: str) -> bool:
    return key in definitions(version) or key in _OF_AUTHORIZERS or (key.startswith(_BY_LISTENER) and not _ODD.search(key))


def _with_keys(page: str, reported: Mapping[str, str], version: str) -> str:
    """Return a page with the settings that evidence names, as code; all other placeholders stay."""

    def key(match: re.Match[str]) -> str:
        if match[1]:
            return re.sub(r"\{(\w+)\}", lambda inner: _key_or(reported.get(inner[1], ""), inner[0], version), match[1])
        known = _key_or(reported.get(match[2], ""), "", version)
        return f"`{known}`" if known else match[0]

    return _PLACEHOLDER.sub(key, page)


def _key_or(value: str, otherwise: str, version: str) -> str:
    return value if _is_setting(value, version) and is_plain_word(value) else otherwise


def _in_names(page: str, names: SettingNames, version: str) -> str:
    if any(_is_setting(match[1], version) and not names.setting(match[1]) for match in _SPAN.finditer(page)):
        return _WRITTEN_ALONE
    page = page.replace(_TESTED, _TESTS)
    parts = re.split(r"(`[^`]*`)", page)
    return _spans("".join(part if part.startswith("`") else _FILE.sub(names.place, part) for part in parts), names, version)


def _spans(text: str, names: SettingNames, version: str) -> str:
    def span(match: re.Match[str]) -> str:
        if not _is_setting(match[1], version):
            return match[0]
        return f"`{names.setting(match[1]) if match[2] is None else names.assignment(match[1], match[2])}`"

    return _SPAN.sub(span, text)


def _field(page: str, key: str, names: SettingNames, version: str) -> Iterator[str]:
    """Yield the field of the setting that is judged, if the page does not name it."""
    if _is_setting(key, version) and (field := names.setting(key)) and field not in page and field != key:
        yield f"In this file the setting is `{field}`."


def _to_know(text: str, names: SettingNames, version: str) -> str:
    written = _AS_WRITTEN.get(names.form, "the file as {} gets it")
    text = _OF_BROKERS.sub(lambda match: written.format(f"{match[1]}{match[2] or ''}"), _IN_CLUSTER_FILE.sub("", text))
    return _spans(text, names, version)
