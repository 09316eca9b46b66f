"""One market as the panel shows it: a row's numbers and words, made from the window's state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from PySide6.QtGui import QColor

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Market
from core.domain.events import AccuracySummary, Estimate
from core.domain.venue_names import venue_name
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import FeedState
from core.market.feeds.tickers import Quote
from core.market.shown_names import shown_symbol
from desktop.panels.accuracy.answers import Found, answers_of
from desktop.panels.accuracy.words import NOTHING, how_many, is_of_nothing, proof_in_full, span, value_of
from desktop.panels.feed.words import HEALTHY_STATES, in_one_line, state_colour, state_within
from desktop.services.learned_markets import fits
from desktop.state.markets import MarketRow
from desktop.state.quotes import STALE_AFTER_MS, QuoteState, Standing
from desktop.state.run_state import RunState
from desktop.ui.formatting import MISSING, decimals_of_prices, format_age, format_percent, format_price, format_time
from desktop.ui.theme import Palette
from desktop.ui.translation import translate

_AGE_STEP_S = 10
_UNCERTAIN = frozenset({QuoteState.OLD, QuoteState.NO_ANSWER, QuoteState.NOT_ASKED, QuoteState.NOT_RUNNING})


@dataclass(frozen=True)
class Row:
    """One market as it is shown.

    feed: of a market that is on the chart or in the run. is_wanted: the list says that it is to be learned from.
    joining: what happens to it if it is not in the run; empty: nothing while the opened market has other candles.
    """

    known: MarketRow
    standing: Standing
    age_s: int | None
    feed: FeedState | None = None
    is_on_chart: bool = False
    is_listed: bool = True
    is_wanted: bool = False
    joining: str = ""

    @property
    def market(self) -> Market:
        return self.known.market

    @property
    def symbol(self) -> str:
        """``BTC/USDT``"""
        return shown_symbol(self.market.venue, self.market.symbol)

    @property
    def where(self) -> str:
        """``Binance · 1m``"""
        return f"{venue_name(self.market.venue)} · {self.market.interval}"

    @property
    def state_words(self) -> str:
        """``live``, ``4 min ago``, ``offline``; for a market with a feed, the state of that feed."""
        state = self.standing.state
        if self.feed is not None and state is not QuoteState.NO_MARKET:
            return state_within(self.feed)
        if self.is_uncertain and self.age_s is not None:
            return format_age(0, 1000 * max(10, self.age_s))
        return state.shown

    @property
    def is_usual(self) -> bool:
        """Whether its price needs no remark."""
        is_well = self.feed in HEALTHY_STATES if self.feed is not None else self.standing.state is QuoteState.FRESH
        return is_well and not self.is_uncertain

    @property
    def is_uncertain(self) -> bool:
        """Whether the price is older than it should be."""
        return self.standing.state in _UNCERTAIN

    @property
    def last(self) -> float | None:
        return None if self.standing.quote is None else self.standing.quote.last

    @property
    def change(self) -> float | None:
        """The change of the price over 24 hours as a fraction."""
        return None if self.standing.quote is None else self.standing.quote.change

    @cached_property
    def price_text(self) -> str:
        return MISSING if self.last is None else format_price(self.last, self.decimals)

    @cached_property
    def decimals(self) -> int | None:
        """The decimals of closed candles, as on the chart: a forming one may have more."""
        if self.last is None:
            return None
        if self.known.decimals is not None:
            return self.known.decimals
        return decimals_of_prices((self.last,))

    @property
    def change_text(self) -> str:
        return format_percent(self.change, 2, signed=True)

    @property
    def is_learned(self) -> bool:
        """Whether its switch is on: the list says so, or it was opened; of a market that only the run has, whether the
        run learns from it."""
        return self.is_wanted or self.known.is_opened or (self.known.is_learned and not self.is_listed)

    @property
    def learning_words(self) -> str:
        """The effect of the switch, and whether it applies now."""
        if self.known.is_opened and not self.is_wanted:
            return translate("Panels", "The model learns from it: it was opened.")
        if self.is_learned and self.known.is_learned:
            return translate("Panels", "The model learns from it.")
        if self.is_learned and self.known.is_in_run:
            return translate("Panels", "The model learns from it with its next candle.")
        if self.is_learned:
            text = translate("Panels", "The model learns from it together with an opened market of {0} candles.")
            return self.joining or text.format(self.market.interval)
        if self.known.is_in_run:
            return translate("Panels", "The model forecasts it, and does not learn from it.")
        return translate("Panels", "The model does not learn from it.")

    def dot(self, palette: Palette) -> QColor:
        """The colour that goes with the words."""
        state = self.standing.state
        if self.feed is not None or self.is_on_chart:
            return state_colour(self.feed, palette)
        colours = {QuoteState.FRESH: palette.good, QuoteState.OLD: palette.warning, QuoteState.NO_ANSWER: palette.bad}
        return palette.bad if state is QuoteState.NO_MARKET else colours.get(state, palette.muted_text)

    def tooltip(self) -> str:
        name = translate("Panels", "{0}, {1} candles, {2}: {3}")
        lines = [name.format(self.symbol, self.market.interval, venue_name(self.market.venue), self.state_words)]
        if self.standing.quote is not None:
            at = format_time(self.standing.quote.at_ms, seconds=True)
            lines.append(translate("Panels", "{0} at {1}").format(self.price_text, at))
        if self.change is not None:
            lines.append(translate("Panels", "{0} in 24 hours").format(self.change_text))
        if self.is_on_chart:
            lines.append(translate("Panels", "On the chart: {0}.").format(state_within(self.feed)))
        lines += [*self._of_ghosts(), self.learning_words]
        if self.known.feed is not None and self.known.feed_sentence:
            lines.append(in_one_line(self.known.feed, self.known.feed_sentence))
        return "\n".join((*lines, self.standing.sentence) if self.standing.sentence else lines)

    def _of_ghosts(self) -> list[str]:
        """Skill and gain with their intervals, proven or not."""
        parts = (
            (self.known.skill, translate("Panels", "Skill of the ghosts"), translate("Panels", "Skill: {0} ({1})")),
            (self.known.model_gain, translate("Panels", "Gain from the model"), translate("Panels", "Gain: {0} ({1})")),
        )
        lines = []
        for estimate, name, words in parts:
            if estimate is not None:
                if value_of(estimate) is not None:
                    lines.append(words.format(worth_text(estimate), span(estimate, 1)))
                lines.append(proof_in_full(estimate, name))
        if self.known.is_in_run and self.known.position_ms is not None:
            newest = format_time(self.known.position_ms)
            lines.append(translate("Panels", "The trainer has come to the candle of {0}.").format(newest))
        return lines


def change_colour(row: Row, palette: Palette) -> QColor:
    """The colour of the change's direction; faint without a direction, or if the price is old."""
    if row.is_uncertain or not row.change:
        return palette.muted_text
    return palette.candle(rising=row.change > 0.0)


