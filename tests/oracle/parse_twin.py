"""A native parser and its slow twin read one text."""

from __future__ import annotations

import numpy as np

from fsstream._native import Batch
from fsstream.formats import format_named
from fsstream.formats.options import FormatOptions
from tests.oracle import parse_oracle, table_oracle

LINES = ("libsvm", "columns", "pairs", "tokens", "vw")
TABLES = tuple(table_oracle.SEPARATORS)
FORMS = (*LINES, *TABLES)
COLUMNS: table_oracle.Columns = ((b"y", "label"), (b"n", "numeric"), (b"c", "categorical"))


def assert_equal_to_twin(
    form: str, text: bytes, ngrams: int, columns: table_oracle.Columns = COLUMNS
) -> None:
    batch = Batch()
    options = FormatOptions(
        ngrams=ngrams, columns=columns if form in TABLES else (), no_header=form in TABLES
    )
    parser = format_named(form).parser(options)
    parser.parse(text, batch, True)
    if form in TABLES:
        expected = table_oracle.parse(form, text, columns)
    else:
        expected = parse_oracle.parse(form, text, ngrams)
    assert [bad[:3] for bad in batch.bad] == expected.bad
    assert batch.labels() == [row.label for row in expected.rows]
    assert batch.records.tolist() == [row.record for row in expected.rows]
    np.testing.assert_array_equal(batch.label_values, [row.label_value for row in expected.rows])
    assert batch.importance.tolist() == [row.importance for row in expected.rows]
    if form == "vw":
        assert batch.tags() == [row.tag for row in expected.rows]
    entries = [entry for row in expected.rows for entry in row.entries]
    assert batch.row_starts.tolist() == np.cumsum([0, *(len(row.entries) for row in expected.rows)]).tolist()
    assert batch.names() == [name for name, _ in entries]
    assert batch.keys.tolist() == [parse_oracle.key_of(name) for name, _ in entries]
    values = np.array([value for _, value in entries], dtype=np.float32)
    np.testing.assert_array_equal(batch.values.view(np.uint32), values.view(np.uint32))

    parser.parse(text, batch, False)
    assert [bad[:3] for bad in batch.bad] == expected.bad[:1]
    first_bad = expected.bad[0][0] if expected.bad else len(text) + 1
    assert batch.rows == sum(row.record < first_bad for row in expected.rows)
