"""What a printed report is worth: one rule on words, the same for every tool. Pure.

A fault says which words name it: its cause and the place. A report that has both in one line, as a statement, names the cause.
Codes of kafka-audit are taken away first.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

VERDICTS = ("cause", "undecided", "symptom", "silent", "wrong")
"""Cause named; named as one that is possible; a true symptom named; nothing; something false."""
_CODE = re.compile(r" ?\(KA\d{3}\)|\bKA\d{3}\b")
_GUESS = re.compile(
    r"^\s*\?|\b(?:possibl[ye]|suspect|perhaps|maybe|might|could be|whether|cannot determine|not (?:known|decided|ruled out))\b"
    r"|\bsuspected\b|\b(?:needed|to (?:know|decide)):",
    re.IGNORECASE,
)
# "To know:" is in printed texts that were recorded before it became "Needed:".
_OPEN = re.compile(r"^\s*\?|\b(?:Needed|To know):")
_DENIED = re.compile(r"\bis ruled out\b|\bis no proof\b|\bpasses there\b|\bDo not\b|\bRESOLVED\b")
_STEP = re.compile(r"^\s*\d+[.)]?\s+(?:[\w ]{1,20}: )?[A-Z][a-z]+\b")
"""A numbered step: it says what to do, also where something else should turn out to be so."""
_SYMPTOM = re.compile(
    r"no end after|\berror\b|exception|timed? ?out|failed to|fails? at|cannot (?:reach|connect|log in|answer)|no answer"
    r"|do(?:es)? not (?:answer|list|follow|serve)|lists? no broker|no longer (?:leads|follows)|under-?replicated|not in sync"
    r"|replicas? in sync|\bis offline\b|no leader\b(?! can)|unreachable|reports? (?:the wrong|a different|stale)"
    r"|leader: ?(?:none|-1)|answers much more slowly",
    re.IGNORECASE,
)
_PARTITION = re.compile(r"leader:? *(none|-?\d+).*?replicas:? *([\d,]*).*?isrs?:? *([\d,]*)", re.IGNORECASE)
_LISTED = re.compile(r"^\s*(\d+) brokers:")


@dataclass(frozen=True, kw_only=True)
class Demands:
    """The words that name a fault.

    Attributes:
        cause: a regular expression for what is wrong.
        guess: one for what names the cause in a list of possible ones, and would be too little in a statement.
        resource: where: ``broker 2``, ``topic orders``, ``partition orders-1``, another text as it is, or ``cluster``: no word.
    """

    cause: str
    resource: str
    guess: str = ""

    def cause_in(self, line: str) -> bool:
        """Return whether a line has the words of the cause."""
        return self._cause.search(line) is not None

    @cached_property
    def _cause(self) -> re.Pattern[str]:
        return re.compile(self.cause, re.IGNORECASE)  # asked of half a million lines

    def guessed_in(self, line: str) -> bool:
        """Return whether a line has the words that name the cause as a possible one."""
        return self.cause_in(line) or (self.guess != "" and _compiled(self.guess).search(line) is not None)

    def place_in(self, text: str) -> bool:
        """Return whether a text has the words of the place."""
        return self.resource == "cluster" or _compiled(_place(self.resource)).search(text) is not None

    @cached_property
    def named_in(self) -> Callable[[str], bool]:
        """Return whether a line has both: kept, because hundreds of reports of a cluster share most of their lines."""
        return cache(lambda line: self.cause_in(line) and self.place_in(line))


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a text is worth, and the line that this rests on."""

    verdict: str
    line: str = ""
    false: str = ""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _place(resource: str) -> str:
    kind, _, name = resource.partition(" ")
    match kind:
        case "broker":
            listed = rf"\b(?:brokers?|nodes?|controllers?)[ :/#-]?(?:\d+(?:, | and ))*{name}\b"
            return rf"{listed}|\b10\.9[89]\.0\.1{name}\b|\bid: {name}\b"
        case "topic":
            return rf"(?<![\w.-]){re.escape(name)}(?:-\d+)?(?![\w.-])"
        case "partition":
            topic, _, number = name.rpartition("-")
            return rf"(?<![\w.-]){re.escape(name)}(?![\w.-])|\b{re.escape(topic)}\s+partition:? {number}\b"
        case _:
            return re.escape(resource)


def without_codes(text: str) -> str:
    """Return a printed report without codes of checks."""
    return _CODE.sub("", text)


def statements(text: str) -> tuple[str, ...]:
    """Return the lines that claim something: none that guesses, denies or instructs, none below a heading that guesses."""
    claimed = []
    for paragraph in paragraphs(text):
        if not _GUESS.search(paragraph[0]):
            claimed += [line for line in paragraph if not any(no.search(line) for no in (_GUESS, _DENIED, _STEP))]
    return tuple(claimed)


def paragraphs(text: str) -> list[list[str]]:
    """Return the lines of a report without codes, in pieces that an empty line separates."""
    every = re.split(r"\n\s*\n", without_codes(text))
    return [lines for paragraph in every if (lines := [line for line in paragraph.splitlines() if line.strip()])]


def names(demands: Demands, text: str) -> str:
    """Return the first statement of a text that names a fault, or an empty text."""
    return _first(demands, statements(text))


def _first(demands: Demands, claimed: tuple[str, ...]) -> str:
    return next((line.strip() for line in claimed if demands.named_in(line)), "")


def guesses(demands: Demands, text: str) -> str:
    """Return the first line that names a cause as a possible one, where its paragraph names the place; or an empty text."""
    for paragraph in paragraphs(text):
        below = _GUESS.search(paragraph[0]) is not None
        if demands.place_in("\n".join(paragraph)):
            for line in paragraph:
                if (below or _GUESS.search(line)) and not _DENIED.search(line) and demands.guessed_in(line):
                    return line.strip()
    return ""


def symptom(text: str, brokers: int) -> str:
    """Return the first statement of a symptom: an error, a time-out, a replica or broker that is missing; or an empty text."""
    lines = (line for paragraph in paragraphs(text) for line in paragraph if not _DENIED.search(line) and not _OPEN.search(line))
    return next((line.strip() for line in lines if _shows_symptom(line, brokers)), "")


def _shows_symptom(line: str, brokers: int) -> bool:
    if _SYMPTOM.search(line):
        return True
    if listed := _LISTED.search(line):
        return int(listed[1]) < brokers
    found = _PARTITION.search(line)
    if found is None:
        return False
    replicas, in_sync = (len(ids.strip(",").split(",")) for ids in (found[2], found[3]))
    return found[1] in {"none", "-1"} or in_sync < replicas


def worth(text: str, own: Demands, others: Mapping[str, Demands], brokers: int) -> Worth:
    """Return what a text is worth on a cluster with a fault.

    Args:
        text: what a tool printed.
        own: the words that name the fault.
        others: the words of faults that this cluster does not have, by name.
        brokers: how many the cluster has.
    """
    for name, line in named(text, others).items():
        return Worth(verdict="wrong", line=line, false=name)
    if line := names(own, text):
        return Worth(verdict="cause", line=line)
    if line := guesses(own, text):
        return Worth(verdict="undecided", line=line)
    line = symptom(text, brokers)
    return Worth(verdict="symptom" if line else "silent", line=line)


def named(text: str, every: Mapping[str, Demands]) -> dict[str, str]:
    """Return the faults that a text names, each with the line."""
    claimed = statements(text)
    return {name: line for name, demands in every.items() if (line := _first(demands, claimed))}
