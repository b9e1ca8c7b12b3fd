# SPDX-License-Identifier: GPL-2.0-or-later
"""What llama.cpp's server prints of graphics cards and layers."""

from __future__ import annotations

from pathlib import Path

import pytest

from geo_olm.plugin.llm.device import (
    Device,
    Placement,
    chooses_layers,
    devices,
    layers_that_fit,
    placement,
)
from geo_olm.plugin.llm.gguf import ModelFile

MIB = 1 << 20
LISTED = """ggml_cuda_init: found 2 CUDA devices:
Available devices:
  CUDA0: NVIDIA RTX A2000 (Laptop) (4096 MiB, 3500 MiB free)
  Vulkan1: Intel(R) Iris(R) Xe Graphics (7890 MiB, 7101 MiB free)
"""
NEW_HELP = """-ngl,  --gpu-layers, --n-gpu-layers N   max. number of layers to store in VRAM,
                                        a number, 'auto', or 'all' (default: auto)
"""
OLD_HELP = """-ngl, --gpu-layers, --n-gpu-layers N    number of layers to store in VRAM
                                        (env: LLAMA_ARG_N_GPU_LAYERS)
--fit [on|off] 'auto'
"""
A2000 = Device("CUDA0", "NVIDIA RTX A2000 (Laptop)", 4096 * MIB, 3500 * MIB)


def test_cards_are_read_with_their_memory() -> None:
    iris = Device("Vulkan1", "Intel(R) Iris(R) Xe Graphics", 7890 * MIB, 7101 * MIB)
    assert devices(LISTED) == (A2000, iris)
    assert devices("Available devices:\n  (none)\n") == ()
    assert devices("error: invalid argument: --list-devices") == ()


def test_a_newer_server_finds_the_layers_itself() -> None:
    assert chooses_layers(NEW_HELP)
    assert not chooses_layers(OLD_HELP)
    assert not chooses_layers("")


@pytest.mark.parametrize(
    ("size", "cache", "fit"),
    [
        (1000, 200, 29),  # all 28 and the output
        (5600, 220, 14),  # 2,768 MiB are left: 2768 * 29 / 5600 = 14.3
        (90000, 0, 0),
        (1000, 4000, 0),
    ],
)
def test_as_many_layers_as_fit_beside_cache_and_sums(size: int, cache: int, fit: int) -> None:
    model = ModelFile(Path("a.gguf"), size * MIB, layers=28)
    assert layers_that_fit(model, (A2000,), cache * MIB) == fit


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("offloaded 29/29 layers to GPU", "all 29 layers on NVIDIA RTX A2000 (Laptop)"),
        ("offloaded 12/29 layers to GPU", "12 of 29 layers on NVIDIA RTX A2000 (Laptop)"),
        ("offloaded 0/29 layers to GPU", "on the processor"),
    ],
)
def test_the_log_tells_how_many_layers_went_where(line: str, words: str) -> None:
    log = f"load_tensors: offloading 1 layers\n0.01 I load_tensors: {line}\nready\n"
    found = placement(log, (A2000,))
    assert found is not None
    assert found.words == words


def test_a_log_that_tells_nothing_is_not_guessed_from() -> None:
    assert placement("model loaded", (A2000,)) is None
    assert Placement(29, 29).words == "all 29 layers on the graphics card"
