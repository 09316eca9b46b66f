"""The first start: a market, where its candles come from, and a device, in three clicks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from core.machine.cuda_setup import Gpu, known_fault
from core.machine.readings import MachineReading, cuda_of_torch, is_torch_for_cpu_only
from core.settings.tree import Settings
from desktop.dialogs.file_check import FilePicker, check_replayable
from desktop.ui.dialog_parts import room_on_screen
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.stacks import stacked
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_COLUMNS = 4
_SYMBOLS = ("BTC/USDT", "ETH/USDT", "SOL/USDT", "XRP/USDT")
_CUDA, _FILE = "cuda", "file"
_ABOUT = QT_TRANSLATE_NOOP(
    "Dialogs",
    "Ghostcandle learns a market while you watch. It draws the candles it expects next ahead of the live ones, and "
    "keeps an honest score of its forecasts.",
)
_LATER = QT_TRANSLATE_NOOP("Dialogs", "You can change all of this later: File › Choose market, File › Preferences.")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Pixels of the dialog's parts and of the room between them, and its title's size as a multiple of usual text."""

    button: QSize
    margin: int
    spacing: int
    in_row: int
    title: float


_USUAL, _TIGHT = Sizes(QSize(150, 34), 24, 16, 6, 1.6), Sizes(QSize(130, 26), 10, 4, 2, 1.3)
_ROOM_FOR_USUAL = QSize(680, 470)
"""A laptop of 1366x768 at 200 % has half of that."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One button: its text, its explanation, and the resulting choice."""

    text: str
    tooltip: str
    value: str
    has_symbol: bool = True


_SOURCES = (
    Choice(
        QT_TRANSLATE_NOOP("Dialogs", "Live from Binance"), QT_TRANSLATE_NOOP("Dialogs", "No account needed"), "binance"
    ),
    Choice(
        QT_TRANSLATE_NOOP("Dialogs", "Live from Kraken"), QT_TRANSLATE_NOOP("Dialogs", "No account needed"), "kraken"
    ),
    Choice(
        QT_TRANSLATE_NOOP("Dialogs", "A file…"),
        QT_TRANSLATE_NOOP("Dialogs", "Replay your own candles: CSV, JSON, Feather or Parquet"),
        _FILE,
        has_symbol=False,
    ),
    Choice(
        QT_TRANSLATE_NOOP("Dialogs", "Simulated"),
        QT_TRANSLATE_NOOP("Dialogs", "An invented market, to look around offline"),
        "simulate",
        has_symbol=False,
    ),
)
_DEVICES = (
    Choice(
        QT_TRANSLATE_NOOP("Dialogs", "Automatic"),
        QT_TRANSLATE_NOOP("Dialogs", "GPU if one is usable, otherwise CPU"),
        "auto",
    ),
    Choice(
        QT_TRANSLATE_NOOP("Dialogs", "CPU"),
        QT_TRANSLATE_NOOP("Dialogs", "The model is small: a CPU keeps up with one-minute candles"),
        "cpu",
    ),
    Choice(QT_TRANSLATE_NOOP("Dialogs", "GPU (CUDA)"), QT_TRANSLATE_NOOP("Dialogs", "An NVIDIA GPU"), _CUDA),
)


