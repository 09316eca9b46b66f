"""What is said of alerts that went off: in the banner, by the desktop, and by a sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo

from core.domain.events import Severity
from core.domain.price_lines import Direction, PriceLine
from desktop.notifications.messages import DesktopMessages
from desktop.state.shell import Shell
from desktop.ui import formatting
from desktop.ui.banner import Notice
from desktop.ui.crossings import crossing_time
from desktop.ui.translation import translate

_LATE_MS = 60_000
"""What was crossed before that is told with its time: it is no news of now."""


class AlertMessages:
    """`action` is what the banner offers, and `on_action` is called with the moment of the crossing."""

    def __init__(
        self, shell: Shell, messages: DesktopMessages, action: str, on_action: Callable[[int | None], object]
    ) -> None:
        self._shell, self._messages, self._action, self._on_action = shell, messages, action, on_action

    def tell(self, symbol: str, lines: Sequence[PriceLine], decimals: int, time: str = "") -> None:
        """Lines of a symbol that one candle or price set off, once for each price, however many stand there.

        time: when that was, where it is not now.
        """
        told: dict[str, list[PriceLine]] = {}
        for line in lines if self._shell.settings.current.notifications.price_alerts else ():
            is_up = line.direction is Direction.UP
            text = translate("Chart", "{0} rose to {1}") if is_up else translate("Chart", "{0} fell to {1}")
            told.setdefault(text.format(symbol, formatting.format_price(line.price, decimals)), []).append(line)
        for said, together in told.items():
            self._tell_one(said, together, time)

    def _tell_one(self, said: str, lines: Sequence[PriceLine], time: str) -> None:
        if len(lines) > 1:
            said = translate("Chart", "{0} ({1} alerts)").format(said, len(lines))
        if time:
            said = translate("Chart", "{0}, crossed {1}").format(said, time)
        said = translate("Chart", "Alert: {0}.").format(said)
        text = " ".join((said, *dict.fromkeys(line.text for line in lines if line.text)))
        key, crossed_at_ms = f"alert {lines[0].number}", lines[0].crossed_at_ms
        self._shell.banner.tell(
            Notice(
                key,
                Severity.WARNING,
                text,
                action=self._action,
                on_action=lambda: self._on_action(crossed_at_ms),
                is_alert=True,
            )
        )
        self._messages.tell(translate("Chart", "Price alert"), text)
        if self._shell.settings.current.notifications.alert_sound:
            self._messages.sound()


def late_time(lines: Sequence[PriceLine], now_ms: int, time_zone: tzinfo | None) -> str:
    """When lines that were crossed together were, as text; empty where that is a matter of seconds."""
    crossed = next((line for line in lines if line.crossed_at_ms is not None), None)
    if crossed is None or now_ms - (crossed.crossed_at_ms or 0) < _LATE_MS:
        return ""
    return crossing_time(crossed, time_zone)
