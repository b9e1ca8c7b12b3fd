# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents become passages: whole paragraphs under their headings, whatever the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from geo_olm.tools.base import MendableError
from geo_olm.tools.document_text import passages_of

MARKDOWN = """# Bridges

The bridge at Mill Lane was closed in May.

It was opened again in June.

## Roads

Main Street is one way.
"""
PAGE = """<html><head><title>Bridges</title><style>p {color: red}</style>
<script>alert("not text")</script></head>
<body><h1>Bridges</h1><p>The bridge at <b>Mill&nbsp;Lane</b> was closed in&nbsp;May.</p>
<h2>Roads</h2><ul><li>Main Street is one way.</li></ul></body></html>"""


def pdf(text: str) -> bytes:
    """Return a PDF of one page with a line of text."""
    stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode()
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(parts) + 1, table)
    return made + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(parts) + 1, start,
    )  # fmt: skip


def test_markdown_keeps_paragraphs_together_and_headings_apart(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(MARKDOWN, encoding="utf-8")
    found = [(one.number, one.heading, one.text) for one in passages_of(tmp_path / "a.md")]
    assert found == [
        (1, "Bridges", "The bridge at Mill Lane was closed in May. It was opened again in June."),
        (2, "Roads", "Main Street is one way."),
    ]


def test_of_a_page_only_what_a_reader_sees_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(PAGE, encoding="utf-8")
    found = {one.heading: one.text for one in passages_of(tmp_path / "a.html")}
    assert found["Bridges"] == "The bridge at Mill Lane was closed in May."
    assert found["Roads"] == "Main Street is one way."
    assert "alert" not in str(found)
    assert "red" not in str(found)


def test_the_text_of_a_pdf_is_read(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    (tmp_path / "a.pdf").write_bytes(pdf("The bridge was closed in May."))
    (only,) = passages_of(tmp_path / "a.pdf")
    assert only.text == "The bridge was closed in May."
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    with pytest.raises(MendableError, match=r"b\.pdf"):
        passages_of(tmp_path / "b.pdf")


def test_long_texts_are_parted_at_paragraphs_and_old_encodings_are_read(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {n} " + "word " * 60 for n in range(9)]
    (tmp_path / "a.txt").write_bytes(("\r\n\r\n".join(paragraphs) + " Caf\u00e9").encode("cp1252"))
    found = passages_of(tmp_path / "a.txt")
    assert len(found) == 5
    assert all(len(one.text) <= 900 for one in found)
    assert found[-1].text.endswith("Café")
    assert [word for one in found for word in one.text.split()] == (
        " ".join(paragraphs) + " Café"
    ).split()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [("a.docx", b"x", "no document that can be read"), ("a.txt", b" \n\n ", "holds no text")],
)
def test_what_is_no_document_is_told(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MendableError, match=said):
        passages_of(tmp_path / name)
