"""Lineage explanations as tables: aligned, on one line, escaped, and not too long for a notebook."""

from __future__ import annotations

from html.parser import HTMLParser

from headwater_producers.spark.explain import MAX_HTML_ROWS, LineageExplanation, LineageOutput, LineageSource


def source(path: str, expression: str | None = None, *, masking: bool = False) -> LineageSource:
    return LineageSource(
        namespace="file",
        name="/data/people",
        path=path,
        type="DIRECT",
        subtype="TRANSFORMATION",
        kind="DERIVE",
        masking=masking,
        expression=expression,
    )


def explained(
    *outputs: tuple[str, list[LineageSource]], influences: tuple[LineageSource, ...] = ()
) -> LineageExplanation:
    reported = tuple(LineageOutput(path=path, sources=tuple(sources)) for path, sources in outputs)
    return LineageExplanation(outputs=reported, influences=influences)


class Cells(HTMLParser):
    """The texts of a table's cells, row by row."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "p":
            self.rows.append([""])

    def handle_data(self, data: str) -> None:
        self.rows[-1][-1] += data


def test_text_is_aligned_and_says_what_is_masked() -> None:
    reported = explained(("n", [source("name", "md5(name)", masking=True)]), influences=(source("age"),))
    assert reported.to_table().splitlines() == [
        "output  input         field  type    kind             expression",
        "------  ------------  -----  ------  ---------------  ----------",
        "n       /data/people  name   DIRECT  DERIVE (masked)  md5(name)",
        "*       /data/people  age    DIRECT  DERIVE",
    ]


def test_wide_characters_have_two_places_and_accents_none() -> None:
    reported = explained(("\u540d\u524d", [source("a")]), ("e\u0301", [source("b")]))
    rows = reported.to_table().splitlines()[2:]
    assert [row.split("/")[0] for row in rows] == ["\u540d\u524d    ", "e\u0301       "]


def test_a_line_break_in_a_name_makes_no_line_and_an_escape_is_not_obeyed() -> None:
    reported = explained(("a\nb", [source("\x1b[31mred")]))
    assert reported.to_table().count("\n") == 2
    assert "a\\nb" in reported.to_table()
    assert "\\x1b[31mred" in reported.to_table()


def test_html_in_names_and_texts_is_text() -> None:
    evil = "<script>alert('x')</script>\"&"
    reported = explained((evil, [source(evil, f"upper({evil})")]))
    cells = Cells(reported._repr_html_())
    assert cells.rows[1] == [evil, "/data/people", evil, "DIRECT", "DERIVE", f"upper({evil})"]
    assert cells.tags == {"table", "thead", "tbody", "tr", "th", "td", "code"}


def test_an_output_is_named_once_and_two_of_one_name_twice() -> None:
    reported = explained(("a", [source("x"), source("y")]), ("a", [source("z")]), ("b", []))
    assert [(row[0], row[2]) for row in Cells(reported._repr_html_()).rows[1:]] == [
        ("a", "x"),
        ("", "y"),
        ("a", "z"),
        ("b", ""),
    ]


def test_a_notebook_is_given_so_many_rows_and_reported_of_the_rest() -> None:
    reported = explained(*((f"c{n}", [source("x")]) for n in range(MAX_HTML_ROWS + 1_200)))
    *_, last = rows = Cells(reported._repr_html_()).rows
    assert len(rows) == 1 + MAX_HTML_ROWS + 1
    assert last == ["1,200 more rows: to_table() has all of them."]
    assert reported.to_table().count("\n") == 1 + MAX_HTML_ROWS + 1_200


def test_without_columns_there_is_the_head() -> None:
    assert explained().to_table().splitlines()[0].split() == ["output", "input", "field", "type", "kind", "expression"]
    assert len(Cells(explained()._repr_html_()).rows) == 1
