"""The error sentence in a dialog, which blocks its OK or Save button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDialogButtonBox

from desktop.ui.plain_text import WrappedLabel
from desktop.ui.translation import translate

_ACCEPTING = (QDialogButtonBox.StandardButton.Ok, QDialogButtonBox.StandardButton.Save)


class Problem(WrappedLabel):
    """Hidden while nothing is wrong."""

    def __init__(self) -> None:
        super().__init__()
        self._is_refusing = False
        self._refusal = ""
        """The sentence of the last refusal, until something else is typed."""
        self.setAccessibleName(translate("Dialogs", "Problem"))

    def refuse(self, sentence: str, ask: Callable[[], object], buttons: QDialogButtonBox) -> None:
        """Report that the typed text is invalid and was replaced by the former value. The same key press must not
        accept that, so OK is offered again once its event is over."""
        self._is_refusing = True

        def over() -> None:
            self._is_refusing = False
            self._refusal = sentence
            self.check(ask, buttons, keeps_refusal=True)

        QTimer.singleShot(0, self, over)

    def check(self, ask: Callable[[], object], buttons: QDialogButtonBox, *, keeps_refusal: bool = False) -> None:
        """Say what `ask` says in a ValueError, which may be nothing, and offer OK only where it raises none.

        keeps_refusal: nothing was typed since the last refusal, which stays to be read where nothing else is wrong.
        """
        if not keeps_refusal:
            self._refusal = ""
        sentence, is_right = "", True
        try:
            ask()
        except ValueError as error:
            sentence, is_right = str(error), False
        self.setText(sentence or self._refusal)
        self.setVisible(bool(self.text()))
        for kind in _ACCEPTING:
            if (button := buttons.button(kind)) is not None:
                button.setEnabled(is_right and not self._is_refusing)
