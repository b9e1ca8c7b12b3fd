# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls in the forms of each family of models, read the same way: whole, and piece by piece."""

from __future__ import annotations

import json

import pytest

from geo_olm.plugin.llm.assembly import Assembly
from geo_olm.plugin.llm.base import Finish, Usage
from geo_olm.plugin.llm.textcall import TextCalls, find_calls

KNOWN = ("layer_info", "buffer_layer", "list_layers", "remove_layer")
INFO = ("layer_info", {"layer": "roads"})
BUFFER = ("buffer_layer", {"layer": "roads", "distance": 500})
TYPED = ("buffer_layer", {"layer": "roads", "distance": "500"})

_JSON = json.dumps({"name": INFO[0], "arguments": INFO[1]})
_BUFFER_JSON = json.dumps({"name": BUFFER[0], "parameters": BUFFER[1]})

FORMS = {
    "Qwen and Hermes": (f"<tool_call>\n{_JSON}\n</tool_call>", [INFO]),
    "Hermes, parallel": (
        f"<tool_call>{_JSON}</tool_call>\n<tool_call>{_BUFFER_JSON}</tool_call>",
        [INFO, BUFFER],
    ),
    "Llama 3, JSON": (_BUFFER_JSON, [BUFFER]),
    "Llama 3, parallel": (f"{_JSON}; {_BUFFER_JSON}", [INFO, BUFFER]),
    "Llama 3, python tag": (f"<|python_tag|>{_BUFFER_JSON}<|eom_id|>", [BUFFER]),
    "Llama 3, python tag with a call": (
        '<|python_tag|>buffer_layer.call(layer="roads", distance=500)<|eom_id|>',
        [BUFFER],
    ),
    "Llama 3, function tag": (f"<function=layer_info>{json.dumps(INFO[1])}</function>", [INFO]),
    "Llama 4, list of calls": (
        "[layer_info(layer='roads'), buffer_layer(layer='roads', distance=500)]",
        [INFO, BUFFER],
    ),
    "Mistral": (f"[TOOL_CALLS] [{_JSON}, {_BUFFER_JSON}]", [INFO, BUFFER]),
    "Mistral, newer": (
        '[TOOL_CALLS]layer_info[ARGS]{"layer": "roads"}'
        '[TOOL_CALLS]buffer_layer[ARGS]{"layer": "roads", "distance": 500}',
        [INFO, BUFFER],
    ),
    "Phi": (f"<|tool_call|>[{_JSON}]<|/tool_call|>", [INFO]),
    "Phi, functools": (f"functools[{_JSON}, {_BUFFER_JSON}]", [INFO, BUFFER]),
    "fence": (f"I look.\n```json\n{_JSON}\n```", [INFO]),
    "fence of a tool": (f"```tool_call\n{_JSON}\n```", [INFO]),
    "XML": (
        "<tool_call>\n<function=buffer_layer>\n<parameter=layer>\nroads\n</parameter>\n"
        "<parameter=distance>\n500\n</parameter>\n</function>\n</tool_call>",
        [TYPED],
    ),
    "XML without its outer tag": (
        "<function=layer_info><parameter=layer>roads</parameter></function>"
        "<function=buffer_layer><parameter=layer>roads</parameter>"
        "<parameter=distance>500</parameter></function>",
        [INFO, TYPED],
    ),
    "XML with attributes": (
        '<function_calls><invoke name="layer_info"><parameter name="layer">roads</parameter>'
        "</invoke></function_calls>",
        [INFO],
    ),
    "XML, a parameter not closed": (
        "<tool_call><function=layer_info><parameter=layer>roads</function></tool_call>",
        [INFO],
    ),
    "python": ('buffer_layer(layer="roads", distance=500)', [BUFFER]),
    "a brace short, in its tag": (f"<tool_call>{_JSON[:-1]}</tool_call>", [INFO]),
    "a brace short, at the end": (f"So: {_JSON[:-1]}", [INFO]),
}


def found(text: str, cut: bool = False) -> TextCalls:
    return find_calls(text, KNOWN, cut)


def made(text: str, cut: bool = False) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, call.arguments) for call in found(text, cut).calls]


