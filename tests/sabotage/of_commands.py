"""Faults in commands and in the window around the panels."""

from __future__ import annotations

from tests.sabotage.fault import Fault

FAULTS = (
    Fault(
        "share-overwrites-a-file",
        "desktop/commands/share.py",
        "if target.exists() and not overwrite:",
        "if target.is_dir() and not overwrite:",
    ),
    Fault(
        "shared-page-with-the-folders-of-paths",
        "core/evaluation/sharing.py",
        'return _FOLDERS.sub("", value)',
        "return value",
    ),
    Fault(
        "leader-behind-itself",
        "core/evaluation/report/leaderboard_figures.py",
        'return "the leader" if row["rank"] is not None else _MISSING',
        'return "indistinguishable" if row["rank"] is not None else _MISSING',
    ),
    Fault(
        "pooled-board-of-the-first-market-alone",
        "desktop/commands/leaderboard.py",
        "board(runs)}",
        "board(runs[:1])}",
    ),
    Fault(
        "frozen-without-checkpoint",
        "desktop/commands/evaluate.py",
        "if checkpoint is None and (frozen or count_seen):",
        "if checkpoint is None and frozen and count_seen:",
    ),
    Fault(
        "frozen-evaluation-learns",
        "desktop/commands/evaluate.py",
        "counts_seen=count_seen, learns=not frozen)",
        "counts_seen=count_seen, learns=True)",
    ),
    Fault(
        "report-over-the-candle-file",
        "desktop/commands/evaluate.py",
        "if report.exists() and candle_file.exists() and report.samefile(candle_file):",
        "if report == candle_file:",
    ),
    Fault(
        "trade-cost-in-percent",
        "desktop/commands/evaluate.py",
        "_BASIS_POINT = 1e-4",
        "_BASIS_POINT = 1e-2",
    ),
    Fault(
        "memory-in-gibibytes",
        "desktop/window/machine_load.py",
        'f"{size / 1e9:.1f}"',
        'f"{size / 2**30:.1f}"',
    ),
    Fault(
        "unknown-heat-is-hot",
        "desktop/window/machine_load.py",
        "is_hot = heat is not None and heat >= _HOT_C",
        "is_hot = heat is None or heat >= _HOT_C",
    ),
    Fault(
        "rate-of-several-markets-taken-for-the-setting",
        "desktop/window/rates.py",
        "show_rate(status.learning_rate / self._factor)",
        "show_rate(status.learning_rate)",
    ),
    Fault(
        "typed-number-overwritten",
        "desktop/window/controls.py",
        "if is_typing or math.isclose(box.value(), learning_rate, rel_tol=1e-6):",
        "if math.isclose(box.value(), learning_rate, rel_tol=1e-6):",
    ),
    Fault(
        "shown-value-sent-as-chosen",
        "desktop/window/controls.py",
        "        box.blockSignals(True)\n        box.setValue(learning_rate)",
        "        box.setValue(learning_rate)",
    ),
    Fault(
        "pause-notice-withdrawn-before-a-step",
        "desktop/window/state_notices.py",
        "last_step_ms is not None and last_step_ms > shown_at_ms:",
        "last_step_ms is not None:",
    ),
    Fault(
        "going-back-without-a-trainer",
        "desktop/window/rates.py",
        "if recovery.checkpoint_id is not None and not self._state.has_answering_trainer:",
        "if recovery.checkpoint_id is None and not self._state.has_answering_trainer:",
    ),
    Fault(
        "stop-offered-without-a-trainer",
        "desktop/window/controls.py",
        "            self._actions[action_id].setEnabled(not is_resting)\n        for",
        "            self._actions[action_id].setEnabled(True)\n        for",
    ),
    Fault(
        "old-title-bar-icons-in-a-new-theme",
        "desktop/ui/theme.py",
        "        if palette_key != self._palette_key:",
        "        if not self._palette_key:",
    ),
    Fault(
        "nohup-without-effect",
        "desktop/app/stopping.py",
        "        del before[signal.SIGHUP]\n",
        "        pass\n",
    ),
)
