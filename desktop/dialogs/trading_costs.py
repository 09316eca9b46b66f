"""The dialog for what a trade costs on one exchange."""

from __future__ import annotations

from dataclasses import fields, replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from core.domain.venue_names import venue_name
from core.settings.paper import PaperSettings, TradeCosts
from desktop.dialogs.forms import GroupForm
from desktop.dialogs.messages import open_dialog
from desktop.state.shell import Shell
from desktop.ui.dialog_parts import Problem, ok_and_cancel
from desktop.ui.stacks import stacked
from desktop.ui.translation import translate


class TradingCostsDialog(QDialog):
    """`chosen` carries the exchange's TradeCosts, or None for those of all exchanges without own ones."""

    chosen = Signal(object)

    def __init__(self, settings: PaperSettings, venue: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Trading costs: {0}").format(venue_name(venue)))
        note = translate("Dialogs", "For the paper score of this exchange's markets. Nothing is traded.")
        costs = PaperSettings(**_numbers(settings.of(venue)), venues=settings.venues)
        self.form = GroupForm("paper", costs, note)
        self.buttons = ok_and_cancel(self)
        self.common = self.buttons.addButton(
            translate("Dialogs", "Use common costs"), QDialogButtonBox.ButtonRole.ResetRole
        )
        self.common.setToolTip(translate("Dialogs", "Those of Preferences › Paper score, as on other exchanges"))
        self.common.clicked.connect(self._use_common)
        self.message = Problem(self.form.value, self.buttons)
        self.message.hide()
        self.form.changed.connect(self.message.check)
        self.form.refused.connect(self.message.refuse)
        stacked(self, self.form, self.message, self.buttons)

    def accept(self) -> None:
        try:
            costs = TradeCosts(**_numbers(self.form.value()))
        except ValueError:
            return
        super().accept()
        self.chosen.emit(costs)

    def _use_common(self) -> None:
        super().accept()
        self.chosen.emit(None)


def ask_trading_costs(shell: Shell, venue: str) -> TradingCostsDialog:
    """Ask, and put the answer into the settings. Returns at once."""
    dialog = TradingCostsDialog(shell.settings.current.paper, venue, shell.window)
    dialog.chosen.connect(lambda costs: _keep(shell, venue, costs))
    return open_dialog(dialog)


def _keep(shell: Shell, venue: str, costs: TradeCosts | None) -> None:
    settings = shell.settings.current
    others = {name: own for name, own in settings.paper.venues.items() if name != venue}
    venues = others if costs is None else {**others, venue: costs}
    shell.settings.change(replace(settings, paper=replace(settings.paper, venues=venues)))


def _numbers(costs: TradeCosts) -> dict[str, float]:
    return {field.name: getattr(costs, field.name) for field in fields(TradeCosts)}
