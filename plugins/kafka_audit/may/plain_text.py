"""What `may` prints: the answer, then why, what it waits for and what to read, then the command."""

from collections.abc import Iterator, Sequence

from kafka_audit.may.answer import StepAnswer
from kafka_audit.model import quoting
from kafka_audit.model.text import clean, counted, our_line, start_upper
from kafka_audit.report.text import wrap
from kafka_audit.what_if.steps.objections import Permit

_HEADS = {Permit.GO: "GO", Permit.NOT_NOW: "NOT NOW", Permit.NEVER: "NEVER", Permit.UNKNOWN: "UNKNOWN"}
_MOST, _LONGEST = 10, 500


def may_text(found: StepAnswer, basis: Sequence[str], *, width: int) -> str:
    """Return an answer as text, ending without a newline; `basis` says of which snapshot it is."""
    return "\n".join(line.rstrip() for line in _lines(found, basis, width))


def _lines(found: StepAnswer, basis: Sequence[str], width: int) -> Iterator[str]:
    nothing = "nothing stands against it" if found.lines or not found.remarks else found.remarks[0].why
    first = found.reasons[0].why if found.reasons else nothing
    yield from wrap(our_line(f"{_HEADS[found.permit]}: {clean(found.step.text)}: {first.rstrip('.')}.", _LONGEST), width)
    yield from (line for text in basis for line in wrap(text, width))
    for title, permits in (("Why", (Permit.NEVER, Permit.NOT_NOW)), ("Not known", (Permit.UNKNOWN,))):
        these = [reason for reason in found.reasons if reason.permit in permits]
        if these:
            yield from ("", f"{title}:")
        for reason in these[:_MOST]:
            after = {"waits for": reason.waits_for, "lost": reason.loses, "read": reason.read_first}
            rest = "; ".join(f"{name}: {text}" for name, text in after.items() if text)
            yield from wrap(our_line(f"{reason.why.rstrip('.')}. {start_upper(rest)}.", 2 * _LONGEST), width, "- ", "  ")
        if len(these) > _MOST:
            yield f"  and {counted(len(these) - _MOST, 'more reason')}, with --format json"
    remarks = found.remarks if found.lines or found.reasons else found.remarks[1:]
    if remarks:
        yield from ("", "It costs:")
    for remark in remarks:
        text = f"{remark.why}: {remark.loses}" if remark.loses else remark.why
        yield from wrap(our_line(f"{text.rstrip('.')}.", _LONGEST), width, "- ", "  ")
    if found.lines:
        yield from ("", "The command:", *(f"  {line}" for line in quoting.lines(found.lines)))
