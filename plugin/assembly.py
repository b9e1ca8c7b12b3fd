# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the tools and the agent together as the settings say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qgis.core import QgsProject

from ..tools.catalog import build_registry
from ..tools.context import Canvas
from ..tools.registry import Tool
from ..tools.toolbox import ProjectToolbox
from .agent import example, prompt, state
from .agent.engine import Agent
from .agent.limit import Limits
from .agent.state import Workflow
from .llm.base import ModelError, Speaker
from .number import in_locale
from .place import RESOURCES, detector_folder, temporary_folder
from .runner import MainThread
from .settings import Settings

_STATES = "analysis"
"""Questions about layers."""


def limits_of(settings: Settings) -> Limits:
    """Return the caps of a run as the user set them."""
    return Limits(
        steps=settings.max_steps,
        errors=settings.max_errors,
        tokens=settings.run_tokens,
        reply_tokens=settings.reply_tokens,
    )


def make_toolbox(
    project: QgsProject,
    settings: Settings,
    call: MainThread,
    canvas: Canvas | None = None,
    more: Sequence[Tool] = (),
) -> ProjectToolbox:
    """Return the tools over `project`, and some `more`; files go to the output folder of the
    settings."""
    return ProjectToolbox(
        project,
        build_registry(more),
        call.call,
        temporary_folder(),
        output_of(settings),
        canvas,
        allowed_of(settings),
        (detector_folder(),),
    )


def output_of(settings: Settings) -> Path | None:
    """Return the folder for files that the user set, None for the temporary one."""
    return Path(settings.output_folder) if settings.output_folder else None


def allowed_of(settings: Settings) -> tuple[Path, ...]:
    """Return the folders, beside the project's, whose files the user lets a model read."""
    return tuple(Path(line) for line in settings.allowed_folders.splitlines() if line.strip())


def states_of(settings: Settings) -> Workflow:
    """Return the workflow of states that was chosen. Raises ModelError for a broken file."""
    chosen = settings.states or _STATES
    own = Path(chosen)
    path = own if own.suffix == ".json" else RESOURCES / "workflows" / f"{chosen}.json"
    try:
        return state.load(path)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The workflow of states {chosen} cannot be used. Choose another in the options.",
            str(error),
        ) from error


def make_agent(toolbox: ProjectToolbox, speaker: Speaker, settings: Settings) -> Agent:
    """Put the agent together from the workflow and prompts in the resources.

    Raises ModelError when the speaker's model is not there, or the workflow of states that was
    chosen.
    """
    prompts = prompt.load(RESOURCES / "prompts")
    return Agent(
        workflow=states_of(settings),
        bank=example.load(RESOURCES / "workflows" / "examples.json", prompts.ignored),
        prompts=prompts,
        toolbox=toolbox,
        speaker=speaker,
        limits=limits_of(settings),
        write=in_locale,
        exposure=speaker.exposure(settings.exposure),
    )
