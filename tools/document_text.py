# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents read as passages: text, Markdown, HTML, and PDF where pypdf is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from .base import LastingError, MendableError
from .package import package

ENDINGS = (".txt", ".md", ".markdown", ".html", ".htm", ".pdf")
_LONGEST = 900
"""Characters of a passage, unless one paragraph alone is longer."""
_LARGEST = 50 * 1024 * 1024
_BLOCKS = {"p", "div", "li", "tr", "br", "section", "article", "table", "ul", "ol", "blockquote",
           "title", "pre"}  # fmt: skip
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_UNSEEN = {"script", "style", "template", "noscript"}
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")


@dataclass(frozen=True)
class Passage:
    """A part of a document: the file's name, its number from 1, the heading that it stands under
    and its text."""

    file: str
    number: int
    heading: str
    text: str


def passages_of(path: Path) -> list[Passage]:
    """Return the passages of a document, whole paragraphs of up to 900 characters together.

    Raises MendableError for a file of another kind, one that is too large, broken or empty,
    LastingError for a PDF without pypdf.
    """
    if path.suffix.lower() not in ENDINGS:
        raise MendableError(
            f"{path.name} is no document that can be read: they are {', '.join(ENDINGS)}."
        )
    try:
        if path.stat().st_size > _LARGEST:
            raise MendableError(f"{path.name} is larger than 50 MB: give the part that matters.")
        found = _pdf(path) if path.suffix.lower() == ".pdf" else _written(path)
    except OSError as error:
        raise MendableError(f"{path.name} cannot be read: {error}") from error
    made = [
        Passage(path.name, number, heading, text)
        for number, (heading, text) in enumerate(_gathered(found), start=1)
    ]
    if not made:
        raise MendableError(f"{path.name} holds no text, perhaps only pictures of it.")
    return made


def _written(path: Path) -> str:
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if path.suffix.lower() not in (".html", ".htm"):
        return text
    page = _Page()
    page.feed(text)
    page.close()
    return page.text()


def _pdf(path: Path) -> str:
    pypdf = package("pypdf", "A PDF", "save the document as text first")
    try:
        pages = [one.extract_text() or "" for one in pypdf.PdfReader(str(path)).pages]
    except LastingError:
        raise
    except Exception as error:  # a broken PDF raises errors of many kinds
        raise MendableError(f"{path.name} is no PDF that can be read: {error}") from error
    return "\n\n".join(pages)


class _Page(HTMLParser):
    """The text of a web page, headings as in Markdown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a paragraph or a heading."""
        if tag in _UNSEEN:
            self._hidden += 1
        elif tag in _HEADINGS:
            self._parts.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag in _BLOCKS:
            self._parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        """End what was begun."""
        if tag in _UNSEEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        """Take the text that a reader sees."""
        if not self._hidden:
            self._parts.append(re.sub(r"\s+", " ", data))

    def text(self) -> str:
        """Return what was read."""
        return "".join(self._parts)


def _gathered(text: str) -> Iterator[tuple[str, str]]:
    """Yield heading and text of passages, in order."""
    heading, held = "", ""
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        lines = [line.strip() for line in block.strip().splitlines()]
        while lines and _HEADING.match(lines[0]):
            if held:
                yield heading, held
                held = ""
            found = _HEADING.match(lines.pop(0))
            heading = found.group(1) if found else heading
        paragraph = " ".join(line for line in lines if line)
        if held and len(held) + len(paragraph) > _LONGEST:
            yield heading, held
            held = ""
        held = f"{held} {paragraph}".strip()
    if held:
        yield heading, held
