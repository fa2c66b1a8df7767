"""Texts as people paste them: the files in them, without what stands around, each line at its place. Pure.

A question has prose, fences and names of files around its files; a copy has numbers of lines, signs of a diff, other quotes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PLAIN = str.maketrans("\u201c\u201d\u201e\u2018\u2019\u00a0", '"""\'\' ', "\u200b\ufeff\r")
_ENTITY = re.compile(r"&(lt|gt|quot|amp|#39|nbsp);")
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "amp": "&", "#39": "'", "nbsp": " "}
_BULLET, _DASHES, _ESCAPED = (
    re.compile(r"^(\s{0,40})[\u2013\u2014\u2022*]\s"),
    re.compile(r"\u2014(?=[a-z])"),
    re.compile(r"\\(?=[_*<>])"),
)
_QUOTED = re.compile(r"^(?:> ?){1,5}")
_NUMBERED = re.compile(r"^[ \t]{0,8}(\d{1,5})(?:[:|.)\]]|(?=[ \t]|$))[ \t]?")
_LEAST_NUMBERED = 4
_FENCE = re.compile(
    r"^[ \t]{0,12}(?:`{3,}|~{3,}|</?pre>|\[/?code\]|\{(?:code|noformat)[^}]{0,40}\})[ \t]*(\w[\w.-]{0,40})?.{0,80}$"
)
_HEREDOC = re.compile(r"<<[-~]?[ \t]{0,4}[\"'\\]?([A-Za-z_]{2,30})\b")
_ENDINGS = "ya?ml|properties|env|json|tf|conf|service"
_NAME = rf"((?:[\w.~-]{{1,60}}/){{0,10}}(?:[\w.-]{{1,60}}\.(?:{_ENDINGS})|\.env|(?:[\w-]{{1,40}}\.)?Dockerfile))"
_HEADER = re.compile(rf"(?:^|[\s`*\"'(=>]){_NAME}[`*\"')]{{0,4}}[ \t]{{0,3}}(?:[:=#*-]{{0,8}}|is:?|below:?|<==)$")
_WORDS_OF_HEADER = 14
_DIFF = re.compile(r"^(?:diff --git |@@ |\+\+\+ |\+[ \t]*[\w\"'#-])")
_OF_DIFF = re.compile(r"^(?:diff --git |index |@@|\+\+\+ |--- )")
_CUT = re.compile(r"^\s{0,60}(?:#\s{0,4})?(?:-\s)?[\[(<]?(?:\.{3,}|…|snip)[\])>]?(?:\s{1,4}[(\[\w].{0,60})?$")
_KEY = re.compile(r"^\s{0,60}(?:-\s{1,4})?[\"']?([^\s\"'=:]{1,200})[\"']?\s{0,20}(?::(?=\s|$)|=)(.*)")
_RUNS = r"\b(?:docker|podman|helm)[ \t]{1,4}(?:run|create|install|upgrade)\b"
_COMMANDS = "sudo|docker|podman|export|FROM|ENV|COPY|ARG|RUN|CMD|ENTRYPOINT|cat|echo"
_CODE = re.compile(rf"^\s{{0,60}}(?:#|\.\w|--?[a-z]|[\[\]{{}}|>]|(?:{_COMMANDS})\b)|[\\^`]$|{_RUNS}")
_PROSE = re.compile(r"^\s{0,60}(?:-\s{1,4})?[A-Za-z',()]{1,20}(?:\s{1,4}[\w'\",.()/-]{1,40}){3}")
_TITLE = re.compile(r"^[A-Z][a-z]{2,20}$")
_TRACE = re.compile(
    r"^\s{0,60}(?:at [\w.$/]{1,200}\(|\.{3} \d{1,4} more|(?:[\w.-]{1,60}\s{1,20}\| )?\[?(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d))"
)
_TOP, _OF_SERVICE = (
    re.compile(r"(?:version|services|x-[\w-]+|volumes|networks|configs|secrets):"),
    re.compile(
        r"(?:image|build|ports|expose|environment|env_file|volumes|networks|depends_on|healthcheck|command|entrypoint|restart|deploy"
        r"|container_name|hostname|extends|links|extra_hosts|user|labels|platform|profiles|network_mode|mem_limit|ulimits|logging):"
    ),
)
_DEEPEST = re.compile(r"test|interval|timeout|retries|start_period")


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """A file in a text, with empty lines before it; `fenced` says that marks are around it, `cut` that something is left out."""

    name: str
    text: str
    first: int
    last: int
    fenced: bool
    cut: bool


