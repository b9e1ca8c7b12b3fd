# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens, saves, imports and exports the workflow of the graph editor, each refusal in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qgis.core import Qgis, QgsProject
from qgis.PyQt.QtCore import QObject
from qgis.PyQt.QtWidgets import QFileDialog, QMessageBox

from ..ui.graph.graph_dock import GraphDock
from ..ui.graph.picture import save_picture
from .exchange.catalog import is_offered
from .exchange.loss import Lost
from .exchange.model_in import ModelError, from_file
from .exchange.model_out import to_model
from .exchange.script import to_script
from .exchange.team import TeamError, to_team
from .library import KeepError, read, save_over
from .workflow import paper_form
from .workflow.file import SUFFIX, WorkflowFileError, dumps
from .workflow.form import FormError
from .workflow.role import Roles
from .workflow.topology import TopologyError

_ENDINGS = {"workflow": SUFFIX, "paper": ".json", "model": ".model3", "script": ".py",
            "team": ".json", "picture": ".svg", "image": ".png"}  # fmt: skip


class FileDesk(QObject):
    """The files of one editor. Main thread only."""

    def __init__(self, dock: GraphDock, desk: Any, roles: Roles) -> None:
        """`desk` tells the user a sentence in QGIS's message bar."""
        super().__init__(dock)
        self._dock, self._desk, self._roles = dock, desk, roles
        dock.open_requested.connect(self.open)
        dock.import_requested.connect(self.open)
        dock.save_requested.connect(lambda: self.save(self._dock.document.path))
        dock.save_as_requested.connect(lambda: self.save(None))
        dock.export_requested.connect(self.export)

    # -- opening

    def open(self, kind: str = "") -> None:
        """Open a workflow, the graph of a paper's form, or a QGIS model; `kind` "model" or
        "paper" offers files of that kind alone."""
        if not self.may_leave():
            return
        kinds = {
            "model": self.tr("QGIS models (*.model3)"),
            "paper": self.tr("Graphs of the papers (*.json)"),
        }.get(kind, self.tr("Workflows and models (*.geoflow.json *.json *.model3)"))
        found, _ = QFileDialog.getOpenFileName(
            self._dock, self.tr("Open a workflow"), QgsProject.instance().homePath(), kinds
        )
        if found:
            self.open_file(Path(found))

    def open_file(self, path: Path) -> None:
        """Show the workflow of a file; what it could not hold is told."""
        try:
            if path.suffix.lower() == ".model3":
                taken = from_file(path, self._roles)
                self._dock.document.load(taken.graph)
                self._tell_lost(path.name, taken.lost)
                return
            loaded = read(path)
        except (ModelError, KeepError, WorkflowFileError, FormError) as error:
            self._desk.tell(str(error), Qgis.MessageLevel.Warning)
            return
        is_home = path.name.endswith(SUFFIX) and not loaded.read_only
        self._dock.document.load(loaded.graph, path if is_home else None)
        said = [*loaded.remarks, *(one.message for one in loaded.faults)]
        if said:
            self._desk.tell(" ".join(said), Qgis.MessageLevel.Info)

    # -- saving

    def save(self, path: Path | None) -> bool:
        """Save the workflow, where it lies or where the user says; tells whether it was."""
        document = self._dock.document
        target = path or self._asked(self.tr("Save the workflow"), SUFFIX)
        if target is None:
            return False
        try:
            save_over(document.graph, target)  # its own file, or the dialog has asked
        except KeepError as error:
            self._desk.tell(str(error), Qgis.MessageLevel.Warning)
            return False
        document.saved(target)
        self._dock.say(self.tr("Saved in {}.").replace("{}", target.name))
        return True

    def may_leave(self) -> bool:
        """Ask what becomes of unsaved changes; tells whether they may go."""
        document = self._dock.document
        if not document.is_modified or document.graph.is_blank:
            return True
        buttons = QMessageBox.StandardButton
        asked = QMessageBox.question(
            self._dock,
            self.tr("Unsaved changes"),
            self.tr('Save the changes of "{}" first?').replace("{}", document.title),
            buttons.Save | buttons.Discard | buttons.Cancel,
            buttons.Save,
        )
        if asked == buttons.Save:
            return self.save(document.path)
        return bool(asked == buttons.Discard)

    # -- exporting

    def export(self, kind: str) -> None:
        """Write the workflow as a copy, in the papers' form, as a QGIS model, a script, a team of
        AutoGen, or a picture; what that form cannot hold is told."""
        target = self._asked(self.tr("Export the workflow"), _ENDINGS[kind])
        if target is None:
            return
        try:
            lost = self._exported(kind, target)
        except (TopologyError, TeamError, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            text = self.tr("{0} was not written. {1}").replace("{0}", target.name)
            self._desk.tell(text.replace("{1}", reason), Qgis.MessageLevel.Warning)
            return
        self._tell_lost(target.name, lost)

    def _exported(self, kind: str, target: Path) -> Sequence[Lost]:
        graph = self._dock.document.graph
        lost: Sequence[Lost] = ()
        if kind in ("picture", "image"):
            save_picture(self._dock.view.graph_scene, target)
            return ()
        if kind == "model":
            model, lost = to_model(graph, is_offered)
            if not model.toFile(str(target)):
                raise OSError(self.tr("The folder cannot be written to."))
            return lost
        if kind == "workflow":
            text = dumps(graph)
        elif kind == "script":
            text, lost = to_script(graph, is_offered)
        elif kind == "team":
            team, lost = to_team(graph, self._roles, self._dock.document.tools)
            text = json.dumps(team, ensure_ascii=False, indent=1)
        else:
            text = json.dumps(paper_form.written(graph), ensure_ascii=False, indent=1)
            lost = (Lost("", self.tr(
                "Of each step it keeps the objective, the agent and the links: tools, parameters, "
                "variables and the answer are left out.")),)  # fmt: skip
        target.write_text(text, encoding="utf-8")
        return lost

    def _tell_lost(self, name: str, lost: Sequence[Lost]) -> None:
        if not lost:
            text = self.tr("{} holds all of the workflow.").replace("{}", name)
            self._desk.tell(text, Qgis.MessageLevel.Success)
            return
        said = " ".join(f"{one.vertex}: {one.text}" if one.vertex else one.text for one in lost)
        text = self.tr("{} cannot hold all:").replace("{}", name)
        self._desk.tell(f"{text} {said}", Qgis.MessageLevel.Info)

    def _asked(self, title: str, ending: str) -> Path | None:
        document = self._dock.document
        words = "_".join(document.title.split()[:6]).strip("?!.:,;/\\") or "workflow"
        folder = Path(QgsProject.instance().homePath() or Path.home())
        found, _ = QFileDialog.getSaveFileName(
            self._dock, title, str(folder / f"{words}{ending}"), f"*{ending}"
        )
        if not found:
            return None
        path = Path(found)
        if path.name.lower().endswith(ending):
            return path
        longer = path.with_name(f"{path.name}{ending}")
        if longer.exists():  # the dialog asked for another name
            text = self.tr("{} is there already. Choose its whole name to write over it.")
            self._desk.tell(text.replace("{}", longer.name), Qgis.MessageLevel.Warning)
            return None
        return longer
