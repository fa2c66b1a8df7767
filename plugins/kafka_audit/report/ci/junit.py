"""JUnit XML: a suite for each file, a case for each finding."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.linted import Linted, LintedFinding
from kafka_audit.model.text import clean, our_line
from kafka_audit.report.lint_document import shown_findings
from kafka_audit.report.remedies import LONGEST_PARAGRAPH


def junit_xml(files: Sequence[Linted], *, fail_on: Severity, show_all: bool = False) -> str:
    """Return the XML. What fails below `fail_on` passes with its text; what is muted or not known is skipped, with the reason."""
    root = ET.Element("testsuites", name="kafka-audit lint")
    for file in files:
        name = clean(f"{file.path} ({file.inside})" if file.inside else file.path, 500)
        suite = ET.SubElement(root, "testsuite", name=name)
        cases = [_case(suite, name, linted, fail_on) for linted in shown_findings(file, show_all=show_all)] or [
            _nothing(suite, name)
        ]
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
        suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
        suite.set("errors", "0")
    for key in ("tests", "failures", "skipped", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _nothing(suite: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=name, name="no findings", time="0")


def _case(suite: ET.Element, classname: str, linted: LintedFinding, fail_on: Severity) -> ET.Element:
    finding = linted.finding
    title = f"{finding.code} {finding.name} {clean(finding.resource.name)}"
    case = ET.SubElement(suite, "testcase", classname=classname, name=title, time="0")
    place = f"line {linted.place.line}: {linted.place.text}\n" if linted.place else ""
    text = _legal(f"{finding.severity.name}: {finding.message}\n{place}{finding.remediation}")
    if finding.status is Status.UNKNOWN or finding.muted:
        why = f"muted: {linted.muted_because or 'in the mute list'}" if finding.muted else finding.message
        ET.SubElement(case, "skipped", message=_legal(why))
    elif finding.status is Status.FAIL and finding.severity >= fail_on:
        ET.SubElement(case, "failure", type=finding.severity.name, message=_legal(finding.message)).text = text
    else:
        ET.SubElement(case, "system-out").text = text
    return case


def _legal(text: str) -> str:
    """Return text that XML 1.0 can hold: no control characters but line breaks, no halves of characters."""
    return "\n".join(our_line(line, LONGEST_PARAGRAPH) for line in text.split("\n"))
