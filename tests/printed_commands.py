"""What becomes of commands and settings that are printed: their words in `shlex` and in bash, and the files that they make."""

import re
import shlex
import subprocess
import tempfile
from pathlib import Path

_NUMBERED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")


def words_of(line):
    """Return the words of a line as `shlex` splits it, with a `|` between commands; `$'…'` is read as bash reads it."""
    return [_decoded(word, line) for word in shlex.split(line)]


def meant(command):
    """Return the words of a command, with a `|` between the commands that a pipe joins."""
    return [word for stage in command.stages for word in ("|", *stage)][1:]


def _decoded(word, line):
    """Return a word with the numbers of `$'…'`; a word that is quoted so is in the line in front of its quotes."""
    if word.startswith("$") and f"$'{word[1:]}'" in line:
        return _NUMBERED.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), word[1:])
    return word


def bash_words(lines):
    """Return the words that bash makes of each line, in one process; `echo` and others only print their words."""
    body = "\n".join(f"w {line}" for line in lines)
    script = 'w() { printf "%s\\0" "$#" "$@"; }\n' + body
    completed = subprocess.run(
        ["/bin/bash", "-s"], input=script.encode(), capture_output=True, check=True, env={"LC_ALL": "C.UTF-8", "PATH": "/nowhere"}
    )
    fields = iter(completed.stdout.decode().split("\0")[:-1])
    return [[next(fields) for _ in range(int(count))] for count in fields]


def files_made(lines):
    """Return the files that lines make in an empty directory, each run by bash without programs."""
    with tempfile.TemporaryDirectory() as folder:
        script = "".join(f"( eval {shlex.quote(line)} ) </dev/null >&2\n" for line in lines)
        subprocess.run(
            ["/bin/bash", "-s"],
            input=script.encode(),
            cwd=folder,
            env={"PATH": "/nowhere", "HOME": folder},
            check=False,
            capture_output=True,
        )
        return sorted(path.name for path in Path(folder).iterdir())


ODD = " ;|&$()<>`'\"\n\t\r#!-\\=:,*?~[]{}^%\x00\x1b\u202e\u2028\xa0é日😀"
"""Characters that mean something to a shell, to a properties file, to Markdown, or to a reader's eye."""

HOSTILE = (
    "x ;touch P;#$(touch P)`touch P`|touch P|&touch P&>P it's\"\\!1\n\u202e日本\x1b[31m=a,b:c",
    "'; touch P #",
    "-evil",
)
"""Names that a party of a cluster may choose to act on the reader's machine."""

RELEASES = (None, (1, 1), (2, 0), (2, 1), (2, 3), (2, 4), (2, 6), (2, 7), (2, 8), (3, 0))
"""All releases that commands are printed for, unknown included."""
