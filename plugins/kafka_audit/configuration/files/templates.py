"""Helm and Jinja templates of YAML: what they say whatever fills them in. Pure.

Expressions become placeholders, and lines of control alone become empty ones, so each line stays where it is. What stands inside
a condition or a loop may be there or not. A block around whole documents is none of these: without it there is no broker.
"""

import re
from dataclasses import dataclass

PLACEHOLDER = "$(template)"
_EXPRESSION = re.compile(r"\{\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\}|\{%[^%]*%\}")
_OPENS = re.compile(r"\{[{%]-?\s*(?:if|range|with|for|define|block)\b")
_CLOSES = re.compile(r"\{[{%]-?\s*end(?:if|for|block)?\b")
_BEGINS_DOCUMENT = re.compile(r"(?:kind|services):")


@dataclass(frozen=True, kw_only=True)
class YamlTemplate:
    """A template with placeholders in place of expressions; `doubtful` are its lines inside of conditions and loops.

    `certain` is without these, which may be no YAML together with the rest.
    """

    text: str
    doubtful: frozenset[int]

    @property
    def certain(self) -> str:
        """The text with empty lines in place of those in doubt."""
        lines = enumerate(self.text.split("\n"), 1)
        return "\n".join("" if number in self.doubtful else line for number, line in lines)

    def doubts(self, word: str) -> bool:
        """Return whether a line in doubt has a word."""
        return any(word in line for number, line in enumerate(self.text.split("\n"), 1) if number in self.doubtful)


def plain_template(text: str) -> YamlTemplate:
    """Return a template as YAML."""
    lines, doubtful = [], set()
    blocks: list[bool] = []  # whether each is inside of a document
    inside, doubts = False, 0
    for number, line in enumerate(text.split("\n"), 1):
        inside = (inside and not line.startswith("---")) or _BEGINS_DOCUMENT.match(line) is not None
        closed, opened = len(_CLOSES.findall(line)), len(_OPENS.findall(line))
        if closed != opened:
            doubts -= sum(blocks.pop() for _ in range(min(max(closed - opened, 0), len(blocks))))
            blocks += [inside] * max(opened - closed, 0)
            doubts += inside * max(opened - closed, 0)
        if doubts or (closed and opened):
            doubtful.add(number)
        left = _EXPRESSION.sub("", line)
        lines.append(_EXPRESSION.sub(PLACEHOLDER, line) if left.strip() else "")
    return YamlTemplate(text="\n".join(lines), doubtful=frozenset(doubtful))
