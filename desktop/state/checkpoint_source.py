"""The source of the panels' checkpoints: one catalog of all stored ones, which follows their changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QUndoCommand, QUndoStack

from core.checkpoints.best import is_proven_to_add, proven_gain
from core.checkpoints.catalog import Catalog
from core.checkpoints.row import CheckpointRow
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import Clock
from core.forecast.sample_sizes import FEWEST_FOR_A_PROOF
from core.storage.errors import StorageError
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.ui.formatting import MISSING, format_count, format_number, format_percent
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_PAGE = 500
"""Rows read at once: a few milliseconds of work, so that the window keeps painting."""
_UNDONE_AT_MOST = 100
T = TypeVar("T")


class CheckpointSource(QObject):
    """The stored checkpoints of all runs. `trouble` carries the sentence of a failed read or write. All changes by the
    user go through `undo_stack`, and can be undone."""

    changed = Signal()
    trouble = Signal(str)
    undo_changed = Signal()
    """The next change to undo is another one now."""
    deletion_requested = Signal()
    """Requests to delete were stored: the trainer can be notified."""

    def __init__(self, database: WindowDatabase, state: RunState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database = database
        self._state = state
        self._catalog = Catalog()
        self._gone: set[str] = set()
        """Checkpoints to be deleted that are still in the catalog."""
        self._newest: int | None = None
        self._oldest: int | None = None
        self._is_stale = True
        self._infos: tuple[int, str | None, tuple[CheckpointInfo, ...]] = (-1, None, ())
        self.undo_stack = QUndoStack(self, undoLimit=_UNDONE_AT_MOST)
        # By way of this object: at the end the stack speaks while it is being taken down, and others would ask it.
        self.undo_stack.indexChanged.connect(self._on_undo_stack)
        self._older = QTimer(self, interval=0)
        self._older.timeout.connect(self.read_older)
        state.checkpoints_deleted.connect(self._gone.update)
        state.checkpoints_changed.connect(self._on_change)
        state.run_changed.connect(self._on_run)

    @property
    def clock(self) -> Clock:
        return self._state.clock

    @property
    def run_id(self) -> str | None:
        """The head run of the watched model; before a trainer has reported one, of the last trained model."""
        last = self._state.last_run
        return self._state.head_id or (None if last is None else last.head_id)

    @property
    def market_count(self) -> int:
        """How many markets the watched model learns: the scores of its checkpoints are means over all of them."""
        return max(1, len(self._state.members))

    @property
    def catalog(self) -> Catalog:
        """The current catalog of all runs' stored checkpoints, as far as they have been read."""
        if self._is_stale and self._database.is_open:
            self._is_stale = False
            self._guard(self._catch_up)
        self._catalog.use(self._state.checkpoint_in_use)
        return self._catalog

    def checkpoints(self) -> tuple[CheckpointInfo, ...]:
        """Checkpoints of the watched run, the newest first. Empty before there is a run, or if it cannot be read."""
        rows, run_id = self.catalog, self.run_id
        if self._infos[:2] != (rows.version, run_id):
            infos = tuple(row.info for row in rows.of_run(run_id))
            self._infos = (rows.version, run_id, infos)
        return self._infos[2]

    def nearest(self, step: int, checkpoint_id: str | None) -> CheckpointInfo | None:
        """This checkpoint; if it no longer exists, the watched run's nearest to this step. None if there is none."""
        own = self.catalog.get(checkpoint_id)
        if own is not None:
            return own.info
        return min(self.checkpoints(), key=lambda info: abs(info.step - step), default=None)

    def best(self) -> CheckpointInfo | None:
        """The watched run's best checkpoint; None before the first score."""
        return next((info for info in self.checkpoints() if info.is_best), None)

    def is_the_model(self, info: CheckpointInfo) -> bool:
        """Whether the model equals this checkpoint, with no step since: restoring it would change nothing."""
        return info.is_in_use and (self._state.step or 0) <= info.step

    def bests(self) -> list[CheckpointInfo]:
        """The checkpoints of the watched run that were its best when saved, and its present best, if proven to add."""
        infos = reversed(self.checkpoints())
        return [info for info in infos if is_proven_to_add(info) and (info.is_best or info.reason == "best")]

    def newest_ids(self) -> frozenset[str]:
        """The newest checkpoint of each run: the trainer always keeps it."""
        newest = {row.info.run_id: row.info.checkpoint_id for row in self.catalog.rows(is_descending=False)}
        return frozenset(newest.values())

    @property
    def is_loading(self) -> bool:
        """Whether the run is still loading, or older checkpoints have not been read yet."""
        return self._state.is_loading or self._older.isActive()

    def set_pinned(self, ids: Sequence[str], is_pinned: bool) -> None:
        before = {info.checkpoint_id: info.is_pinned for info in self._infos_of(ids)}
        words = translate("Checkpoints", "pin {0}") if is_pinned else translate("Checkpoints", "unpin {0}")
        after = dict.fromkeys(before, is_pinned)
        self._change(words.format(_named(ids)), self._database.checkpoints.set_pinned, before, after)

    def set_note(self, checkpoint_id: str, note: str) -> None:
        before = {info.checkpoint_id: info.note for info in self._infos_of([checkpoint_id])}
        words = translate("Checkpoints", "change a note")
        self._change(words, self._database.checkpoints.set_note, before, {checkpoint_id: note})

    def set_name(self, checkpoint_id: str, name: str) -> None:
        before = {info.checkpoint_id: info.name for info in self._infos_of([checkpoint_id])}
        words = translate("Checkpoints", "rename a checkpoint")
        self._change(words, self._database.checkpoints.set_name, before, {checkpoint_id: name})

    def set_tags(self, ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> None:
        """Add tags to all of `ids`, and remove others from them."""
        before = {info.checkpoint_id: info.tags for info in self._infos_of(ids)}
        after = {id_: (*(tag for tag in tags if tag not in remove), *add) for id_, tags in before.items()}
        words = translate("Checkpoints", "tag {0}").format(_named(ids))
        self._change(words, self._database.checkpoints.set_tags, before, after)

    def is_archived(self, run_id: str) -> bool:
        return any(row.is_archived for row in self.catalog.of_run(run_id))

    def set_archived(self, run_ids: Sequence[str], is_archived: bool) -> None:
        """Archive runs, or restore them from the archive; nothing of them is deleted."""
        own = [row for run_id in run_ids for row in self.catalog.of_run(run_id)]
        before = {kept.info.run_id: kept.is_archived for kept in own}

        def store(values: dict[str, bool]) -> None:
            for run_id, value in values.items():
                self._database.set_archived(run_id, value)
            self._catalog.put(replace(kept, is_archived=values[kept.info.run_id]) for kept in own)

        after = dict.fromkeys(before, is_archived)
        words = _archived(len(run_ids), is_archived=is_archived)
        self._do(words, [], partial(store, after), partial(store, before))

    def set_verified(self, faults: Mapping[str, str]) -> None:
        """The files of these were read just now; by id, the fault of each, empty if it is whole."""

        def write() -> None:
            for checkpoint_id, fault in faults.items():
                self._database.checkpoints.set_verified(checkpoint_id, self.clock.now_ms(), fault)

        self._guard(write)
        self._guard(lambda: self._read_again(list(faults)))
        self.changed.emit()

    def read_again(self, ids: Sequence[str]) -> None:
        """Read these checkpoints again, because their rows have changed."""
        self._guard(lambda: self._read_again(ids))
        self.changed.emit()

    def reload(self) -> None:
        self._on_run()

    def request_deletion(self, ids: Sequence[str]) -> None:
        """Ask the trainer to delete `ids`; they vanish at once, and for good once they can no longer be undone."""

        def ask() -> None:
            self._database.checkpoints.request_deletion(ids, self.clock.now_ms())
            self._catalog.remove(ids)
            self.deletion_requested.emit()

        def take_back() -> None:
            lost = len(ids) - len(self._database.checkpoints.cancel_deletion(ids))
            one = translate("Checkpoints", "A checkpoint had already been deleted permanently.")
            several = translate("Checkpoints", "{0} checkpoints had already been deleted permanently.")
            if lost:
                self.trouble.emit(one if lost == 1 else several.format(format_count(lost)))

        self._do(translate("Checkpoints", "delete {0}").format(_named(ids)), ids, ask, take_back)

    def _infos_of(self, ids: Sequence[str]) -> list[CheckpointInfo]:
        return [row.info for id_ in ids if (row := self.catalog.get(id_)) is not None]

    def _change(
        self, text: str, write: Callable[[str, T], object], before: Mapping[str, T], after: Mapping[str, T]
    ) -> None:
        """Write the new value of each checkpoint, by its id; undo writes the former one."""

        def write_all(values: Mapping[str, T]) -> None:
            for checkpoint_id, value in values.items():
                write(checkpoint_id, value)

        if before:
            self._do(text, list(before), partial(write_all, after), partial(write_all, before))

    def _do(self, text: str, ids: Sequence[str], do: Callable[[], object], undo: Callable[[], object]) -> None:
        def carry_out(change: Callable[[], object]) -> bool:
            is_done = self._guard(change)
            self._guard(lambda: self._read_again(ids))
            self.changed.emit()
            return is_done

        self.undo_stack.push(_Change(text, partial(carry_out, do), partial(carry_out, undo)))

    def _read_again(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _PAGE):
            self._catalog.put(self._database.browsed.of(ids[start : start + _PAGE]))

    def _guard(self, work: Callable[[], object]) -> bool:
        try:
            work()
        except StorageError as error:
            self.trouble.emit(str(error))
            return False
        return True

    def _catch_up(self) -> None:
        if self._newest is None:
            found = self._database.browsed.page(None, _PAGE)
            if len(found) == _PAGE:
                self._oldest = found[-1].sequence
                self._older.start()
        else:
            found = self._database.browsed.newer(self._newest)
        self._add(found)
        self._catalog.remove(self._gone)
        self._gone.clear()

    @Slot()
    def read_older(self) -> None:
        """Read the next page, if there is more; happens by itself as soon as the window is idle."""
        self._older.stop()
        self._guard(self._read_page)
        self.changed.emit()

    def _read_page(self) -> None:
        found = self._database.browsed.page(self._oldest, _PAGE)
        self._add(found)
        if len(found) == _PAGE:
            self._oldest = found[-1].sequence
            self._older.start()

    def _add(self, found: Sequence[CheckpointRow]) -> None:
        self._catalog.put(found)
        if found:
            newest = max(kept.sequence for kept in found)
            self._newest = newest if self._newest is None else max(self._newest, newest)

    def _on_run(self) -> None:
        """Changes to a run that is not watched are not reported: everything is read again."""
        self._older.stop()
        self._catalog.clear()
        self._newest = self._oldest = None
        self._on_change()

    @Slot()
    def _on_undo_stack(self) -> None:
        self.undo_changed.emit()

    def _on_change(self) -> None:
        self._is_stale = True
        self.changed.emit()


class _Change(QUndoCommand):
    """One change by the user. An impossible change is dropped, with a message."""

    def __init__(self, text: str, do: Callable[[], bool], undo: Callable[[], bool]) -> None:
        super().__init__(text)
        self._do, self._undo = do, undo

    def redo(self) -> None:
        self.setObsolete(not self._do())

    def undo(self) -> None:
        self.setObsolete(not self._undo())


def _named(ids: Sequence[str]) -> str:
    if len(ids) == 1:
        return translate("Checkpoints", "a checkpoint")
    return translate("Checkpoints", "{0} checkpoints").format(format_count(len(ids)))


def _archived(count: int, *, is_archived: bool) -> str:
    """The name of the change."""
    one, more = (
        (translate("Checkpoints", "archive {0} run"), translate("Checkpoints", "archive {0} runs"))
        if is_archived
        else (translate("Checkpoints", "unarchive {0} run"), translate("Checkpoints", "unarchive {0} runs"))
    )
    return (one if count == 1 else more).format(format_count(count))


ADDS_MEANING = QT_TRANSLATE_NOOP(
    "Checkpoints",
    "What the model adds to the skill of the ghosts, beyond the baselines: close and range in equal parts, over all "
    "own candles of its line of weights until it was saved, with an interval that holds however often you look. It is "
    "shown once it is proven, when the interval excludes 0.",
)
BEST_MEANING = QT_TRANSLATE_NOOP(
    "Checkpoints",
    "Of the checkpoints of a run that are proven to add to the ghosts, the one whose model alone was best over the "
    "newest 300 candles. While none is proven to add, of all.",
)


def adds_text(info: CheckpointInfo, *, is_short: bool = False) -> str:
    """``+1.2 % (0.3 to 2.1)`` if that is proven; without the interval if `is_short` beside the mark of a restore, so
    that the text is no longer than others."""
    gain, is_restored = proven_gain(info), info.reason == "restore"
    if gain is None or info.gain_low is None or info.gain_high is None:
        return MISSING
    text = format_percent(gain, 1, signed=True)
    if not (is_short and is_restored):
        interval = translate("Checkpoints", "{0} ({1} to {2})")
        text = interval.format(text, _end(info.gain_low), _end(info.gain_high))
    # A restored model has forecast nothing yet: this is of the checkpoint whose weights it has.
    return translate("Checkpoints", "{0}, before restore").format(text) if is_restored else text


def adds_sentence(info: CheckpointInfo) -> str:
    """What the model adds; if that is not shown, why not."""
    over = format_count(info.gain_candles)
    if info.gain_low is not None and info.gain_high is not None:
        text = translate("Checkpoints", "Not proven to add: the interval, {0} to {1} %, has 0 in it; over {2} candles")
        if proven_gain(info) is not None:
            return translate("Checkpoints", "Adds {0}, over {1} candles").format(adds_text(info), over)
        return text.format(_end(info.gain_low), _end(info.gain_high), over)
    text = translate("Checkpoints", "Not known what it adds: {0} of the {1} candles that a proof needs")
    return text.format(over, FEWEST_FOR_A_PROOF)


def _end(share: float) -> str:
    """An end of an interval in percent. It is never rounded to zero, as its side of zero is the proof."""
    decimals = next((places for places in range(1, 6) if round(100.0 * share, places)), 1)
    return format_number(100.0 * share, decimals)
