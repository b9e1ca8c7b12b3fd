# SPDX-License-Identifier: GPL-2.0-or-later
"""Tool calls written into text are found, and nothing else is."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geo_olm.plugin.llm.literal import MalformedError, read_call, read_json
from geo_olm.plugin.llm.textcall import find_calls, new_id, read_arguments

KNOWN = ("run_processing", "layer_info", "buffer_layer", "list_layers", "remove_layer")


def calls(text: str) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, call.arguments) for call in find_calls(text, KNOWN).calls]


def test_a_fenced_call_with_parameters_is_found_and_not_shown() -> None:
    """Case A01."""
    wanted = {"algorithm": "native:buffer", "parameters": {"INPUT": "roads", "DISTANCE": 500}}
    text = "```json\n" + json.dumps({"name": "run_processing", "parameters": wanted}) + "\n```"
    found = find_calls(text, KNOWN)
    assert [(call.name, call.arguments) for call in found.calls] == [("run_processing", wanted)]
    assert found.text == ""


@pytest.mark.parametrize("key", ["arguments", "parameters", "args", "input"])
@pytest.mark.parametrize("name_key", ["name", "tool", "function"])
def test_every_usual_key_is_taken(name_key: str, key: str) -> None:
    text = json.dumps({name_key: "layer_info", key: {"layer": "roads"}})
    assert calls(text) == [("layer_info", {"layer": "roads"})]


def test_a_tag_without_its_end_is_a_call_and_the_prose_stays() -> None:
    """Case A03."""
    text = 'Let me look. <tool_call>{"name":"layer_info","arguments":{"layer":"roads"}}'
    found = find_calls(text, KNOWN)
    assert [call.name for call in found.calls] == ["layer_info"]
    assert found.text == "Let me look."


def test_json_that_does_not_close_is_no_call() -> None:
    """Case A03, second half."""
    found = find_calls('Well. <tool_call>{"name":"layer_info","arguments":{"layer":"ro', KNOWN)
    assert found.calls == ()
    assert "malformed JSON at position" in found.malformed
    assert found.text == "Well."


@pytest.mark.parametrize(
    "text",
    [
        'buffer_layer(layer="roads", distance=500)',
        '```python\nbuffer_layer(layer="roads", distance=500)\n```',
        '<|python_tag|>buffer_layer.call(layer="roads", distance=500)<|eom_id|>',
    ],
)
def test_a_python_style_call_is_read(text: str) -> None:
    """Case A05."""
    assert calls(text) == [("buffer_layer", {"layer": "roads", "distance": 500})]
    assert find_calls(text, KNOWN).text == ""


def test_positional_arguments_are_asked_for_by_name() -> None:
    """Case A05, third form."""
    found = find_calls('buffer_layer("roads", 500)', KNOWN)
    assert found.calls == ()
    assert "buffer_layer" in found.malformed


def test_code_in_an_argument_never_runs(tmp_path: object) -> None:
    """Case A05: the expression would leave a file."""
    mark = f"{tmp_path}/ran"
    found = find_calls(f'buffer_layer(layer=__import__("os").mkdir("{mark}"))', KNOWN)
    assert found.calls == ()
    with pytest.raises(FileNotFoundError):
        open(mark).close()


def test_a_call_while_thinking_is_not_run() -> None:
    """Case A07."""
    text = (
        '<think>maybe <tool_call>{"name":"remove_layer","arguments":{"layer":"roads"}}'
        "</tool_call></think>The layer has 3 features."
    )
    found = find_calls(text, KNOWN)
    assert found.calls == ()
    assert found.text == "The layer has 3 features."
    assert "remove_layer" in found.thinking


def test_thinking_that_only_ends_is_thinking() -> None:
    found = find_calls("remove_layer(layer='a')\n</think>Done.", KNOWN)
    assert (found.calls, found.text) == ((), "Done.")


def test_stray_closing_tags_are_not_shown() -> None:
    """Case A08."""
    assert find_calls("</parameter></function></tool_call>", KNOWN).text == ""


def test_broken_json_is_mended_once() -> None:
    """Case A17."""
    text = '{\\n "name": "layer_info", "arguments": {\\n "layer": "roads",\\n "n": 500,}}'
    assert calls(text) == [("layer_info", {"layer": "roads", "n": 500})]
    single = "{'name': 'layer_info', 'arguments': {'layer': \"O'Hare\", 'all': True}}"
    assert calls(single) == [("layer_info", {"layer": "O'Hare", "all": True})]


def test_a_backslash_n_within_a_value_is_kept() -> None:
    assert calls('{"name":"layer_info","arguments":{"layer":"a\\nb"},}') == [
        ("layer_info", {"layer": "a\nb"})
    ]


def test_json_beyond_mending_names_the_position() -> None:
    with pytest.raises(MalformedError, match="position 6"):
        read_json('{"a": &}')


def test_calls_get_ids_of_their_own() -> None:
    """Case A23."""
    two = '[TOOL_CALLS][{"name":"list_layers","id":""},{"name":"list_layers","id":""}]'
    found = find_calls(two, KNOWN).calls
    assert len({call.id for call in found}) == 2
    assert all(re.fullmatch(r"[A-Za-z0-9]{9}", call.id) for call in found)


@pytest.mark.parametrize("given_arguments", [None, "", "null", "{}", {}])
def test_missing_arguments_are_an_empty_object(given_arguments: object) -> None:
    """Case A14."""
    assert read_arguments(given_arguments) == {}


def test_several_calls_keep_their_order() -> None:
    text = (
        '<tool_call>\n{"name": "list_layers"}\n</tool_call>\n<tool_call>\n'
        '{"name": "layer_info", "arguments": {"layer": "b"}}\n</tool_call>'
    )
    assert calls(text) == [("list_layers", {}), ("layer_info", {"layer": "b"})]


def test_the_newer_form_of_mistral_is_read() -> None:
    assert calls('[TOOL_CALLS]layer_info[ARGS]{"layer":"a"}') == [("layer_info", {"layer": "a"})]


def test_an_unknown_tool_in_a_clear_form_is_reported_as_a_call() -> None:
    """Case A19: the agent answers it by name."""
    assert calls('{"name":"native_buffer","arguments":{"x":1}}') == [("native_buffer", {"x": 1})]


@pytest.mark.parametrize(
    "text",
    [
        "The set {1, 2} and [this] are no calls.",
        'Its record is {"name": "London", "population": 9}.',
        "You can use layer_info(layer='roads') for that later.",
        "An unclosed [ bracket and a brace { in prose",
    ],
)
def test_prose_is_left_alone(text: str) -> None:
    found = find_calls(text, KNOWN)
    assert (found.calls, found.text, found.malformed) == ((), text, "")


@pytest.mark.parametrize(
    "text", ["{" * 50_000, "[" * 50_000, "buffer_layer(" * 5_000, "<think>" * 9_000]
)
def test_hostile_text_costs_little(text: str) -> None:
    begun = time.monotonic()
    assert find_calls(text, KNOWN).calls == ()
    assert time.monotonic() - begun < 2


@given(st.text(alphabet="{}[]()\"'\\,:=<>/ tolcanme`n", max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    find_calls(text, KNOWN)


@given(
    st.dictionaries(
        st.text(max_size=8), st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=9))
    )
)
@example({"": "<think>"})
@example({"": "</think>"})
@example({"a": '"<think>', "b": "</thinking>\\"})
def test_whatever_arguments_json_holds_come_back(arguments: dict[str, object]) -> None:
    text = "Now: " + json.dumps({"name": "layer_info", "arguments": arguments})
    assert calls(text) == [("layer_info", arguments)]


def test_a_call_with_an_attribute_names_the_last_part() -> None:
    assert read_call("tools.layer_info(layer='a', n=-1)") == (
        "layer_info",
        {"layer": "a", "n": -1},
    )


def test_new_ids_differ() -> None:
    assert len({new_id() for _ in range(1000)}) == 1000
