"""The accuracy panel: how good the forecasts have been, how sure that is, and what it is measured against."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QTabBar, QToolButton, QWidget

from core.domain.events import AccuracySummary, ForecastGroup, MarketStatus
from core.forecast.sample_sizes import FEWEST_FOR_A_PROOF, FEWEST_FOR_AN_ESTIMATE
from core.market.shown_names import shown_symbol
from desktop.panels.accuracy.answers import AnswerLine, Answers, Found, answers_of, is_by_simple_rules, with_share_shown
from desktop.panels.accuracy.details import PAGES, AccuracyDetails
from desktop.panels.accuracy.glossary import ROWS, GlossaryLinks
from desktop.panels.accuracy.table import AccuracyTable
from desktop.panels.accuracy.words import kind_word
from desktop.state.run_state import RunState
from desktop.state.training_words import break_sentence, ending_words
from desktop.ui.formatting import format_count, format_duration, format_percent
from desktop.ui.icons import icon
from desktop.ui.interface_size import scale_text
from desktop.ui.panel_base import EmptyState, Panel, colour_text, mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import NarrowTabs, Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_APART = (
    QT_TRANSLATE_NOOP("Panels", "Backtest on past candles. Indicative only."),
    QT_TRANSLATE_NOOP("Panels", "The model has been trained on these candles: the scores prove nothing."),
)
_SHARE_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "For the next close, the ghosts combine {0} of the model's forecast with {1} of simpler ones from the same "
    "candles: “no change”, averages, regressions. The better recent ones weigh more; if the model's share is "
    "small, the ghosts are those of the simpler forecasts.",
)
_NOW = QT_TRANSLATE_NOOP("Panels", "Now")
"""The tab that the trainer updates with each candle."""


class AccuracyPanel(Panel):
    """The first tab: the verdict, then a row for each measure: now, interval, what it is measured against, n. The
    others read all scores of the run, which costs more, so they are computed only while visible."""

    wanted = Signal(object)
    """Request: what is visible now; emitted with every refresh."""

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__(theme)
        self._state = state
        self._verdict_icon, self._verdict, self._reason = Label(), Label(wraps=True), Label(wraps=True)
        self._table = AccuracyTable(theme)
        self._footer = Label(wraps=True)
        """The number of candles, and the model's share of the ghosts."""
        self._model, self._learning = AnswerLine(), AnswerLine()
        self.apart = QToolButton()
        """Shows the scores that are kept apart instead of the run's own."""
        self.links = GlossaryLinks(self)
        self.tabs, self.details = QTabBar(), AccuracyDetails(theme)
        self._now = DownScrolling(self._build_layout(), translate("Panels", "Accuracy now"))
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        NarrowTabs(self.tabs)  # all seven are in view in the narrowest dock
        for name in (_NOW, *PAGES):
            self.tabs.setTabData(self.tabs.addTab(translate("Panels", name)), name)
        stacked(self, self.tabs, self._now, self.details, margins=(8, 2, 8, 2), spacing=3)
        self.details.hide()
        self._empty = EmptyState(translate("Panels", _EMPTY), self)
        self.follow(self.apart.toggled, state.status_changed, state.diagnosis_changed, state.feed_changed)
        self.follow(state.forecast_changed, state.record_changed, state.accuracy_changed)
        self.tabs.currentChanged.connect(self._on_tab)
        self.details.wanted.connect(self.wanted)

    def refresh(self) -> None:
        status = self._state.market_status
        has_scores = status is not None and status.accuracy.scored > 0
        why = break_sentence(self._state)
        self._empty.update_state(is_empty=not has_scores, is_loading=self._state.is_loading, why=why)
        is_now = self.tabs.currentIndex() == 0
        self.tabs.setVisible(has_scores)
        self._now.setVisible(is_now)
        self.details.setVisible(has_scores and not is_now)
        if is_now:
            self._refresh_now()
        elif status is not None and has_scores:
            self.details.show_found(self._state.accuracy, self._state.accuracy_trouble, status.shares)
            self.wanted.emit(self.details.request)

    def _on_tab(self, index: int) -> None:
        if index:
            self.details.open_page(self.tabs.tabData(index))
        self.refresh()

    def _refresh_now(self) -> None:
        status = self._state.market_status
        own = None if status is None else with_share_shown(status.accuracy, self._state)
        has_scores = own is not None and own.scored > 0
        for part in (self._verdict_icon, self._verdict, self._table, self._footer):
            part.setVisible(has_scores)
        if status is None or own is None or not has_scores:
            self.apart.hide()
            for line in (self._reason, self._model, self._learning):
                line.hide()
            return
        apart, is_models_own = status.accuracy_apart, False
        self._offer_apart(own, apart)
        if apart is not None and self.apart.isChecked():
            self._show_apart(apart)
            shown = apart
        else:
            has_ended = bool(ending_words(self._state))
            has_diverged = self._state.has_diverged
            answers = answers_of(own, status.online, has_ended=has_ended, has_diverged=has_diverged)
            self._show_answers(own, apart, answers)
            shown, is_models_own = own, answers.model.found is Found.YES
        self._table.show_summary(shown, is_models_own=is_models_own)
        self._show_footer(own, shown)

    def _build_layout(self) -> QWidget:
        scale_text(self._verdict, 1.15, bold=True)
        mute(self._reason, self._footer)
        rows = ((row.name, anchor) for row, anchor in zip(self._table.rows, ROWS, strict=True))
        answers = ((self._verdict, "ghost"), (self._model, "model"), (self._learning, "learning-helps"))
        for label, anchor in (*answers, (self._reason, "too-early"), *rows, (self._footer, "combination")):
            self.links.link(label, anchor)
        self.apart.setAutoRaise(True)
        self.apart.setCheckable(True)
        self.apart.hide()  # it has no text before there are scores to choose from
        scale_text(self.apart, 0.9)
        top = beside(None, self._verdict_icon, self._verdict, self.apart, stretched=self._verdict, spacing=6)
        for part in (self._verdict_icon, self.apart):
            top.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        page = QWidget()
        below = (self._reason, self._model, self._learning, self._table, self._footer)
        stacked(page, top, *below, None, margins=(0, 1, 0, 0), spacing=3)
        return page

    def _offer_apart(self, own: AccuracySummary, apart: AccuracySummary | None) -> None:
        self.apart.setVisible(apart is not None)
        if apart is None:
            self.apart.setChecked(False)
            return
        shown, other = (apart, own) if self.apart.isChecked() else (own, apart)
        self.apart.setText(translate("Panels", "Show {0}").format(kind_word(other.group)))
        meaning = translate(
            "Panels",
            "Show the scores of the {0} forecasts instead of the {1} ones. A forecast is live if it was committed "
            "before the close of its candle could be known.",
        )
        set_tooltip(self.apart, meaning.format(kind_word(other.group), kind_word(shown.group)))

    def _show_answers(self, own: AccuracySummary, apart: AccuracySummary | None, answers: Answers) -> None:
        palette, ghosts = self.palette_now, answers.ghosts
        if own.skill_close.value is None:
            reason = self._when_numbers_come(own, apart)
        elif ghosts.found is Found.EARLY:
            words = translate("Panels", "A proof needs {0} candles ({1} so far).")
            reason = words.format(FEWEST_FOR_A_PROOF, format_count(own.skill_close.n))
        else:
            reason = ""
        if reason and (ending := ending_words(self._state)):
            stays = translate("Panels", "{0}: undecided until more candles arrive. {1}")
            reason = stays.format(ending, _with_capital(reason))
        colour = answers.colour(ghosts, palette)
        self._put_verdict(ghosts.text, _with_capital(reason), colour)
        set_tooltip(self._verdict, ghosts.meaning)
        name = "check-circle-outline" if ghosts.found is Found.YES else "scale-balance"
        self._verdict_icon.setPixmap(icon(name, colour).pixmap(18, 18))
        for line, answer in ((self._model, answers.model), (self._learning, answers.learning)):
            line.show_answer(answer, palette.text if answer is None else answers.colour(answer, palette))

    def _show_apart(self, apart: AccuracySummary) -> None:
        palette = self.palette_now
        for line in (self._model, self._learning):
            line.hide()
        headline = translate("Panels", "{0} candles, scored separately").format(_with_capital(kind_word(apart.group)))
        reason = translate("Panels", _APART[apart.group is ForecastGroup.SEEN])
        self._put_verdict(headline, reason, palette.text)
        self._verdict_icon.setPixmap(icon("history", palette.text).pixmap(18, 18))

    def _put_verdict(self, headline: str, reason: str, colour: QColor) -> None:
        set_text(self._verdict, headline)
        set_text(self._reason, reason)
        self._reason.setVisible(bool(reason))
        colour_text(self._verdict, colour)

    def _when_numbers_come(self, own: AccuracySummary, apart: AccuracySummary | None) -> str:
        """How many candles the first numbers still need, how long that is, and whether another group has numbers
        already."""
        have, fewest = own.skill_close.n, FEWEST_FOR_AN_ESTIMATE
        interval_ms = self._state.interval_ms
        has_candles = not self._state.feed_record.is_silent and not ending_words(self._state)
        is_coming = own.group is ForecastGroup.LIVE and has_candles
        if is_coming and interval_ms is not None and have < fewest:
            share = self._state.feed_record.candle_share  # in a thin market many intervals have no candle
            wait = format_duration((fewest - have) * interval_ms / 1000 / share)
            words = translate("Panels", "first {0} numbers after {1} candles ({2} so far), in about {3}.")
            words = words.format(kind_word(own.group), fewest, format_count(have), wait)
        else:
            words = translate("Panels", "first {0} numbers after {1} candles ({2} so far).")
            words = words.format(kind_word(own.group), fewest, format_count(have))
        if apart is None:
            return words
        others = translate("Panels", "{0} are scored separately.").format(_total_text(apart))
        return f"{words} {others}"

    def _show_footer(self, own: AccuracySummary, shown: AccuracySummary) -> None:
        newest, text = shown.coverage_90.n, _total_text(shown)
        if newest < _total(shown):
            text = translate("Panels", "Newest {0} of {1}").format(format_count(newest), text)
        elif shown is not own and newest == shown.window:
            text = translate("Panels", "Newest {0}").format(text)  # how many there were before is not counted
        meaning = translate(
            "Panels",
            "Of all {0} scored forecasts of this run, {1} were live: committed before the close of their candle "
            "could be known.\nCandles after a gap or a session break are not among the newest: the other tabs show "
            "them as a group.",
        ).format(format_count(own.scored), format_count(own.live_scored))
        share = own.model_weight
        if is_by_simple_rules(self._state):
            without = translate("Panels", "· next close: simple rules only")
            text = f"{text} {without}"
        elif share is not None:
            model, rest = format_percent(share, 0), format_percent(1.0 - share, 0)
            of_model = translate("Panels", "· next close: {0} model").format(model)
            text = f"{text} {of_model}"
            meaning = f"{meaning}\n{translate('Panels', _SHARE_MEANING).format(model, rest)}"
            meaning = f"{meaning}\n{_by_horizon(self._state.market_status)}".rstrip()
        if len(self._state.members) > 1 and self._state.market is not None:
            text = f"{shown_symbol(self._state.market.venue, self._state.market.symbol)} · {text}"
        set_text(self._footer, text)
        set_tooltip(self._footer, meaning)


_EMPTY = QT_TRANSLATE_NOOP("Panels", "No forecasts scored yet.\nEach is scored when its candle closes.")


def _total(shown: AccuracySummary) -> int:
    """Scored candles of a group: in the whole run for its own forecasts, in the window for the others."""
    return max(shown.skill_close.n, shown.coverage_90.n)


def _by_horizon(status: MarketStatus | None) -> str:
    """The model's share in each close that is forecast: it may differ much."""
    shares = None if status is None else status.shares
    if shares is None or len(shares.shares) < 2:
        return ""
    quantity, model = shares.quantities.index("close"), shares.experts.index("model")
    each = (format_percent(of_horizon[quantity][model], 0) for of_horizon in shares.shares)
    return translate("Panels", "The model's share in the close of each candle ahead: {0}.").format(", ".join(each))


def _total_text(shown: AccuracySummary) -> str:
    total = _total(shown)
    text = translate("Panels", "{0} {1} candle") if total == 1 else translate("Panels", "{0} {1} candles")
    return text.format(format_count(total), kind_word(shown.group))


def _with_capital(text: str) -> str:
    return text[:1].upper() + text[1:]
