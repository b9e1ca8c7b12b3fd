# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's page in QGIS's Options dialog, over the plain settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qgis.gui import (
    QgsAuthConfigSelect,
    QgsFileWidget,
    QgsOptionsPageWidget,
    QgsOptionsWidgetFactory,
)
from qgis.PyQt.QtCore import QEvent, QObject, QSize, Qt, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from ..plugin.settings import Settings
from .check_box import CheckBox
from .check_line import CheckLine
from .cost_panel import CostPanel
from .fetch_panel import FetchPanel
from .folder_list import FolderList
from .icon import mark
from .option_tabs import OptionTabs
from .outlet import Outlet
from .package_panel import PackagePanel
from .palette import em
from .privacy_panel import PrivacyPanel
from .state_shape import Shape

AUTO, OLLAMA, OPENAI, EMBEDDED = "auto", "ollama", "openai", "embedded"
LARGEST = 1_000_000
ADDRESSES = {OLLAMA: "http://127.0.0.1:11434", OPENAI: "http://127.0.0.1:8080/v1"}


class OptionsPage(QgsOptionsPageWidget):
    """All settings, what most need first. Nothing is stored before `apply`."""

    settings_changed = pyqtSignal(object)
    check_requested = pyqtSignal(object)
    doctor_requested = pyqtSignal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("GeoOlmOptionsPage")
        self._settings = settings
        self._outlet = Outlet(self)
        self.tabs = OptionTabs(self)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.tabs)
        self._groups = self.tabs.open("Model", self.tr("Model"))
        self._build_model()
        self._build_fetch()
        self._groups = self.tabs.open("Privacy", self.tr("Privacy and packages"))
        self._build_privacy()
        self._groups = self.tabs.open("Questions", self.tr("Questions"))
        self._build_question()
        self._groups = self.tabs.open("Files", self.tr("Files"))
        self._build_files()
        self._groups = self.tabs.open("Cost", self.tr("Cost"))
        self._build_cost()
        self._groups = self.tabs.open("Advanced", self.tr("Advanced"))
        self._build_wait()
        self.show_settings(settings)

    def sizeHint(self) -> QSize:
        """Return a size that fits a small screen; the content scrolls."""
        return QSize(em(self) * 44, em(self) * 36)

    def show_settings(self, settings: Settings) -> None:
        """Fill all fields."""
        self._settings = settings
        self.server.setCurrentIndex(max(0, self.server.findData(settings.server)))
        self.address.setText(settings.address)
        self.model.setCurrentText(settings.model)
        self.program.setFilePath(settings.server_program)
        self.key.setConfigId(settings.auth_config)
        for name, box in self._numbers.items():
            box.setValue(getattr(settings, name))
        self.keep_alive.setText(settings.keep_alive)
        self.think.setChecked(settings.think)
        self.plan_first.setChecked(settings.plan_first)
        self.graphics.setChecked(settings.graphics)
        self.fetch.sources.setPlainText(settings.download_sources)
        self.cost.show_settings(settings)
        self._choose(self.tool_mode, settings.tool_mode)
        self._choose(self.exposure, settings.exposure)
        self._choose(self.approval, settings.approval)
        place = self.states.findData(settings.states)
        self.states.setCurrentIndex(place)
        if place < 0:
            self.states.setEditText(settings.states)
        self.folder.setFilePath(settings.output_folder)
        self.allowed.set_folders(settings.allowed_folders)
        self.privacy.offline.setChecked(settings.offline)
        self.privacy.set_hosts(settings.allowed_hosts)
        self.packages.source.setText(settings.package_index)
        self.debug.setChecked(settings.debug)
        self._fit_server()

    def settings(self) -> Settings:
        """Return the settings as the fields say; what has no field keeps its value."""
        numbers = {name: box.value() for name, box in self._numbers.items()}
        return replace(
            self._settings,
            server=self.server.currentData(),
            address=self.address.text().strip(),
            model=self.model.currentText().strip(),
            server_program=self.program.filePath().strip(),
            auth_config=self.key.configId(),
            keep_alive=self.keep_alive.text().strip() or Settings.keep_alive,
            think=self.think.isChecked(),
            plan_first=self.plan_first.isChecked(),
            states=self._states(),
            graphics=self.graphics.isChecked(),
            download_sources=self.fetch.sources.toPlainText().strip(),
            tool_mode=self.tool_mode.currentData(),
            exposure=self.exposure.currentData(),
            approval=self.approval.currentData(),
            output_folder=self.folder.filePath().strip(),
            allowed_folders=self.allowed.folders(),
            offline=self.privacy.offline.isChecked(),
            allowed_hosts=self.privacy.hosts(),
            package_index=self.packages.source.text().strip(),
            debug=self.debug.isChecked(),
            **numbers,
            **self.cost.values(),
        )

    def set_models(self, names: tuple[str, ...]) -> None:
        """Offer the models that were found, and keep what is typed."""
        typed = self.model.currentText()
        self.model.clear()
        self.model.addItems(names)
        self.model.setCurrentText(typed)

    def show_check(self, text: str, ok: bool, host: str = "") -> None:
        """Show what a check found, in one sentence; `host` is one that the user may allow."""
        self.check.setEnabled(True)
        if self._refocus:
            self.check.setFocus()
        shape = Shape.DONE if ok else Shape.FAILED
        self.check_line.show_state(Shape.WAITING if host else shape, text, host)

    def show_fetch(self) -> None:
        """Scroll to where models are brought, and let a name be typed."""
        self.tabs.bring(self.fetch)
        self.fetch.name.setFocus()

    def apply(self) -> None:
        """Tell the new settings; called by QGIS on OK."""
        self._settings = self.settings()
        self.settings_changed.emit(self._settings)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the wheel scroll the page over a number or list that has no focus."""
        if event.type() == QEvent.Type.Wheel and not watched.hasFocus():
            event.ignore()
            return True
        return bool(super().eventFilter(watched, event))

    def helpKey(self) -> str:
        """Return nothing: the page has no chapter in QGIS's manual."""
        return ""

    def _build_model(self) -> None:
        form = self._group("Model", self.tr("Model"))
        self.server = QComboBox()
        for value, text in (
            (AUTO, self.tr("Automatic: the first that answers")),
            (OLLAMA, self.tr("Ollama")),
            (OPENAI, self.tr("OpenAI-compatible server")),
            (EMBEDDED, self.tr("Built-in llama.cpp")),
        ):
            self.server.addItem(text, value)
        self.server.currentIndexChanged.connect(self._fit_server)
        self._row(form, "Server", self.tr("Server"), self.server)
        self.address = QLineEdit()
        self._row(form, "Address", self.tr("Address"), self.address)
        self.model = QComboBox()
        self.model.setEditable(True)
        self.model.lineEdit().setPlaceholderText(self.tr("The first one found"))
        self.choose_file = QPushButton(self.tr("Model file…"))
        self.choose_file.setObjectName("GeoOlmOptionsModelFile")
        self.choose_file.setAccessibleName(self.tr("Choose a model file"))
        self.choose_file.clicked.connect(self._choose_file)
        row = QHBoxLayout()
        row.addWidget(self.model, 1)
        row.addWidget(self.choose_file)
        self._row(form, "Model", self.tr("Model"), self.model, row)
        self.key = QgsAuthConfigSelect(self)
        tip = self.tr("The key stays in QGIS's authentication store.")
        self._row(form, "Key", self.tr("Key"), self.key, tip=tip)
        self._build_check(form)

    def _build_check(self, form: QFormLayout) -> None:
        self.check = QPushButton(self.tr("Check"))
        self.check.setObjectName("GeoOlmCheck")
        self.check.setAccessibleName(self.tr("Check the server and the model"))
        self.check.clicked.connect(self._check)
        self.doctor = QPushButton(self.tr("Model doctor…"))
        self.doctor.setObjectName("GeoOlmOptionsDoctor")
        self.doctor.setAccessibleName(self.tr("Measure what the model can do"))
        self.doctor.clicked.connect(lambda: self.doctor_requested.emit(self.settings()))
        self._refocus = False
        self.check_line = CheckLine(self._outlet)
        self.check_line.allowed.connect(self._allow)
        row = QHBoxLayout()
        row.addWidget(self.check)
        row.addWidget(self.doctor)
        row.addWidget(self.check_line, 1)
        row.addStretch(0)
        form.addRow("", row)

    def _build_fetch(self) -> None:
        self.fetch = FetchPanel(self._outlet)
        self._group("Fetch", self.tr("Bring a model")).addRow(self.fetch)

    def _build_cost(self) -> None:
        self.cost = CostPanel()
        self._group("Cost", self.tr("Cost")).addRow(self.cost)

    def _build_privacy(self) -> None:
        self.privacy = PrivacyPanel()
        self._group("Privacy", self.tr("Privacy")).addRow(self.privacy)
        self.packages = PackagePanel(self._outlet)
        title = self.tr("Official client packages")
        self._group("Packages", title).addRow(self.packages)

    def _build_question(self) -> None:
        form = self._group("Questions", self.tr("Each question"))
        self._numbers: dict[str, QSpinBox | QDoubleSpinBox] = {}
        tokens, chosen = self.tr(" tokens"), self.tr("Chosen by the server")
        self._whole(form, "context", self.tr("Context"), 0, LARGEST, tokens, chosen, 1024)
        self._whole(form, "reply_tokens", self.tr("Longest reply"), 64, 65536, tokens, "", 64)
        no_limit = self.tr("No limit")
        self._whole(
            form, "run_tokens", self.tr("Tokens read at most"), 0, LARGEST, tokens, no_limit, 1000
        )
        self._whole(form, "max_steps", self.tr("Steps at most"), 1, 200)
        self._whole(form, "max_errors", self.tr("Errors at most"), 0, 100)
        self._real(form, "temperature", self.tr("Temperature"), 0, 2, "", 0.1)
        self._whole(form, "seed", self.tr("Seed"), 0, 2_147_483_647)
        self.tool_mode = QComboBox()
        for value, text in (
            ("auto", self.tr("What the server can do best")),
            ("schema", self.tr("Replies held to a schema")),
            ("native", self.tr("The model's own tool calls")),
            ("text", self.tr("Tool calls in plain text")),
        ):
            self.tool_mode.addItem(text, value)
        self._row(form, "ToolMode", self.tr("Tool calls"), self.tool_mode)
        self.exposure = QComboBox()
        self.exposure.addItem(self.tr("What the model doctor measured"), "auto")
        self.exposure.addItem(self.tr("Only the tools of the stage"), "filter")
        self.exposure.addItem(self.tr("All tools, with the stage's examples"), "hint")
        self._row(form, "Exposure", self.tr("Tools offered"), self.exposure)
        self.approval = QComboBox()
        self.approval.addItem(self.tr("Ask before each change"), "each")
        self.approval.addItem(self.tr("Ask before anything lasting"), "lasting")
        self.approval.addItem(self.tr("Run freely"), "free")
        tip = self.tr("Lasting are edits of layers that exist, files, the project and the network.")
        self._row(form, "Approval", self.tr("Changes"), self.approval, tip=tip)
        self.states = QComboBox()
        self.states.setEditable(True)
        for value, text in (
            ("", self.tr("Questions about layers")),
            ("remote_sensing", self.tr("Objects and land cover in images")),
            ("multi_scope", self.tr("Vision, agriculture, climate, cities and forests")),
            ("earthquake", self.tr("Damage of an earthquake")),
        ):
            self.states.addItem(text, value)
        tip = self.tr("How a question goes from state to state; or a JSON file of your own.")
        self._row(form, "States", self.tr("States"), self.states, tip=tip)
        think = self.tr("Let a model think first, where it can")
        self.think = CheckBox("GeoOlmOptionsThink", think)
        form.addRow("", self.think)
        plan = self.tr("Plan and check each question before anything runs")
        self.plan_first = CheckBox("GeoOlmOptionsPlan", plan)
        form.addRow("", self.plan_first)

    def _states(self) -> str:
        """Return the chosen workflow of states, or the file that was typed."""
        text = self.states.currentText().strip()
        place = self.states.findText(text)
        return str(self.states.itemData(place)) if place >= 0 else text

    def _build_wait(self) -> None:
        form = self._group("Waits", self.tr("Server and time limits"))
        self.program = QgsFileWidget()
        self.program.setStorageMode(QgsFileWidget.StorageMode.GetFile)
        self.program.lineEdit().setPlaceholderText(self.tr("Found by the plugin"))
        self._row(form, "Program", self.tr("llama.cpp server"), self.program)
        self._whole(form, "threads", self.tr("Threads"), 0, 1024, "", self.tr("Automatic"))
        text = self.tr("Use a graphics card where there is one")
        self.graphics = CheckBox("GeoOlmOptionsGraphics", text)
        form.addRow("", self.graphics)
        self.keep_alive = QLineEdit()
        tip = self.tr("How long Ollama keeps the model loaded, such as 5m or 1h.")
        self._row(form, "KeepAlive", self.tr("Keep loaded for"), self.keep_alive, tip=tip)
        seconds = self.tr(" s")
        self._real(form, "connect_s", self.tr("Connect within"), 0.5, 600, seconds, 1)
        self._real(form, "first_token_s", self.tr("First word within"), 1, 7200, seconds, 10)
        self._real(form, "idle_s", self.tr("Next word within"), 1, 7200, seconds, 10)

    def _build_files(self) -> None:
        form = self._group("Files", self.tr("Files and log"))
        self.folder = QgsFileWidget()
        self.folder.setStorageMode(QgsFileWidget.StorageMode.GetDirectory)
        self.folder.lineEdit().setPlaceholderText(self.tr("Temporary folder"))
        self._row(form, "Folder", self.tr("Output folder"), self.folder)
        self.allowed = FolderList()
        tip = self.tr("A model may have files read from these folders and from the project's own.")
        self._row(form, "Allowed", self.tr("Folders that may be read"), self.allowed, tip=tip)
        self.debug = QCheckBox(self.tr("Write questions and values to the log"))
        tip = self.tr("Prompts and attribute values appear in the log while this is on.")
        self._row(form, "Debug", self.tr("Log"), self.debug, tip=tip)

    def _group(self, name: str, title: str) -> QFormLayout:
        box = QGroupBox(title)
        box.setObjectName(f"GeoOlmOptionsGroup{name}")
        form = QFormLayout(box)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._groups.addWidget(box)
        return form

    def _row(
        self,
        form: QFormLayout,
        name: str,
        label: str,
        field: QWidget,
        row: QHBoxLayout | None = None,
        tip: str = "",
    ) -> None:
        field.setObjectName(f"GeoOlmOptions{name}")
        field.setAccessibleName(label)
        field.setToolTip(tip)
        if isinstance(field, (QComboBox, QAbstractSpinBox)):
            field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            field.installEventFilter(self)
        form.addRow(label, row if row is not None else field)

    def _whole(
        self,
        form: QFormLayout,
        name: str,
        label: str,
        low: int,
        high: int,
        suffix: str = "",
        zero: str = "",
        step: int = 1,
    ) -> None:
        box = QSpinBox()
        box.setRange(low, high)
        box.setSuffix(suffix)
        box.setSpecialValueText(zero)
        box.setSingleStep(step)
        box.setGroupSeparatorShown(True)
        self._add_number(form, name, label, box)

    def _real(
        self,
        form: QFormLayout,
        name: str,
        label: str,
        low: float,
        high: float,
        suffix: str,
        step: float,
    ) -> None:
        box = QDoubleSpinBox()
        box.setRange(low, high)
        box.setDecimals(1 if suffix else 2)
        box.setSuffix(suffix)
        box.setSingleStep(step)
        self._add_number(form, name, label, box)

    def _add_number(
        self, form: QFormLayout, name: str, label: str, box: QSpinBox | QDoubleSpinBox
    ) -> None:
        self._numbers[name] = box
        self._row(form, f"_{name}", label, box)

    @staticmethod
    def _choose(box: QComboBox, value: str) -> None:
        box.setCurrentIndex(max(0, box.findData(value)))

    def _fit_server(self) -> None:
        """Enable what the chosen kind of server uses, and show its default address."""
        server = self.server.currentData()
        self.address.setEnabled(server in ADDRESSES)
        self.address.setPlaceholderText(ADDRESSES.get(server, self.tr("Found by itself")))
        self.key.setEnabled(server in (OPENAI, OLLAMA))
        self.choose_file.setEnabled(server in (AUTO, EMBEDDED))

    def _choose_file(self) -> None:
        filters = self.tr("Model files (*.gguf)")
        title = self.tr("Choose a model file")
        found, _ = QFileDialog.getOpenFileName(self, title, self.model.currentText(), filters)
        if found:
            self._choose(self.server, EMBEDDED)
            self.model.setCurrentText(found)

    def _allow(self, host: str) -> None:
        """Let questions go to a host, and check again; it holds from OK on."""
        self.privacy.allow(host)
        self._check()

    def _check(self) -> None:
        self._refocus = self.check.hasFocus()
        self.check.setEnabled(False)
        self.check_line.show_state(Shape.RUNNING, self.tr("Checking"))
        self.check_requested.emit(self.settings())


class OptionsFactory(QgsOptionsWidgetFactory):
    """Makes the page for QGIS's Options dialog; `prepare` may connect its signals."""

    def __init__(
        self, load: Callable[[], Settings], prepare: Callable[[OptionsPage], None]
    ) -> None:
        super().__init__("Geo-OLM", mark(), "geo_olm")
        self._load, self._prepare = load, prepare

    def createWidget(self, parent: QWidget | None = None) -> OptionsPage:
        """Return a new page with the settings as they are now."""
        page = OptionsPage(self._load(), parent)
        self._prepare(page)
        return page
