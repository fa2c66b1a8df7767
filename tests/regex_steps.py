"""How many steps Python's matcher takes for a regular expression: a model of `re` that backtracks as it does, and counts.

`re` takes its steps in C, where nothing counts them, and its seconds depend on the machine. The model is far slower, finds the
same matches (`test_linear_patterns` compares them), and its steps grow with the text as those of `re` do. `re` knows some
shortcuts, such as the first letters of a pattern, which change no more than the steps for a character.
"""

import re
import sys
from contextlib import contextmanager
from functools import cache
from re import _constants as constants
from re import _parser as parser

NOWHERE = -1
_SINGLE = frozenset({constants.LITERAL, constants.NOT_LITERAL, constants.ANY, constants.IN})
_REPEATS = frozenset({constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT})
_DEEPEST = 200_000


class TooManyStepsError(Exception):
    """The bound of a model is reached."""


def parsed(pattern):
    """Return the tokens of a compiled pattern."""
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    return parser.parse(pattern.pattern, flags)


class CountedPattern:
    """A model of a compiled pattern.

    Attributes:
        steps: of the last use.
    """

    def __init__(self, pattern, *, most_repeats=None):
        """Take the pattern.

        Args:
            pattern: a compiled one, of text or bytes.
            most_repeats: lowers bounds such as {0,1024}, which change the steps for a character and not how they grow; then
                matches are no longer those of the pattern.
        """
        tokens = parsed(pattern)
        self.steps, self._most_steps, self._most_repeats = 0, sys.maxsize, most_repeats
        self._is_bytes, self._flags = isinstance(pattern.pattern, bytes), tokens.state.flags
        self._text, self._whole, self._refused = "", False, NOWHERE
        self._groups, self._loops = {}, {}
        self._begin = self._sequence([*tokens], self._flags, self._end)

    def use(self, method, text, most_steps=sys.maxsize):
        """Count what a method of a pattern does with a text; return the ends of its matches, or raise TooManyStepsError."""
        self.steps, self._most_steps = 0, most_steps
        self._text = text.decode("latin-1") if isinstance(text, bytes) else text
        self._whole, self._refused = method == "fullmatch", NOWHERE
        with _deep():
            if method in {"match", "fullmatch"}:
                return [end for end in [self._at(0)] if end != NOWHERE]
            return self._found(once=method == "search")

    def _found(self, *, once):
        found, at = [], 0
        self._refused = NOWHERE
        while at <= len(self._text):
            end = self._at(at)
            if end == NOWHERE:
                at += 1
                continue
            found.append(end)
            if once:
                break
            self._refused = end if end == at else NOWHERE  # behind an empty match comes one that is not
            at = end
        return found

    def _at(self, start):
        self._groups, self._loops = {}, {}
        self._step()
        return self._begin(start)

    def _step(self):
        self.steps += 1
        if self.steps > self._most_steps:
            raise TooManyStepsError

    def _end(self, at):
        return at if at != self._refused and (not self._whole or at == len(self._text)) else NOWHERE

    def _sequence(self, tokens, flags, then):
        for operator, argument in reversed(tokens):
            then = self._token(operator, argument, flags, then)
        return then

    def _token(self, operator, argument, flags, then):
        if operator in _SINGLE:
            return self._single(self._letter(operator, argument, flags), then)
        if operator in _REPEATS:
            return self._repeat(operator, argument, flags, then)
        return self._construct(operator, argument, flags, then)

    def _construct(self, operator, argument, flags, then):
        if operator is constants.BRANCH:
            return self._branch([self._sequence([*way], flags, then) for way in argument[1]])
        if operator is constants.SUBPATTERN:
            group, on, off, inside = argument
            return self._group(group, [*inside], (flags | on) & ~off, then)
        if operator is constants.ATOMIC_GROUP:
            return self._alone([*argument], flags, then)
        if operator in {constants.ASSERT, constants.ASSERT_NOT}:
            return self._look(operator is constants.ASSERT, argument, flags, then)
        if operator is constants.AT:
            return self._place(_place(argument, flags | (re.ASCII if self._is_bytes else 0)), then)
        if operator is constants.GROUPREF:
            return self._again(argument, then)
        raise NotImplementedError(str(operator))

    def _letter(self, operator, argument, flags):
        if operator is constants.ANY:
            return (lambda _: True) if flags & re.DOTALL else (lambda letter: letter != "\n")
        options = argument if operator is constants.IN else [(constants.LITERAL, argument)]
        negated = operator is constants.NOT_LITERAL
        ascii_only = self._is_bytes or bool(flags & re.ASCII)

        @cache
        def fits(letter):
            letters = {letter, letter.lower(), letter.upper()} if flags & re.IGNORECASE else {letter}
            return any(_is_in(one, options, ascii_only=ascii_only) for one in letters if len(one) == 1) is not negated

        return fits

    def _single(self, fits, then):
        def match(at):
            self._step()
            return then(at + 1) if at < len(self._text) and fits(self._text[at]) else NOWHERE

        return match

    def _repeat(self, operator, argument, flags, then):
        least, most, inside = argument
        most = sys.maxsize if most is constants.MAXREPEAT else most
        if self._most_repeats is not None and most != sys.maxsize:
            most = max(least, min(most, self._most_repeats))
        if operator is constants.POSSESSIVE_REPEAT:
            again = [(constants.MAX_REPEAT, (least, constants.MAXREPEAT if most == sys.maxsize else most, inside))]
            return self._alone(again, flags, then)
        if len(inside) == 1 and inside[0][0] in _SINGLE:
            fits = self._letter(*inside[0], flags)
            return self._letters(fits, least, most, then, greedy=operator is constants.MAX_REPEAT)
        return self._rounds([*inside], flags, (least, most), then, greedy=operator is constants.MAX_REPEAT)

    def _letters(self, fits, least, most, then, *, greedy):
        def match_greedy(at):
            end, last = at, min(len(self._text), at + most)
            while end < last and fits(self._text[end]):
                self._step()
                end += 1
            while end >= at + least:
                self._step()
                if (found := then(end)) != NOWHERE:
                    return found
                end -= 1
            return NOWHERE

        def match_lazy(at):
            end = at
            while True:
                self._step()
                if end >= at + least and (found := then(end)) != NOWHERE:
                    return found
                if end >= len(self._text) or end >= at + most or not fits(self._text[end]):
                    return NOWHERE
                end += 1

        return match_greedy if greedy else match_lazy

    def _rounds(self, inside, flags, bounds, then, *, greedy):
        (least, most), key = bounds, object()

        def enter(at):
            before, self._loops[key] = self._loops.get(key), (0, NOWHERE)
            found = again(at)
            self._loops[key] = before
            return found

        def one_more(at, state):
            if state[0] >= most or (state[0] >= least and at == state[1]):
                return NOWHERE
            self._loops[key] = state[0] + 1, at
            found = body(at)
            self._loops[key] = state
            return found

        def again(at):
            self._step()
            state = self._loops[key]
            if greedy and (found := one_more(at, state)) != NOWHERE:
                return found
            if state[0] >= least and (found := then(at)) != NOWHERE:
                return found
            return NOWHERE if greedy else one_more(at, state)

        body = self._sequence(inside, flags, again)
        return enter

    def _branch(self, ways):
        def match(at):
            for way in ways:
                self._step()
                if (found := way(at)) != NOWHERE:
                    return found
            return NOWHERE

        return match

    def _group(self, group, inside, flags, then):
        if group is None:
            return self._sequence(inside, flags, then)
        begins = []

        def leave(at):
            before, self._groups[group] = self._groups.get(group), (begins[-1], at)
            begin = begins.pop()
            found = then(at)
            begins.append(begin)
            if found == NOWHERE:
                self._groups[group] = before
            return found

        body = self._sequence(inside, flags, leave)

        def enter(at):
            begins.append(at)
            found = body(at)
            begins.pop()
            return found

        return enter

    def _alone(self, inside, flags, then):
        body = self._sequence(inside, flags, lambda at: at)

        def match(at):
            end = body(at)
            return NOWHERE if end == NOWHERE else then(end)

        return match

    def _look(self, wanted, argument, flags, then):
        direction, inside = argument
        body, width = self._sequence([*inside], flags, lambda at: at), inside.getwidth()[0]

        def match(at):
            begin = at if direction > 0 else at - width
            found = begin >= 0 and body(begin) != NOWHERE
            return then(at) if found is wanted else NOWHERE

        return match

    def _place(self, fits, then):
        def match(at):
            self._step()
            return then(at) if fits(self._text, at) else NOWHERE

        return match

    def _again(self, group, then):
        def match(at):
            self._step()
            if self._groups.get(group) is None:
                return NOWHERE
            begin, end = self._groups[group]
            text = self._text[begin:end]
            self.steps += len(text)
            return then(at + len(text)) if self._text.startswith(text, at) else NOWHERE

        return match