class WelcomeDialog(QDialog):
    """`chosen` carries the new Settings, which are the unchanged ones if it is closed without a choice. Open it with
    `open`."""

    chosen = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Welcome"))
        self._settings = settings
        room = room_on_screen(self)
        self._sizes = _USUAL if room.expandedTo(_ROOM_FOR_USUAL) == room else _TIGHT
        market = translate("Dialogs", "The market {0}")
        symbols = (Choice(symbol, market.format(symbol), symbol) for symbol in _SYMBOLS)
        self.symbols = ChoiceRow(translate("Dialogs", "Watch"), symbols, self._sizes)
        self.sources = ChoiceRow(translate("Dialogs", "Candles"), map(_translated, _SOURCES), self._sizes)
        self.picker = FilePicker(several=False, look=check_replayable)
        self.picker.browse.setAutoDefault(False)
        self.picker.line.setAccessibleName(translate("Dialogs", "Candle file"))
        self.picker.hide()
        self.found = self._wide_label("")
        """What is in the file, or why it cannot be replayed."""
        self.found.hide()
        self.devices = ChoiceRow(translate("Dialogs", "Train on"), map(_translated, _DEVICES), self._sizes)
        self.devices.offer(_CUDA, is_offered=False)
        self.devices.show_note(translate("Dialogs", "Looking for an NVIDIA GPU…"))
        buttons = QDialogButtonBox()
        self.start = buttons.addButton(translate("Dialogs", "Start watching"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.start.setDefault(True)
        self.start.setMinimumHeight(self._sizes.button.height())
        buttons.accepted.connect(self.accept)
        self._build(buttons)
        self.sources.changed.connect(self._on_source)
        self.picker.changed.connect(self._show_file)
        self.picker.answered.connect(self._show_file)
        self.finished.connect(self._emit_chosen)

    @Slot(object)
    def show_machine(self, reading: MachineReading) -> None:
        """Offer CUDA if a GPU was found, or show why not. Whether torch can use it is known once training starts."""
        why_not = _why_no_cuda(reading)
        self.devices.offer(_CUDA, is_offered=not why_not)
        names = ", ".join(gpu.name for gpu in reading.gpus)
        self.devices.show_note(why_not or translate("Dialogs", "Found: {0}.").format(names))

    def settings(self) -> Settings:
        source, market = self.sources.value, self._settings.market
        if source == "simulate":
            market = replace(market, feed="simulate", speed=1.0)
        elif source == _FILE:
            market = replace(market, feed="replay", file=str(self.picker.files()[0]))
        else:
            market = replace(market, feed="auto", venue=source, symbol=self.symbols.value)
        training = replace(self._settings.training, device=self.devices.value)
        return replace(self._settings, market=market, training=training)

    def _build(self, buttons: QDialogButtonBox) -> None:
        title = Label(translate("Dialogs", "Welcome to Ghostcandle"))
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * self._sizes.title)
        font.setBold(True)
        title.setFont(font)
        about, later = (self._wide_label(translate("Dialogs", each)) for each in (_ABOUT, _LATER))
        later.setForegroundRole(later.palette().ColorRole.PlaceholderText)
        parts = (title, about, self.symbols, self.sources, self.picker, self.found, self.devices, later, buttons)
        stacked(self, *parts, margins=(self._sizes.margin,) * 4, spacing=self._sizes.spacing)

    def _wide_label(self, text: str) -> Label:
        return _wide_label(text, _COLUMNS * self._sizes.button.width())

    def _emit_chosen(self, result: int) -> None:
        is_accepted = result == QDialog.DialogCode.Accepted
        settings = self.settings() if is_accepted else self._settings
        self.picker.end()
        self.chosen.emit(settings)

    @Slot()
    def _on_source(self) -> None:
        is_file = self.sources.value == _FILE
        self.symbols.setEnabled(self.sources.choice.has_symbol)
        self.picker.setVisible(is_file)
        self._show_file()
        if is_file and not self.picker.line.text():
            self.picker.open()

    @Slot()
    def _show_file(self) -> None:
        is_file, text, problem = self.sources.value == _FILE, "", self.picker.problem
        if is_file and self.picker.line.text().strip():
            found = " ".join(filter(None, (problem, self.picker.contents, self.picker.remark)))
            text = translate("Dialogs", "Reading…") if problem is None else found
        self.found.setText(text)
        self.found.setVisible(bool(text))
        if self.isVisible():
            self.resize(self.size().expandedTo(self.sizeHint()))
        self.start.setEnabled(not is_file or problem == "")


class ChoiceRow(QWidget):
    """A title over buttons, one of them pressed. `changed` is emitted when another one is pressed."""

    changed = Signal()

    def __init__(self, title: str, choices: Iterable[Choice], sizes: Sizes) -> None:
        super().__init__()
        self._sizes = sizes
        self._choices = tuple(choices)
        self._group = QButtonGroup(self)
        self.setAccessibleName(title)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(sizes.in_row)
        heading = Label(title)
        font = heading.font()
        font.setBold(True)
        heading.setFont(font)
        grid.addWidget(heading, 0, 0, 1, _COLUMNS)
        for number, choice in enumerate(self._choices):
            grid.addWidget(self._button(number, choice), 1, number)
        for column in range(_COLUMNS):
            grid.setColumnMinimumWidth(column, sizes.button.width())
        self.note = _wide_label("", _COLUMNS * sizes.button.width())
        self.note.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.note.hide()
        grid.addWidget(self.note, 2, 0, 1, _COLUMNS)
        grid.setColumnStretch(_COLUMNS, 1)
        self._group.idToggled.connect(lambda _id, is_down: self.changed.emit() if is_down else None)

    @property
    def choice(self) -> Choice:
        return self._choices[self._group.checkedId()]

    @property
    def value(self) -> str:
        return self.choice.value

    def button(self, text: str) -> QPushButton:
        """The button with this text. Raises StopIteration if there is none."""
        return next(each for each in self.findChildren(QPushButton) if each.text() == text)

    def show_note(self, text: str) -> None:
        self.note.setText(text)
        self.note.show()

    def offer(self, value: str, *, is_offered: bool) -> None:
        """Enable or disable the choice of this value. If it was chosen and is disabled, the first one is chosen."""
        number = next(number for number, choice in enumerate(self._choices) if choice.value == value)
        button = self._group.button(number)
        button.setEnabled(is_offered)
        if button.isChecked() and not is_offered:
            self._group.button(0).setChecked(True)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # The theme has changed under it, or its choice no longer matters.
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.EnabledChange):
            for button in self._group.buttons():
                _colour(button, is_down=button.isChecked() and self.isEnabled())

    def _button(self, number: int, choice: Choice) -> QPushButton:
        button = QPushButton(choice.text, autoDefault=False)
        set_tooltip(button, choice.tooltip)
        button.setCheckable(True)
        button.toggled.connect(lambda is_down: _colour(button, is_down=is_down))
        button.setChecked(number == 0)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setMinimumHeight(self._sizes.button.height())
        self._group.addButton(button, number)
        return button