def worth_text(estimate: Estimate | None) -> str:
    """``+1.2 %``; a dash while it has no interval."""
    return format_percent(None if estimate is None else value_of(estimate), 1, signed=True)


def proof_text(estimate: Estimate | None) -> str:
    """``0.3 to 2.1``; ``not proven`` if 0 is in it; the number of candles while there is no interval."""
    if estimate is None:
        return ""
    if is_of_nothing(estimate):
        return translate("Panels", NOTHING)
    if estimate.low is None or estimate.high is None:
        return how_many(estimate.n)
    return translate("Panels", "not proven") if estimate.low <= 0.0 <= estimate.high else span(estimate, 1)


def worth_colour(accuracy: AccuracySummary | None, palette: Palette, *, is_of_model: bool) -> QColor:
    """The colour of the verdict if it is proven; otherwise faint."""
    if accuracy is None:
        return palette.muted_text
    answers = answers_of(accuracy, None)
    answer = answers.model if is_of_model else answers.ghosts
    return answers.colour(answer, palette) if answer.found in (Found.YES, Found.NO) else palette.muted_text


class RowReader:
    """The chart's market has the chart's price, other markets of the run their feed's, all others polled ones, so that
    one market never shows two prices."""

    def __init__(self, state: RunState) -> None:
        self._record, self._quotes = state.feed_record, state.quotes
        self._known, self._clock = state.markets, state.clock

    def row(self, market: Market, watched: WatchedMarket | None, *, is_polled: bool) -> Row:
        """watched: its entry in the list; None: it is in the run only."""
        known, status, now_ms = self._known.row(market), self._record.status, self._clock.now_ms()
        is_on_chart = market == self._record.market
        standing = self.standing(market, is_polled=is_polled)
        chart_feed = None if status is None else status.state
        age_s = None if standing.quote is None else max(0, (now_ms - standing.quote.at_ms) // 1000)
        return Row(
            known,
            standing,
            None if age_s is None else age_s // _AGE_STEP_S * _AGE_STEP_S,  # a row is not to change each second
            chart_feed if is_on_chart else known.feed,
            is_on_chart,
            watched is not None,
            watched is not None and watched.is_learned,
            "" if watched is None else self._joining(watched),
        )

    def _joining(self, watched: WatchedMarket) -> str:
        """The run controller's decision on a listed market that is not in the run."""
        opened, asked = self._record.market, self._record.asked
        if opened is None or asked is None:
            return ""
        if opened.venue == FILE_VENUE or asked.feed == "stored":
            return translate("Panels", "While the chart shows a replay, the model learns from no listed market.")
        if watched.market.is_simulated is not opened.is_simulated:
            return translate("Panels", "A model learns exchanges' markets or simulated ones, not both together.")
        return translate("Panels", "It joins the model now.") if fits(watched, asked) else ""

    def standing(self, market: Market, *, is_polled: bool) -> Standing:
        """Its price and the price's state. is_polled: whether prices are being requested from exchanges."""
        now_ms, known, last = self._clock.now_ms(), self._known.row(market), self._record.last_price
        is_exchange = market.venue not in (FILE_VENUE, SIMULATED_VENUE)
        polled = self._quotes.standing((market.venue, market.symbol), now_ms, is_polled=is_polled and is_exchange)
        if market == self._record.market and last is not None:
            # While its feed is live the price holds, however long nobody has traded.
            status = self._record.status
            is_live = status is not None and status.state is FeedState.LIVE
            is_old = not is_live and now_ms - last.at_ms > STALE_AFTER_MS
            return _standing(last.last, last.at_ms, polled, is_old=is_old)
        if known.is_in_run:
            return _of_run(known, polled, now_ms)
        if market.is_simulated:
            sentence = translate("Panels", "A simulated market has prices only while it is open or learned from.")
            return Standing(QuoteState.NOT_RUNNING, None, sentence)
        return polled


def _of_run(known: MarketRow, polled: Standing, now_ms: int) -> Standing:
    newest = known.newest
    if newest is None:
        return replace(polled, state=QuoteState.WAITING) if polled.state is QuoteState.NOT_ASKED else polled
    closes_ms = known.market.interval.close_time_ms(newest.open_time_ms)
    is_old = known.feed not in HEALTHY_STATES and now_ms - closes_ms > STALE_AFTER_MS
    return _standing(newest.close, min(now_ms, closes_ms), polled, is_old=is_old)


def _standing(price: float, at_ms: int, polled: Standing, *, is_old: bool) -> Standing:
    """The standing with the polled change, which covers a day."""
    change = None if polled.quote is None else polled.quote.change
    return Standing(QuoteState.OLD if is_old else QuoteState.FRESH, Quote(price, at_ms, change))
