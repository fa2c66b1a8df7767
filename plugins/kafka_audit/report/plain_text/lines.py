"""What pasted lines of logs mean, for a terminal: the meaning of each line's template, or what the line is instead."""

from collections.abc import Iterator, Mapping, Sequence

from kafka_audit.checks import Check
from kafka_audit.model.text import LONGEST_HEADLINE, clean, our_line
from kafka_audit.report.text import wrap
from kafka_audit.says.catalogue import Template, meanings
from kafka_audit.says.log_faults import LogFault, first_shown, with_values
from kafka_audit.says.others import program_of
from kafka_audit.says.reading import ReadLine

_LEVELS = {"F": "FATAL", "E": "ERROR", "W": "WARN", "I": "INFO"}
_KINDS = {
    "sign": "the sign of a fault",
    "consequence": "the consequence of a fault that other lines name",
    "progress": "a step of something ordinary",
    "harmless": "harmless on its own",
    "nothing": "it says nothing on its own",
}
_SHOWN = 160  # characters of a pasted line
_LONGEST_WHY = 600
_INDENT, _HANGING = "  ", " " * 14


def line_text(checks: Mapping[str, Check], answers: Sequence[ReadLine], *, width: int) -> str:
    """Return what each pasted line means; that a line is none of the catalogue's is said, too."""
    blocks: list[str] = []
    said: dict[str, int] = {}
    for number, answer in enumerate(answers, 1):
        head = [f"{number}. {clean(answer.record.line, _SHOWN)}", ""] if len(answers) > 1 else []
        text = "\n".join(_answer(checks, answer, width))
        first = said.setdefault(text, number)
        blocks.append("\n".join([*head, text if first == number else f"The same as {first}."]))
    return "\n\n".join(blocks)


def _answer(checks: Mapping[str, Check], answer: ReadLine, width: int) -> Iterator[str]:
    fault = fault_shown(answer)
    if not answer.found and not answer.below:
        yield from _unknown(answer, width) if fault is None else _fault(answer, fault, width)
        return
    if len(answer.found) > 1:
        part = "part of a " if answer.cut else ""
        yield f"Ambiguous: this {part}line is one of {len(answer.found)}, which mean different things."
        yield ""
    for number, template in enumerate(answer.found):
        if number:
            yield ""
        yield from _template(checks, template, width)
    for found in answer.below:
        yield from ["", "Below it:"] if answer.found else []
        for template in found:
            yield from _template(checks, template, width)
    if fault is not None:
        yield ""
        yield from _fault(answer, fault, width)


def fault_shown(answer: ReadLine) -> LogFault | None:
    """Return the fault that a line shows by itself; a line of another program that Kafka does not run in shows none."""
    program = None if answer.found else program_of(answer.record)
    return first_shown(answer.record.with_exceptions) if program is None or program.may_show_faults else None


def _fault(answer: ReadLine, fault: LogFault, width: int) -> Iterator[str]:
    """Yield what `kafka-audit logs` names by such a line."""
    values = {key: clean(value, _SHOWN) for key, value in (fault.values_in(answer.record.with_exceptions) or {}).items()}
    by_any = _is_of_any_program(answer)
    node = {"node": "the process" if by_any else "the node", "peer": f"node {values.get('other', '')}"}
    yield f"It shows: {our_line(fault.headline_of({**values, **node}), LONGEST_HEADLINE)}"
    yield ""
    yield from wrap(our_line(with_values(fault.why, {**values, **node}), _LONGEST_WHY), width, _INDENT, _INDENT)
    if by_any:
        yield from wrap(
            "Any program may have such a line, not a broker alone: this one does not say whose it is.", width, _INDENT, _INDENT
        )
    yield from wrap("Steps       kafka-audit logs FILE", width, _INDENT, _HANGING)


def _is_of_any_program(answer: ReadLine) -> bool:
    """Return whether no logger of Kafka wrote a line, but Java, or what processes run in."""
    program, of_java = program_of(answer.record), [one for one in (*answer.found, *sum(answer.below, ())) if one.since == "j"]
    return bool((program and program.around) or of_java) and all(one.level == "T" for one in answer.found)


def _template(checks: Mapping[str, Check], template: Template, width: int) -> Iterator[str]:
    meaning = meanings()[template.meaning]
    if template.level == "T":
        yield f"{', '.join(template.loggers)}: {template.text}".removesuffix(": ") + f"  ({template.releases})"
    else:
        yield f"{_LEVELS[template.level]} {template.text}  ({template.releases}; {', '.join(template.loggers)})"
    yield ""
    yield from wrap(meaning.says, width, _INDENT, _INDENT)
    ordinary = meaning.normal or "No."
    party = meaning.party + (f"; its connection: {meaning.edge}" if meaning.edge else "")
    named = ", ".join(f"{code} {checks[code].name}" for code in meaning.checks if code in checks)
    rows = (
        ("It is", _KINDS[meaning.kind]),
        ("Ordinary?", ordinary),
        ("Not clear", meaning.confused),
        ("Who", party),
        ("Checks", named),
        ("Next", meaning.next),
    )
    for name, text in rows:
        if text:
            yield from wrap(f"{name:<12}{text}", width, _INDENT, _HANGING)


_NOT_KNOWN = """Not known: no release of Kafka from 1.0 to 4.4 and of ZooKeeper from 3.4 to 3.9 has such a line at WARN or above.
What would help: the whole line with its level and logger, the lines before it, and the exception below it."""
_LOW = "Not known: of lines at {level}, only those of starts, stops, recovery, elections and connections are known."


def _unknown(answer: ReadLine, width: int) -> Iterator[str]:
    program, level = program_of(answer.record), answer.record.level
    text = _LOW.format(level=level) if level in {"DEBUG", "TRACE", "INFO"} else " ".join(_NOT_KNOWN.split())
    if program is not None:
        text = f"This is no line of a Kafka broker or of ZooKeeper, but of {clean(program.name)}. {program.help}"
    yield from wrap(text, width, "", "")
