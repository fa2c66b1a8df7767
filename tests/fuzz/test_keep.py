"""What is kept of what fuzzing found."""

from fuzz import keep
from fuzz.readers import READERS


def test_the_smallest_inputs_that_reach_something_new_are_kept():
    honest, refused, again, long = b"\x05" + b"42", b"\x05" + b"x", b"\x05" + b"y", b"\x00" + b'{"id":"' + b"a" * 500 + b'"}'
    assert keep.chosen(READERS["znode"], [honest], {again, refused, b"\x05" + b"7", long}) == [refused]