def is_paste(text: str) -> bool:
    """Return whether a text has more than one file has."""
    lines = _cleaned(text)
    return any(_FENCE.match(line) or _HEADER.search(line) or _DIFF.match(line) or _is_prose(line) for line in lines) or (
        lines != [line.rstrip("\r") for line in text.split("\n")]
    )


def is_marked(text: str) -> bool:
    """Return whether a text has marks around its files, a diff, signs of an editor, or two files of Compose: it is no file."""
    twice = len(re.findall(r"^services:", text, re.MULTILINE)) > 1
    return (
        twice
        or "\\_" in text
        or text.replace("\r", "") != text.translate(_PLAIN)
        or any(_FENCE.match(line) or _DIFF.match(line) for line in text.split("\n"))
    )


def fragments(text: str) -> Iterator[Fragment]:
    """Yield the files of a text: what is inside of fences, and then what is between the names of files, without prose."""
    for name, places, lines, fenced in _sections(_cleaned(text)):
        own = {place: written for place, written in zip(places, lines, strict=True) if written.strip()}
        own, cut = _applied(own)
        if not fenced:
            own = {place: line for place, line in own.items() if not _is_prose(line)}
        kept = {place: line for place, line in own.items() if not _CUT.match(line)}
        if kept:
            least = min(len(line) - len(line.lstrip()) for line in kept.values())
            padded = [kept.get(place, "")[least:] for place in range(max(kept) + 1)]
            shown = cut or len(kept) < len(own)
            yield Fragment(
                name=name, text="\n".join(padded) + "\n", first=min(kept) + 1, last=max(kept) + 1, fenced=fenced, cut=shown
            )


def _cleaned(text: str) -> list[str]:
    """Return the lines of a text as they were typed."""
    lines = []
    for written in text.split("\n"):
        line = _ENTITY.sub(lambda match: _ENTITIES[match[1]], written.translate(_PLAIN))
        line = _ESCAPED.sub("", _DASHES.sub("--", _BULLET.sub(r"\1- ", _QUOTED.sub("", line))))
        indent = len(line) - len(line.lstrip())
        lines.append((line[:indent].replace("\t", "  ") + line[indent:]).rstrip())
    return _without_numbers(lines)


def _without_numbers(lines: list[str]) -> list[str]:
    """Return lines without their numbers, where several that follow each other have them."""
    run: list[tuple[int, int, int]] = []  # place, number, where the line begins
    found = list(lines)
    for place, line in [*enumerate(lines), (len(lines), "")]:
        match = _NUMBERED.match(line)
        if match and (not run or int(match[1]) == run[-1][1] + 1):
            run.append((place, int(match[1]), match.end()))
        elif match or line or place == len(lines):
            for at, _, begin in run if len(run) >= _LEAST_NUMBERED else ():
                found[at] = lines[at][begin:]
            run = [(place, int(match[1]), match.end())] if match else []
    return found