def streamed(text: str, size: int) -> str:
    """Return the text that an assembly shows of a reply that comes in pieces."""
    assembly = Assembly()
    for at in range(0, len(text), size):
        list(assembly.write(text[at : at + size]))
    list(assembly.flush())
    return assembly.reply(Finish.STOP, Usage()).text


@pytest.mark.parametrize("form", FORMS)
def test_a_call_is_found_in_the_form_of(form: str) -> None:
    text, wanted = FORMS[form]
    assert made(text) == wanted


@pytest.mark.parametrize("form", FORMS)
def test_nothing_of_a_call_is_shown_in_the_form_of(form: str) -> None:
    text, _ = FORMS[form]
    assert found(text).text.strip(" \n;[],") in ("", "I look.", "So:")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 7])
def test_a_streamed_call_is_the_same_in_the_form_of(form: str, size: int) -> None:
    """A thinking block stands before it, and its marks are cut in two."""
    text, wanted = FORMS[form]
    shown = streamed(f"<think>First remove_layer(layer='roads').</think>{text}", size)
    assert made(shown) == wanted
    assert "First" not in shown


@pytest.mark.parametrize("form", FORMS)
def test_a_call_while_thinking_is_not_run_in_the_form_of(form: str) -> None:
    """Case A07, in every form, with and without the mark that opens the thinking."""
    text, _ = FORMS[form]
    for begin in ("<think>", ""):
        reply = found(f"{begin}maybe {text}</think>It has 3 features.")
        assert (reply.calls, reply.text) == ((), "It has 3 features.")


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_reply_runs_no_part_of_a_call_in_the_form_of(form: str) -> None:
    """Case A03: whatever the place of the cut, a call is whole or is not made."""
    text, wanted = FORMS[form]
    for end in range(len(text)):
        for name, arguments in made(text[:end], cut=True):
            assert (name, arguments) in wanted


def test_only_llamas_python_tag_asks_for_the_role_of_tools() -> None:
    assert [form for form, (text, _) in FORMS.items() if found(text).ipython] == [
        "Llama 3, python tag",
        "Llama 3, python tag with a call",
    ]


def test_a_mark_of_thinking_in_a_value_is_part_of_the_value() -> None:
    wanted = [("layer_info", {"layer": "a <think> b", "note": "</think>"})]
    arguments = '{"layer": "a <think> b", "note": "</think>"}'
    forms = [
        f'{{"name": "layer_info", "arguments": {arguments}}}',
        "layer_info(layer='a <think> b', note='</think>')",
        f"[TOOL_CALLS]layer_info[ARGS]{arguments}",
    ]
    for text in forms:
        assert made(text) == wanted
        assert made(streamed(text, 3)) == wanted


def test_thinking_after_a_string_that_never_ends_is_still_not_run() -> None:
    """The string is no literal, so the mark in it counts."""
    text = "Odd: {\"name <think>remove_layer(layer='roads')\n</think>Done."
    reply = found(streamed(text, 4))
    assert reply.calls == ()
    assert reply.text.endswith("Done.")


def test_a_second_end_of_thinking_takes_all_before_it() -> None:
    """The thinking spoke of its own mark."""
    text = "<think>I end with </think>, so\nremove_layer(layer='a')\n</think>Three."
    assert (found(text).calls, found(text).text) == ((), "Three.")


@pytest.mark.parametrize(
    "text",
    [
        "<function=layer_info><parameter=layer>roads",
        "<function=layer_info><parameter=" + "x" * 30_000 + ">",
        "<function=layer_info>{broken}</function>",
    ],
)
def test_a_tag_that_cannot_be_read_is_told_and_not_run(text: str) -> None:
    reply = found(text)
    assert reply.calls == ()
    assert reply.malformed


def test_values_in_tags_keep_their_line_breaks_and_brackets() -> None:
    text = "<function=layer_info><parameter=layer>\na < b\nand c\n</parameter></function>"
    assert made(text) == [("layer_info", {"layer": "a < b\nand c"})]


def test_a_reply_without_end_is_known_as_such() -> None:
    assembly = Assembly(longest=100)
    list(assembly.write("x" * 100))
    assert not assembly.is_endless
    list(assembly.think("y"))
    assert assembly.is_endless
