"""The sentence in a dialog that says what is wrong, and lets nobody go on meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QDialogButtonBox

from desktop.plain_text import Label
from desktop.translation import translate


class Problem(Label):
    """Hidden while nothing is wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setAccessibleName(translate("Dialogs", "What is wrong"))

    def check(self, ask: Callable[[], object], buttons: QDialogButtonBox) -> None:
        """Say what `ask` says in a ValueError, and offer OK only where it raises none."""
        try:
            ask()
            sentence = ""
        except ValueError as error:
            sentence = str(error)
        self.setText(sentence)
        self.setVisible(bool(sentence))
        buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not sentence)