def _sections(lines: Sequence[str]) -> Iterator[tuple[str, range, Sequence[str], bool]]:
    """Yield the name, the places, the lines, and whether fences are around it, of each part that may be a file."""
    fences = {place: match[1] or "" for place, line in enumerate(lines) if (match := _FENCE.match(line))}
    places = [*fences, len(lines)]
    blocks = [*zip(places[:-1:2], places[1::2], strict=False)]  # one that is not closed goes on to the end
    for begin, end in blocks:
        named = (_header(line) for line in reversed(lines[max(begin - 3, 0) : begin]))
        name = next(filter(None, named), "") or (fences[begin] if "." in fences[begin] else "")
        yield from _documents(name, range(begin + 1, end), lines, fenced=True)
    inside = {place for begin, end in blocks for place in range(begin, end + 1)}
    lines = ["" if place in inside else line for place, line in enumerate(lines)]
    name, begin = "", 0
    for place, line in enumerate(lines):
        if found := _header(line):
            yield from _documents(name, range(begin, place), lines, fenced=False)
            name, begin = found, place + 1
    yield from _documents(name, range(begin, len(lines)), lines, fenced=False)


def _documents(
    name: str, places: range, lines: Sequence[str], *, fenced: bool
) -> Iterator[tuple[str, range, Sequence[str], bool]]:
    """Yield a part, and the files that its commands write."""
    at = places.start
    while at < places.stop:
        match = _HEREDOC.search(lines[at])
        end = next((place for place in range(at + 1, places.stop) if lines[place].strip() == match[1]), 0) if match else 0
        if end:
            yield _header(lines[at].replace(">", " ").split("<<")[0].strip()), range(at + 1, end), lines[at + 1 : end], True
        at = max(end, at) + 1
    yield name, places, lines[places.start : places.stop], fenced


def _header(line: str) -> str:
    match = _HEADER.search(line.strip()) if len(line.split()) <= _WORDS_OF_HEADER else None
    return match[1] if match else ""


def _applied(own: dict[int, str]) -> tuple[dict[int, str], bool]:
    """Return the lines after a diff, and whether they are a part of the file."""
    if not any(_DIFF.match(line) for line in own.values()):
        return own, False
    whole = all(line[0] in " +-@di" for line in own.values())
    kept = {place: line for place, line in own.items() if not _OF_DIFF.match(line) and not (whole and line[0] == "-")}
    kept = {place: line[1:] if whole else line.replace("+", " ", 1) if line[0] == "+" else line for place, line in kept.items()}
    return kept, any(line.startswith("@@") for line in own.values())


def _is_prose(line: str) -> bool:
    """Return whether a line is of the text around a file."""
    if not line.strip() or (_CODE.search(line) and not _TRACE.match(line)):
        return False
    match = _KEY.match(line)
    if match is None:
        return _PROSE.match(line) is not None or _TRACE.match(line) is not None or line[0] not in " -"
    return match[1].endswith(("Exception", "Error")) or (
        _TITLE.match(match[1]) is not None and _PROSE.match(match[2]) is not None
    )


def indented(text: str) -> str:
    """Return a compose file whose lines lost what stood before them, with it; of other texts what is as deep as its begin."""
    lines = text.split("\n")
    begin = next((line[: len(line) - len(line.lstrip())] for line in lines if line.strip()), "")
    if begin:
        return "\n".join(line if line.startswith(begin) else "" for line in lines)
    if not any(line.startswith("services:") for line in lines) or any(line[:1] == " " for line in lines):
        return text
    found, services, key = [], False, ""
    for place, line in enumerate(lines):
        following = next((later for later in lines[place + 1 :] if later.strip() and later[0] != "#"), "")
        word = line.partition(":")[0]
        if not line.strip() or line[0] == "#":
            depth = 0
        elif services and _OF_SERVICE.match(line) and not (word in {"volumes", "networks"} and following[:1] != "-"):
            depth, key = 4, word
        elif _TOP.match(line):
            depth, services, key = 0, word == "services", ""
        elif (
            not services
            or (line.endswith(":") and key != "environment" and not _DEEPEST.fullmatch(word))
            or (line.endswith(":") and (_OF_SERVICE.match(following) is not None))
        ):
            depth, key = 2, ""
        else:
            depth = 8 if key == "test" and line[0] == "-" else 6
            key = word if word == "test" else key if line[0] == "-" or key != "test" else "healthcheck"
        found.append(" " * depth + line)
    return "\n".join(found)