def _why_no_cuda(reading: MachineReading) -> str:
    """The reason why CUDA cannot be chosen; empty if it can."""
    if not reading.gpus:
        return translate("Dialogs", "CUDA is not available: no NVIDIA driver answers on this computer.")
    if is_torch_for_cpu_only():
        return translate(
            "Dialogs",
            "CUDA is not available: {0} was found, but the installed torch is a build for CPUs only. The command "
            "ghostcandle doctor shows how to install the one for it.",
        ).format(reading.gpus[0].name)
    cuda, gpus = cuda_of_torch(), reading.gpus
    if cuda is None or any(gpu.capability is None or gpu.driver is None for gpu in gpus):  # GPUs that sleep
        return ""
    # A driver or a GPU may be too old for the installed torch.
    fault = known_fault(cuda, gpus[0].driver, tuple(Gpu(gpu.name, gpu.capability) for gpu in gpus))
    if not fault:
        return ""
    return translate("Dialogs", "CUDA is not available: {0}. The command ghostcandle doctor shows what to do.").format(
        fault
    )


def _translated(choice: Choice) -> Choice:
    text, tooltip = translate("Dialogs", choice.text), translate("Dialogs", choice.tooltip)
    return replace(choice, text=text, tooltip=tooltip)


def _colour(button: QAbstractButton, *, is_down: bool) -> None:
    """Colour the pressed button: one that is only darker is hard to recognise."""
    palette = QGuiApplication.palette()
    if is_down:
        palette.setColor(QPalette.ColorRole.Button, palette.highlight().color())
        palette.setColor(QPalette.ColorRole.ButtonText, palette.highlightedText().color())
    button.setPalette(palette)


def _wide_label(text: str, width: int) -> Label:
    label = Label(text, alignment=Qt.AlignmentFlag.AlignLeft, wraps=True)
    label.setMinimumWidth(width)
    return label
