# SPDX-License-Identifier: GPL-2.0-or-later
"""The report: one page without a network, with charts, intervals and every transcript."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from geo_olm.plugin.evaluation.outcome import Grade
from geo_olm.plugin.evaluation.report import groups, report, write_report
from geo_olm.plugin.evaluation.report_chart import Chart, Point, family
from geo_olm.plugin.evaluation.result import Measured, entry

MODEL = "Qwen2.5-Coder-1.5B Q4_K_M"


def run(method: str, task: str, success: bool, repeat: int = 1, **more: Any) -> dict[str, Any]:
    record = {
        "status": "ok",
        "answer": more.get("answer", "17 towns"),
        "model": {"name": more.get("model", MODEL), "server": "openai"},
        "tokens": {"prompt": more.get("prompt", 900), "evaluated": 300, "generated": 100},
        "seconds": {"model": 2.0, "tools": 0.5, "total": 3.0},
        "calls": [{"tool": "count", "arguments": {}, "ok": True, "error": "", "seconds": 0.5}],
    }
    judged = Grade(success, () if success else ("the value is 4 instead of 3",))
    measured = Measured(0.5, 0.75, more.get("cost"), None, {"reading": 1.5, "writing": 0.5})
    return entry((task, method, repeat), "", record, judged, [], "", measured)


RUNS = [
    run("react", "D01", False, prompt=3000),
    run("react", "D02", True, prompt=3000),
    run("geo-olm", "D01", True),
    run("geo-olm", "D02", True),
]


class Links(HTMLParser):
    """Gathers ids, links within the page, and whatever would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            if name in ("src", "href"):
                (self.links if str(value).startswith("#") else self.fetched).append(str(value))


def read(page: str) -> Links:
    links = Links()
    links.feed(page)
    return links


def test_the_page_fetches_nothing_and_every_mark_opens_a_transcript(tmp_path: Path) -> None:
    page = report(RUNS, tmp_path)
    links = read(page)
    assert links.fetched == []
    assert "url(" not in page
    assert sorted(link[1:] for link in links.links) == sorted(links.ids)
    assert len(links.ids) == len(RUNS)


def test_methods_stand_with_success_interval_correctness_and_phases(tmp_path: Path) -> None:
    page = report(RUNS, tmp_path)
    first, second = groups(RUNS)
    assert (first.method, first.right, second.method) == ("geo-olm", 2, "react")
    row = re.search(r"<tr><td>react</td>.*?</tr>", page).group(0)  # type: ignore[union-attr]
    cells = re.findall(r"<td>(.*?)</td>", row)
    assert cells[:5] == ["react", MODEL, "1.5B", "Q4_K_M", "openai"]
    assert cells[5:12] == ["2", "50%", "9% to 91%", "50%", "75%", "3,100", "300"]
    assert cells[12:] == ["1.0", "3.0", "1.5", "0.5", "0.0", "0.0"]


def test_what_was_not_measured_is_left_out(tmp_path: Path) -> None:
    page = report(RUNS, tmp_path)
    assert "Energy" not in page
    assert "Cost" not in page
    assert "Cost $" in report([run("react", "D01", True, cost=0.002)], tmp_path)


def test_scripted_faults_are_told_and_drawn_apart_from_models(tmp_path: Path) -> None:
    both = [*RUNS, run("react", "D01", True, 2, model="faults 0.2 (no model)")]
    page = report(both, tmp_path)
    assert "were not made by a model" in page
    assert page.count("(scripted faults, no model)</h2>") == 3
    assert "were not made by a model" not in report(RUNS, tmp_path)


def test_texts_of_models_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "D01.react.1"
    folder.mkdir(parents=True)
    evil = "<script>alert(1)</script>"
    lines = [
        {"event": "RunStarted", "t": 0.0, "question": evil},
        {
            "event": "CallFinished",
            "t": 1.0,
            "tool": evil,
            "arguments": {"a": evil},
            "ok": True,
            "result": {"text": evil},
        },
        {"event": "RunFinished", "t": 2.0, "status": "ok", "answer": evil},
    ]
    text = "\n".join([*map(json.dumps, lines), "no json"])
    (folder / "events.jsonl").write_text(text, encoding="utf-8")
    page = report([run("react", "D01", False, answer=evil, model=evil)], tmp_path)
    assert evil not in page
    assert page.count("&lt;script&gt;") >= 5
    assert "cannot be read" in page


def test_a_run_without_events_says_so(tmp_path: Path) -> None:
    assert "The events of this run are not there." in report(RUNS, tmp_path)


def test_the_page_is_written_beside_the_results(tmp_path: Path) -> None:
    path = write_report(RUNS, tmp_path)
    assert path == tmp_path / "report.html"
    assert list(tmp_path.iterdir()) == [path]


def chart(*points: Point) -> ElementTree.Element:
    return ElementTree.fromstring(Chart(points, "Tokens").svg())


def marks(svg: ElementTree.Element, colour: str) -> list[float]:
    found = [float(one.get("cx", "nan")) for one in svg.iter() if one.tag.endswith("}circle")]
    assert all(one.get("fill") == colour for one in svg.iter() if one.tag.endswith("}circle"))
    return found


def test_more_tokens_stand_further_right_on_a_logarithmic_axis() -> None:
    own = [Point("geo-olm", "geo-olm", x, 0.5, 0.3, 0.7) for x in (100.0, 1000.0, 10000.0)]
    svg = chart(*own)
    *places, _of_the_legend = marks(svg, family("geo-olm").colour)
    first, second, third = places
    assert first < second
    assert abs((third - second) - (second - first)) < 0.2


def test_an_interval_is_drawn_from_its_low_to_its_high_end() -> None:
    svg = chart(Point("geo-olm", "geo-olm", 100.0, 0.5, 0.25, 0.75))
    colour = family("geo-olm").colour
    lines = [one for one in svg.iter() if one.tag.endswith("}line") and one.get("stroke") == colour]
    ends = sorted({float(one.get("y1", "0")) for one in lines})
    hundred, zero = 32.0, 420.0 - 56.0
    assert ends[0] == hundred + 0.25 * (zero - hundred)
    assert ends[-1] == hundred + 0.75 * (zero - hundred)


def test_variants_belong_to_the_family_of_their_method() -> None:
    assert family("react+chat") is family("react")
    assert family("unheard-of").title == "Other"
