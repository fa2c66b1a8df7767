"""Every input that is kept, given to its reader again: honest ones, those that reach far, and those that once went wrong."""

import pytest

from fuzz import watch
from fuzz.readers import READERS
from fuzz.seeds import seeds


@pytest.mark.parametrize("reader", READERS)
def test_an_input_that_is_kept_leaves_its_reader_as_documented(reader):
    for folder in (watch.CORPUS, watch.REGRESSIONS):
        for path in watch.inputs(folder, reader):
            found = watch.counted_failure(READERS[reader], path.read_bytes())
            assert found is None, f"{path}\n{found.kind}\n{found.text}"


@pytest.fixture(scope="module")
def honest():
    return seeds()


@pytest.mark.parametrize("reader", READERS)
def test_an_honest_input_is_read_without_an_error(honest, reader):
    read = 0
    for content in honest[reader]:
        try:
            READERS[reader].read(content)
        except READERS[reader].errors:
            continue
        read += 1
    assert read