@contextmanager
def _deep():
    """A step of a repeated group is a call in the one before."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEPEST)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


_CATEGORIES = {
    constants.CATEGORY_DIGIT: r"\d",
    constants.CATEGORY_NOT_DIGIT: r"\D",
    constants.CATEGORY_SPACE: r"\s",
    constants.CATEGORY_NOT_SPACE: r"\S",
    constants.CATEGORY_WORD: r"\w",
    constants.CATEGORY_NOT_WORD: r"\W",
}


def _is_in(letter, options, *, ascii_only):
    negated = False
    for operator, argument in options:
        if operator is constants.NEGATE:
            negated = True
        elif operator is constants.LITERAL:
            found = ord(letter) == argument
        elif operator is constants.RANGE:
            found = argument[0] <= ord(letter) <= argument[1]
        else:
            found = re.match(_CATEGORIES[argument], letter, re.ASCII if ascii_only else 0) is not None
        if operator is not constants.NEGATE and found:
            return not negated
    return negated


def _is_word(text, at, flags):
    return 0 <= at < len(text) and re.match(r"\w", text[at], flags & re.ASCII) is not None


def _place(argument, flags):
    lines = flags & re.MULTILINE
    return {
        constants.AT_BEGINNING: lambda text, at: at == 0 or (lines and text[at - 1] == "\n"),
        constants.AT_BEGINNING_STRING: lambda _, at: at == 0,
        constants.AT_END: lambda text, at: at == len(text) or (text[at] == "\n" and (lines or at == len(text) - 1)),
        constants.AT_END_STRING: lambda text, at: at == len(text),
        constants.AT_BOUNDARY: lambda text, at: _is_word(text, at - 1, flags) != _is_word(text, at, flags),
        constants.AT_NON_BOUNDARY: lambda text, at: _is_word(text, at - 1, flags) == _is_word(text, at, flags),
    }[argument]
