"""What `lint` prints for people: by file Kafka's verdict, each finding with its line and a caret, and what to do."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.linted import FileLine, Linted, LintedFinding
from kafka_audit.report.lint_document import shown_findings
from kafka_audit.report.text import Paint, clean, clean_prose, counted, listing, our_line, remedy_text, wrap

_INDENT = " " * 10
_STARTS = {True: "starts", False: "does not start", None: "unknown whether it starts"}
_AFTER_CONFIG = frozenset({"KA310", "KA413", "KA414", "KA720"})
"""What a broker refuses once KafkaConfig has accepted its file, and does not start either, where it is CRITICAL."""

_MOST_GRAVE, _MOST_OTHERS = 50, 5  # brokers that are named with their lines
_DIGITS = str.maketrans("", "", "0123456789")
_BY_KEY = frozenset({"KA303", "KA310", "KA311", "KA413", "KA414", "KA719"})
"""Checks whose steps depend on the setting."""


def lint_text(files: Sequence[Linted], *, show_all: bool, width: int, color: bool) -> str:
    """Return the page, ending in a newline.

    What is the same of many brokers, but for their names and numbers, is said of the first of them. `show_all` lists each, also
    what passes, and the reason for each unknown result.
    """
    page = _LintPage(show_all=show_all, width=max(width, 60), paint=Paint(on=color))
    alike: dict[Hashable, list[Linted]] = {}
    for place, file in enumerate(files):
        alike.setdefault(place if show_all else _without_numbers(file), []).append(file)
    lines = [line for first, *others in alike.values() for line in page.file(first, others)]
    return "\n".join([*(line.rstrip() for line in lines), *page.foot(files)]) + "\n"


def _without_numbers(file: Linted) -> Hashable:
    """Return what is said of a broker, without its name and numbers."""
    own = file.inside.rpartition(" ")[2]

    def bare(text: str | None) -> str:
        text = text or ""
        return (text.replace(own, "*") if own else text).translate(_DIGITS)

    findings = ((one.finding.code, one.finding.status, one.finding.severity, one.muted_because) for one in file.linted_findings)
    said = (bare(text) for text in (file.kafka_says, *(one.finding.message for one in file.linted_findings)))
    remarks = (bare(remark.text) for remark in file.remarks)
    return file.starts, file.kafka_version, file.version_why, (*findings,), (*said,), (*remarks,)


class _LintPage:
    """One rendering; methods yield lines."""

    def __init__(self, *, show_all: bool, width: int, paint: Paint) -> None:
        self.show_all = show_all
        self.width = width
        self.paint = paint
        self.steps: set[tuple[str, ...]] = set()  # of which checks, and for which keys, the page has said what to do
        self.last_steps: set[str] = set()  # the last lines of these for one file: who applies a change, which is said once

    def file(self, file: Linted, others: Sequence[Linted] = ()) -> Iterator[str]:
        shown = shown_findings(file, show_all=self.show_all)
        failed = [linted for linted in shown if linted.finding.status is Status.FAIL and not linted.finding.muted]
        name = clean(f"{file.path} ({file.inside})" if file.inside else file.path, 500)
        grave = {linted.finding.code for linted in failed if linted.finding.severity is Severity.CRITICAL}
        later = file.starts is True and not grave.isdisjoint(_AFTER_CONFIG)
        verdict = "does not start, although KafkaConfig accepts it" if later else _STARTS[file.starts]
        verdict = f"{verdict}{'' if failed else ', no findings'}"
        yield f"{self.paint('bold', name)}: {self.paint('good' if file.starts and not later else 'CRITICAL', verdict)}"
        yield from wrap(f"as Kafka {file.kafka_version} ({clean(file.version_why)})", self.width, "  ")
        if file.kafka_says is not None:
            yield from wrap(f"Kafka says: {clean(file.kafka_says, 2000)}", self.width, "  ", "    ")
        for remark in file.remarks:
            yield from wrap(f"line {remark.line}: {clean(remark.text, 500)}", self.width, "  ", "    ")
        self.last_steps.clear()
        waits = file.starts is False and not self.show_all
        lower = [one for one in failed if waits and one.finding.severity < Severity.HIGH]
        for finding in failed[: len(failed) - len(lower)]:
            yield ""
            yield from self.finding(finding)
        if lower:
            codes = listing(dict.fromkeys(one.finding.code for one in lower))
            text = f"for when it starts: {counted(len(lower), 'lower finding')}, {codes} (--all)"
            yield from ("", *wrap(text, self.width, "  ", "    "))
        yield from self.muted([linted for linted in shown if linted.finding.muted])
        yield from self.rest(
            [linted for linted in shown if linted.finding.status is not Status.FAIL and not linted.finding.muted]
        )
        yield from self.alike(others, grave=bool(failed) and failed[0].finding.severity >= Severity.HIGH)
        yield ""

    def alike(self, others: Sequence[Linted], *, grave: bool) -> Iterator[str]:
        """Yield which brokers the same is said of, each with the line of its worst finding."""
        named = []
        for file in others[: _MOST_GRAVE if grave else _MOST_OTHERS]:
            lines = (linted.place.line for linted in shown_findings(file, show_all=False) if linted.place and grave)
            line = next(lines, None)
            named.append(f"{file.inside or file.path}{'' if line is None else f' (line {line})'}")
        more = [""] * (len(others) - len(named))
        if named:
            same = "1 more broker is" if len(others) == 1 else f"{len(others)} more brokers are"
            yield from wrap(f"{same} like this one: {listing([*named, *more], len(named))}", self.width, "  ", "    ")

    def finding(self, linted: LintedFinding) -> Iterator[str]:
        finding, severity = linted.finding, linted.finding.severity.name
        text = f"{finding.code}  {our_line(finding.message, 2000)}"
        lines = list(wrap(text, self.width, severity.ljust(len(_INDENT)), _INDENT))
        yield lines[0].replace(severity, self.paint(severity, severity), 1)
        yield from lines[1:]
        if linted.place is not None:
            yield from self.place(linted.place)
        kind = (finding.code, *(str(finding.evidence.get(name, "")) for name in ("key", "mend") if finding.code in _BY_KEY))
        again = kind in self.steps
        self.steps.add(kind)
        steps, _, last = remedy_text(finding.remedy).rpartition("\n")
        said = last in self.last_steps
        self.last_steps.add(last)
        text = f"What to do: as for {finding.code} above." if again else steps if said and steps else remedy_text(finding.remedy)
        yield from wrap(text, self.width, _INDENT)

    def place(self, place: FileLine) -> Iterator[str]:
        number = str(place.line).rjust(len(_INDENT) - 3)
        if not place.text:
            yield f"{number} | (not set; settings begin here)"
            return
        yield f"{number} | {place.text}"
        yield f"{' ' * len(number)} | {' ' * place.start}{self.paint('CRITICAL', '^' * max(place.end - place.start, 1))}"

    def muted(self, muted: Sequence[LintedFinding]) -> Iterator[str]:
        for linted in muted:
            by = "in the file" if linted.muted_here else "by the mute list"
            why = f": {clean(linted.muted_because)}" if linted.muted_because else ""
            place = f", line {linted.place.line}" if linted.place else ""
            text = f"muted {by}{why}. {linted.finding.code}{place}: {our_line(linted.finding.message, 500)}"
            yield from wrap(text, self.width, "  ", "    ")

    def rest(self, rest: Sequence[LintedFinding]) -> Iterator[str]:
        unknown = [linted.finding for linted in rest if linted.finding.status is Status.UNKNOWN]
        if unknown and not self.show_all:
            codes = listing(dict.fromkeys(finding.code for finding in unknown))
            yield from wrap(f"not known from files: {codes} (--all lists the reasons)", self.width, "  ", "    ")
            return
        for linted in rest:
            finding = linted.finding
            needs = f" {clean_prose(finding.remediation)}" if finding.status is Status.UNKNOWN else ""
            text = f"{finding.status.value.replace('_', ' ').lower()}  {finding.code}  {our_line(finding.message, 1000)}{needs}"
            yield from wrap(text, self.width, "  ", "    ")

    def foot(self, files: Sequence[Linted]) -> Iterator[str]:
        found = [linted.finding for file in files for linted in file.linted_findings if linted.finding.status is Status.FAIL]
        count = Counter(finding.severity for finding in found if not finding.muted)
        refused = sum(file.starts is False for file in files)
        muted = sum(finding.muted for finding in found)
        parts = [counted(len(files), "broker"), *([f"{refused} refused by Kafka"] if refused else [])]
        parts += [f"{count[severity]} {severity.name}" for severity in sorted(Severity, reverse=True) if count[severity]]
        parts += [f"{muted} muted"] if muted else []
        yield ", ".join(parts if found else [*parts, "no findings"])
