"""Every input that is kept, given to its reader again: honest ones, those that reach far, and those that once went wrong."""

import pytest

from fuzz import watch
from fuzz.readers import READERS
from fuzz.seeds import seeds

KEPT = [
    pytest.param(reader, path, id=f"{reader}/{path.name}")
    for reader in READERS
    for folder in (watch.CORPUS, watch.REGRESSIONS)
    for path in watch.inputs(folder, reader)
]


@pytest.mark.parametrize(("reader", "path"), KEPT)
def test_an_input_that_is_kept_leaves_its_reader_as_documented(reader, path):
    found = watch.failure(READERS[reader], path.read_bytes())
    assert found is None, f"{found.kind}\n{found.text}"


@pytest.mark.parametrize("reader", READERS)
def test_an_honest_input_is_read_without_an_error(reader):
    read = 0
    for content in seeds()[reader]:
        try:
            READERS[reader].read(content)
        except READERS[reader].errors:
            continue
        read += 1
    assert read
