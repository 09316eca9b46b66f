"""Alerts on ghosts: a band reaches an alert line or its chance a level, coverage is lost, a drift was found."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QObject, Slot

from core.alerts.ghost_conditions import (
    LINE_CONDITIONS,
    AlertState,
    ChanceCondition,
    LineCondition,
    after_check,
    coverage_after_check,
    is_judged,
)
from core.alerts.service import Alert
from core.domain.candle import Market
from core.domain.events import DriftFound, Estimate, ForecastMade, Severity
from core.domain.price_lines import PriceLine
from core.forecast.score import COVERAGE_WINDOW
from core.market.shown_names import shown_market, shown_symbol
from core.settings.window import NotificationSettings
from core.storage.folder import DataFolder
from desktop.notifications.messages import DesktopMessages
from desktop.services.alert_sender import AlertSender
from desktop.services.chance_reader import ChanceReader, FoundChances
from desktop.state.database import WindowDatabase
from desktop.state.markets import MarketRow
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.ui import formatting
from desktop.ui.banner import Notice
from desktop.ui.translation import translate

_OF_LINES = "line "
"""Prefix of the names of alerts on lines."""


class GhostAlerts(QObject):
    """Alerts of all markets of the run. A fired alert is stored before it is shown, so that a restart does not repeat
    it.

    They go to the services of the settings, as price alerts do: `close` before the window is deleted.
    """

    def __init__(
        self, shell: Shell, state: RunState, database: WindowDatabase, messages: DesktopMessages, folder: DataFolder
    ) -> None:
        """folder: with the database, for a separate connection, and the file of alerts that are not sent yet."""
        super().__init__(shell.window)
        self._shell, self._database, self._messages = shell, database, messages
        self._markets, self._clock = state.markets, state.clock
        self._judged: dict[Market, MarketRow] = {}
        """Each market's row at the last check."""
        self._states: dict[str, AlertState] | None = None
        """Stored states; None until they were read."""
        self._chances = ChanceReader(folder.database, self)
        self._chances.found.connect(self._on_chances)
        self._chances.failed.connect(shell.banner.notify_storage_error)
        self.alert_sender = AlertSender(
            lambda: (self._wanted.alert_urls or "").split(), folder.outbox, state.clock, self
        )
        messages.alerted.connect(self.alert_sender.send)
        self.alert_sender.failed.connect(lambda text: shell.banner.notify(text, Severity.WARNING, key="alerts"))
        state.markets.changed.connect(self._on_market)
        state.markets.drift_found.connect(self._on_drift)

    def close(self) -> None:
        """End both threads and wait."""
        self._chances.close()
        self.alert_sender.close()

    @property
    def _wanted(self) -> NotificationSettings:
        return self._shell.settings.current.notifications

    @property
    def _chance_condition(self) -> ChanceCondition | None:
        within = self._wanted.chance_alerts
        return None if within == "off" else ChanceCondition(int(within), self._wanted.chance_alert_percent)

    def _on_market(self, market: Market) -> None:
        """Called with each tick: checks only new forecasts and scores."""
        row, former = self._markets.row(market), self._judged.get(market)
        if not row.is_in_run or not self._database.is_open:
            return
        self._judged[market] = row
        if row.forecast is not None and (former is None or row.forecast is not former.forecast):
            self._check_lines(market, row.forecast)
        if row.accuracy is not None and (former is None or row.accuracy is not former.accuracy):
            self._check_coverage(row, row.accuracy.newest_coverage_90)

    def _check_lines(self, market: Market, forecast: ForecastMade) -> None:
        band = next((each for each in LINE_CONDITIONS if each.name == self._wanted.band_alerts), None)
        chance = self._chance_condition
        if not is_judged(forecast) or (band is None and chance is None):
            return
        lines = self._armed(market)
        if band is not None:
            for line in lines:
                name, is_met = _name(line, f"band {band.name}"), band.is_met(forecast, line.price)
                if self._has_fired(name, after_check(self._known().get(name), is_met=is_met)):
                    self._fire_band(market, forecast, band, line)
        if chance is not None and lines:
            self._chances.find(market, forecast)

    def _armed(self, market: Market) -> tuple[PriceLine, ...]:
        """The market's alert lines that are watched. The state of others is forgotten: they were removed or moved, or
        have fired."""
        with self._shell.banner.storage_errors_shown():
            armed = self._database.lines.armed()
            kept = {_line_name(line) for lines in armed.values() for line in lines}
            of_lines = (name for name in self._known() if name.startswith(_OF_LINES))
            if gone := [name for name in of_lines if name.partition(",")[0] not in kept]:
                self._remove(gone)
            return armed.get((market.venue, market.symbol), ())
        return ()

    @Slot(object)
    def _on_chances(self, found: FoundChances) -> None:
        condition = self._chance_condition
        if condition is None or not self._database.is_open or not self._markets.row(found.market).is_in_run:
            return  # changed meanwhile
        for line in self._armed(found.market):
            name = _name(line, condition.name)
            chance = condition.chance(found.chances, found.forecast.origin_close, line.price)
            if chance is not None and self._has_fired(name, condition.after_check(self._known().get(name), chance)):
                self._fire_chance(found, condition, line)

    def _has_fired(self, name: str, after: AlertState | None) -> bool:
        """Store its state after this check. Returns whether it fires now."""
        before = self._known().get(name)
        if after is not None and after is not before:
            self._put(name, after)
        return after is AlertState.FIRED and after is not before

    def _fire_band(self, market: Market, forecast: ForecastMade, condition: LineCondition, line: PriceLine) -> None:
        words = translate("Notifications", "{0}: the {1} % band of the next {2} closes reaches {3}.").format(
            shown_symbol(market.venue, market.symbol), condition.name, len(forecast.ghosts), _price_of(line, forecast)
        )
        title = translate("Notifications", "Band alert")
        self._send(market, f"band {line.number}", title, " ".join((words, line.text)).strip(), is_on_line=True)

    def _fire_chance(self, found: FoundChances, condition: ChanceCondition, line: PriceLine) -> None:
        words = translate("Notifications", "{0}: the chance that {1} is touched within {2} is above {3} %.").format(
            shown_symbol(found.market.venue, found.market.symbol),
            _price_of(line, found.forecast),
            formatting.format_candles(condition.within),
            condition.percent,
        )
        title = translate("Notifications", "Chance alert")
        text = " ".join((words, line.text)).strip()
        self._send(found.market, f"chance {line.number}", title, text, is_on_line=True)

    def _check_coverage(self, row: MarketRow, coverage: Estimate) -> None:
        name = f"coverage {row.run_id}"
        before = self._known().get(name)
        after = coverage_after_check(before, coverage) if self._wanted.coverage_lost else before
        if after is None and before is not None:
            self._remove([name])  # a later loss fires again
            self._shell.banner.withdraw(name)
        elif after is AlertState.FIRED and before is not after and coverage.value is not None:
            self._put(name, after)
            words = translate(
                "Notifications", "{0}: only {1} of the newest {2} closes were in their 90 % band. It is too narrow."
            ).format(shown_market(row.market), formatting.format_percent(coverage.value, 1), COVERAGE_WINDOW)
            self._send(row.market, name, translate("Notifications", "Coverage lost"), words)

    def _on_drift(self, market: Market, drift: DriftFound) -> None:
        name = f"drift {drift.run_id} {drift.candle_open_time_ms}"
        if not self._wanted.drift_found or not self._database.is_open or name in self._known():
            return
        self._put(name, AlertState.FIRED)
        words = translate(
            "Notifications", "{0}: the loss of the ghosts rose from {1} to {2} over {3} candles. {4}"
        ).format(
            shown_market(market),
            formatting.format_number(drift.loss_before, 3),
            formatting.format_number(drift.loss_after, 3),
            formatting.format_count(drift.candles),
            drift.what_was_done,
        )
        self._send(market, name, translate("Notifications", "Drift"), words)

    def _send(self, market: Market, key: str, title: str, text: str, *, is_on_line: bool = False) -> None:
        self._shell.banner.show_notice(Notice(key, Severity.WARNING, f"{title}: {text}", is_alert=is_on_line))
        self._messages.send_alert(Alert(shown_market(market), title, text))

    def _known(self) -> dict[str, AlertState]:
        if self._states is None:
            self._states = {}
            with self._shell.banner.storage_errors_shown():
                stored = self._database.ghost_alerts.states()
                self._states = {name: AlertState(state) for name, state in stored.items()}
        return self._states

    def _put(self, name: str, state: AlertState) -> None:
        """Set the alert's state even if it cannot be stored: it has happened."""
        self._known()[name] = state
        with self._shell.banner.storage_errors_shown():
            self._database.ghost_alerts.put(name, state.value, self._clock.now_ms())

    def _remove(self, names: Collection[str]) -> None:
        for name in names:
            self._known().pop(name)
        with self._shell.banner.storage_errors_shown():
            self._database.ghost_alerts.remove(names)


def _line_name(line: PriceLine) -> str:
    """The start of the names of its alerts, up to a comma."""
    return f"{_OF_LINES}{line.number} at {line.price!r}"


def _name(line: PriceLine, condition: str) -> str:
    return f"{_line_name(line)}, {condition}"


def _price_of(line: PriceLine, forecast: ForecastMade) -> str:
    decimals = formatting.decimals_of_prices([forecast.origin_close, line.price])
    return formatting.format_price(line.price, decimals)
