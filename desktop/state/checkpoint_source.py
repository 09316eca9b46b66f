"""Where the panels' checkpoints come from: one catalog of all that are kept, which follows what happens to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QUndoCommand, QUndoStack

from core.checkpoints.catalog import Catalog, CheckpointRow, Mask, Rows
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import Clock
from core.storage.errors import StorageError
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.ui.formatting import MISSING, format_count, format_number, format_percent
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_PAGE = 500
"""Rows read at once: a few milliseconds' work, so that the window keeps painting while there are many."""
_UNDONE_AT_MOST = 100
T = TypeVar("T")


class CheckpointSource(QObject):
    """The kept checkpoints of all runs. `trouble` carries the sentence of a failed read or write.

    All that people change goes through `undo_stack`, and can be taken back.
    """

    changed = Signal()
    trouble = Signal(str)
    undo_changed = Signal()
    """What can be taken back is something else now."""
    deletion_requested = Signal()
    """Requests to delete were stored: the trainer can be notified."""
    held_changed = Signal(object)
    """Tuple of ids: these are open in the window now, and must not be deleted."""

    def __init__(self, database: WindowDatabase, state: RunState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database = database
        self._state = state
        self._catalog = Catalog()
        self._gone: set[str] = set()
        """Requested to be deleted, and still in the catalog."""
        self._held: dict[object, tuple[str, ...]] = {}
        self._newest: int | None = None
        self._oldest: int | None = None
        self._is_stale = True
        self._infos: tuple[int, str | None, tuple[CheckpointInfo, ...]] = (-1, None, ())
        self._newest_ids: tuple[int, frozenset[str]] = (-1, frozenset())
        self.undo_stack = QUndoStack(self, undoLimit=_UNDONE_AT_MOST)
        # By way of this object: at the end the stack speaks while it is being taken down, and others would ask it.
        self.undo_stack.indexChanged.connect(self._on_undo_stack)
        self._older = QTimer(self, interval=0)
        self._older.timeout.connect(self.read_older)
        state.checkpoints_deleted.connect(self._gone.update)
        state.checkpoints_changed.connect(self._on_change)
        state.run_changed.connect(self._on_run)
        state.ready.connect(self._on_ready)

    @property
    def clock(self) -> Clock:
        return self._state.clock

    @property
    def run_id(self) -> str | None:
        """The head of the watched model; before a trainer has reported one, of the one that was trained last."""
        last = self._state.last_run
        return self._state.head_id or (None if last is None else last.head_id)

    @property
    def market_count(self) -> int:
        """How many markets the watched model learns: the scores of its checkpoints are means over all of them."""
        return max(1, len(self._state.members))

    @property
    def catalog(self) -> Catalog:
        """All that are kept, of all runs, as far as they have been read; as it is now."""
        if self._is_stale and self._database.is_open:
            self._is_stale = False
            self._guard(self._catch_up)
        self._catalog.use(self._state.checkpoint_in_use)
        return self._catalog

    def hold(self, holder: object, ids: Sequence[str]) -> None:
        """Checkpoints that a preview, a dialog or a job has open; they replace the former ones of the same holder."""
        before = self._held.get(holder, ())
        self._held[holder] = tuple(ids)
        if before != tuple(ids):
            self.held_changed.emit(self.held)

    @property
    def held(self) -> tuple[str, ...]:
        """Ids of those that are open in the window."""
        return tuple(dict.fromkeys(id_ for ids in self._held.values() for id_ in ids))

    def _on_ready(self) -> None:
        """A new trainer knows of none."""
        if held := self.held:
            self.held_changed.emit(held)

    def checkpoints(self) -> tuple[CheckpointInfo, ...]:
        """Those of the watched run, the newest first. Empty before there is a run, or when it cannot be read."""
        catalog, run_id = self.catalog, self.run_id
        if self._infos[:2] != (catalog.version, run_id):
            infos = tuple(catalog.info(int(row)) for row in catalog.ordered(self.rows_of_run(), "sequence", True))
            self._infos = (catalog.version, run_id, infos)
        return self._infos[2]

    def newest(self, count: int) -> list[CheckpointInfo]:
        """At most so many of the watched run, the newest first."""
        catalog = self.catalog
        rows = catalog.ordered(self.rows_of_run(), "sequence", is_descending=True)
        return [catalog.info(int(row)) for row in rows[:count]]

    def nearest(self, step: int, checkpoint_id: str | None) -> CheckpointInfo | None:
        """This one; where it is not kept, the one of the watched run saved nearest to this step. None where there is
        none."""
        catalog, rows = self.catalog, self.rows_of_run()
        own = None if checkpoint_id is None else catalog.row_of(checkpoint_id)
        if own is None and len(rows):
            own = int(rows[np.abs(catalog.number("step")[rows] - step).argmin()])
        return None if own is None else catalog.info(own)

    def best(self) -> CheckpointInfo | None:
        """The one of the watched run with the highest skill; None where none is better than no model."""
        run_id = self.run_id
        return None if run_id is None else self.catalog.best_of(run_id)

    def highest(self) -> CheckpointInfo | None:
        """The one of the watched run with the highest score, though it may be no best; None where none has a score."""
        run_id = self.run_id
        return None if run_id is None else self.catalog.highest_of(run_id)

    def score_count(self) -> int:
        """How many checkpoints of the watched run have a score."""
        run_id = self.run_id
        return 0 if run_id is None else self.catalog.score_count_of(run_id)

    def is_the_model(self, info: CheckpointInfo) -> bool:
        """Whether the model is this one, with no step since: there is nothing to go back to."""
        return info.is_in_use and (self._state.step or 0) <= info.step

    def bests(self) -> list[CheckpointInfo]:
        """Of the watched run, those that were the best when they were saved, and the one that is. An older version took
        also those for it that are worse than no model."""
        catalog = self.catalog
        was_best = (catalog.text("reason").where(lambda reason: reason == "best")) & (catalog.number("worse") == 0.0)
        chosen = was_best | (catalog.number("best") > 0.0)
        return [catalog.info(int(row)) for row in self.rows_of_run() if chosen[row]]

    def newest_ids(self) -> frozenset[str]:
        """The newest checkpoint of each run: the trainer always keeps it."""
        catalog = self.catalog
        if self._newest_ids[0] != catalog.version:
            runs, sequences = catalog.text("run").codes, catalog.number("sequence")
            order = np.argsort(sequences, kind="stable")
            newest = dict(zip(runs[order].tolist(), order.tolist(), strict=True))
            ids = frozenset(catalog[row].info.checkpoint_id for row in newest.values())
            self._newest_ids = (catalog.version, ids)
        return self._newest_ids[1]

    def rows_of_run(self) -> Rows:
        """Rows of the catalog that belong to the watched run, ascending."""
        return np.flatnonzero(self.is_of_run())

    def is_of_run(self) -> Mask:
        """Which rows of the catalog belong to the watched run: bool [n]."""
        run_id = self.run_id
        if run_id is None:
            return np.zeros(len(self._catalog), dtype=np.bool_)
        return self._catalog.text("run").where(lambda run: run == run_id.casefold())

    @property
    def is_loading(self) -> bool:
        """There is a run, of which nothing is known yet; or there are more than have been read."""
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
        """Add tags to all of `ids`, and take others away from them."""
        before = {info.checkpoint_id: info.tags for info in self._infos_of(ids)}
        after = {id_: (*(tag for tag in tags if tag not in remove), *add) for id_, tags in before.items()}
        words = translate("Checkpoints", "tag {0}").format(_named(ids))
        self._change(words, self._database.checkpoints.set_tags, before, after)

    def is_archived(self, run_id: str) -> bool:
        """Whether a run that has checkpoints is put away."""
        of_run = self.catalog.text("run").where(lambda run: run == run_id.casefold())
        return bool((of_run & (self._catalog.number("archived") > 0.0)).any())

    def set_archived(self, run_ids: Sequence[str], is_archived: bool) -> None:
        """Put runs away, or take them out again; nothing of them is deleted."""
        chosen = set(run_ids)
        own = [kept for kept in self.catalog.take(np.arange(len(self._catalog))) if kept.info.run_id in chosen]
        before = {kept.info.run_id: kept.is_archived for kept in own}

        def put_away(values: dict[str, bool]) -> None:
            for run_id, value in values.items():
                self._database.set_archived(run_id, value)
            self._catalog.put(replace(kept, is_archived=values[kept.info.run_id]) for kept in own)

        after = dict.fromkeys(before, is_archived)
        words = _archived(len(run_ids), is_archived=is_archived)
        self._do(words, [], partial(put_away, after), partial(put_away, before))

    def set_verified(self, faults: Mapping[str, str]) -> None:
        """The files of these were read just now; by id, what is wrong with each, nothing where it is whole."""

        def write() -> None:
            for checkpoint_id, fault in faults.items():
                self._database.checkpoints.set_verified(checkpoint_id, self.clock.now_ms(), fault)

        self._guard(write)
        self._guard(lambda: self._read_again(list(faults)))
        self.changed.emit()

    def read_again(self, ids: Sequence[str]) -> None:
        """What is known of these has changed in the table."""
        self._guard(lambda: self._read_again(ids))
        self.changed.emit()

    def reload(self) -> None:
        self._on_run()

    def request_deletion(self, ids: Sequence[str]) -> None:
        """Ask the trainer to delete `ids`; they vanish at once, and for good after the time for taking it back."""

        def ask() -> None:
            self._database.checkpoints.request_deletion(ids, self.clock.now_ms())
            self._catalog.remove(ids)
            self.deletion_requested.emit()

        def take_back() -> None:
            lost = len(ids) - len(self._database.checkpoints.take_back_deletion(ids))
            one = translate("Checkpoints", "A checkpoint had already been deleted permanently.")
            several = translate("Checkpoints", "{0} checkpoints had already been deleted permanently.")
            if lost:
                self.trouble.emit(one if lost == 1 else several.format(format_count(lost)))

        self._do(translate("Checkpoints", "delete {0}").format(_named(ids)), ids, ask, take_back)

    def _infos_of(self, ids: Sequence[str]) -> list[CheckpointInfo]:
        catalog = self.catalog
        rows = (catalog.row_of(checkpoint_id) for checkpoint_id in ids)
        return [catalog.info(row) for row in rows if row is not None]

    def _change(
        self, text: str, write: Callable[[str, T], object], before: Mapping[str, T], after: Mapping[str, T]
    ) -> None:
        """Write what each checkpoint is to have, by its id; taken back, what it had."""

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
        self._take(found)
        self._catalog.remove(self._gone)
        self._gone.clear()

    @Slot()
    def read_older(self) -> None:
        """Read the next page, where there is more; it comes by itself as soon as the window has nothing to do."""
        self._older.stop()
        self._guard(self._read_page)
        self.changed.emit()

    def _read_page(self) -> None:
        found = self._database.browsed.page(self._oldest, _PAGE)
        self._take(found)
        if len(found) == _PAGE:
            self._oldest = found[-1].sequence
            self._older.start()

    def _take(self, found: Sequence[CheckpointRow]) -> None:
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
    """One thing that a person did. What cannot be done is forgotten; that has been said then."""

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
    """The name of the change: runs put away, or taken out again."""
    one, more = (
        (translate("Checkpoints", "archive {0} run"), translate("Checkpoints", "archive {0} runs"))
        if is_archived
        else (translate("Checkpoints", "unarchive {0} run"), translate("Checkpoints", "unarchive {0} runs"))
    )
    return (one if count == 1 else more).format(format_count(count))


SCORE_MEANING = QT_TRANSLATE_NOOP(
    "Checkpoints",
    "Score: skill of the model alone, close and range in equal parts, over the newest 300 candles scored when it was "
    "saved, with its 95 % interval; or over the newest 100 with the weights as saved, if that is lower. It compares "
    "checkpoints; it is not the skill of the ghosts, which combine the model's forecast with simpler ones.\n0 % is "
    "no better than the reference, “no change”.",
)
BEST_MEANING = QT_TRANSLATE_NOOP(
    "Checkpoints",
    "The highest score of its run among the checkpoints whose model does not make the ghosts worse. That proves no "
    "edge: see Accuracy for a proof.",
)


def score_text(info: CheckpointInfo, *, is_short: bool = False) -> str:
    """``+1.2 % (0.3 to 2.1)``; without an interval where there is none. is_short: nor beside the mark of a restore, so
    that the text is no longer than others."""
    if info.skill is None:
        return MISSING
    score, is_restored = format_percent(info.skill, 1, signed=True), info.reason == "restore"
    if info.skill_low is not None and info.skill_high is not None and not (is_short and is_restored):
        low, high = format_number(info.skill_low * 100, 1), format_number(info.skill_high * 100, 1)
        score = translate("Checkpoints", "{0} ({1} to {2})").format(score, low, high)
    # A restored model has no score yet: this is that of the checkpoint whose weights it has.
    return translate("Checkpoints", "{0}, as restored").format(score) if is_restored else score
