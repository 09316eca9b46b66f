"""Faults in storage, reports, logs and shared modules."""

from __future__ import annotations

from tests.sabotage.fault import Fault

FAULTS = (
    Fault(
        "rollback-forgotten",
        "core/storage/database.py",
        "            db.rollback()\n            raise",
        "            raise",
    ),
    Fault(
        "busy-timeout-in-milliseconds",
        "core/storage/database.py",
        "timeout=busy_timeout_ms / 1000,",
        "timeout=busy_timeout_ms,",
    ),
    Fault(
        "columns-include-the-end",
        "core/storage/candles.py",
        "open_time_ms >= ? AND open_time_ms < ?",
        "open_time_ms >= ? AND open_time_ms <= ?",
    ),
    Fault(
        "candle-that-cannot-be-is-stored",
        "core/storage/candles.py",
        "    problem = problem_of_numbers(candle)",
        "    problem = None",
    ),
    Fault(
        "fence-not-checked",
        "core/storage/record_writer.py",
        "            self._check_fence()  # the",
        "            # the",
    ),
    Fault(
        "pinned-checkpoint-deleted",
        "core/storage/record_writer.py",
        "{str(row[0]) for row in select(self._db, PINNED)}",
        "{str(row) for row in select(self._db, PINNED)}",
    ),
    Fault(
        "each-backup-its-own-lock",
        "core/storage/backups.py",
        'FileLock(backups / ".lock",',
        'FileLock(backups / f".lock-{id(backups)}",',
    ),
    Fault(
        "retention-hours-as-minutes",
        "core/checkpoints/retention.py",
        "_HOUR_MS = 3_600_000",
        "_HOUR_MS = 60_000",
    ),
    Fault(
        "way-back-cleaned-up",
        "core/checkpoints/retention.py",
        '("offered as a recovery point", id_ == offered),',
        '("offered as a recovery point", False),',
    ),
    Fault(
        "newest-backups-forgotten",
        "core/storage/backups.py",
        "known[:keep], known[keep:]",
        "known[-keep:], known[:-keep]",
    ),
    Fault(
        "backup-due-in-minutes",
        "core/storage/backups.py",
        "every_hours * 3_600_000",
        "every_hours * 60_000",
    ),
    Fault(
        "damaged-checkpoint-in-the-backup",
        "core/storage/backups.py",
        "if sha256_of(into / kept.kept_as) == kept.sha256:",
        "if sha256_of(into / kept.kept_as):",
    ),
    Fault(
        "owner-described-after-the-end",
        "core/storage/ownership.py",
        "            self._description.unlink(missing_ok=True)  # before",
        "            # before",
    ),
    Fault(
        "path-leads-out-of-the-folder",
        "core/storage/folder.py",
        "if not path.is_relative_to(root):",
        "if not path.is_absolute():",
    ),
    Fault(
        "checksum-not-compared",
        "core/checkpoints/weight_file.py",
        "if sha256 is not None and hashlib",
        "if sha256 is None and hashlib",
    ),
    Fault(
        "file-not-synced",
        "core/files/durable.py",
        "            os.fsync(file.fileno())\n        temporary.replace",
        "        temporary.replace",
    ),
    Fault(
        "oldest-version-of-a-score-is-read",
        "core/storage/score_blocks.py",
        "is_newest[:-1] = target[1:]",
        "is_newest[1:] = target[1:]",
    ),
    Fault(
        "unmoved-close-counts-as-missed",
        "core/storage/packing.py",
        "None if hit < 0 else bool(hit)",
        "bool(hit)",
    ),
    Fault(
        "fence-of-the-head-alone",
        "core/storage/runs.py",
        "device = COALESCE(?, device) WHERE {_OF_HEAD}",
        "device = COALESCE(?, device) WHERE run_id = ?",
    ),
    Fault(
        "oldest-run-taken-up",
        "core/storage/runs.py",
        "fingerprint = ? ORDER BY sequence DESC LIMIT 1",
        "fingerprint = ? ORDER BY sequence LIMIT 1",
    ),
    Fault(
        "unprintable-letters-on-a-page",
        "core/evaluation/report/page.py",
        "element.text = words.printable(element.text)",
        "element.text = str(element.text)",
    ),
    Fault(
        "loss-without-model-of-the-wrong-sign",
        "core/evaluation/report/charts.py",
        "np.cumsum(losses.reference - each) / total",
        "np.cumsum(each - losses.reference) / total",
    ),
    Fault(
        "log-times-in-seconds",
        "core/logs/reading.py",
        'read_utc(head["at"])',
        'read_utc(head["at"]) // 1000',
    ),
    Fault(
        "oldest-log-lines-kept",
        "core/logs/reading.py",
        "[-ENTRIES_KEPT:]",
        "[:ENTRIES_KEPT]",
    ),
    Fault(
        "half-a-log-line-lost",
        "core/logs/reading.py",
        "self._place = (status.st_ino, start + length)",
        "self._place = (status.st_ino, start + len(data))",
    ),
    Fault(
        "heads-and-width-swapped",
        "core/settings/tree.py",
        "if self.width % self.heads:",
        "if self.heads % self.width:",
    ),
    Fault(
        "sleep-in-milliseconds",
        "core/domain/clock.py",
        "(wall_ms - self._wall_ms) / 1000.0",
        "(wall_ms - self._wall_ms)",
    ),
    Fault(
        "newest-crash-reports-removed",
        "core/logs/crashes.py",
        "[:-_REPORTS_KEPT]",
        "[_REPORTS_KEPT:]",
    ),
    Fault(
        "free-memory-shown-as-used",
        "core/machine/readings.py",
        "memory.total - memory.available",
        "memory.available",
    ),
    Fault(
        "failed-feed-is-no-failure",
        "core/training/hosting/headless.py",
        "if status.state is FeedState.FAILED:",
        "if status.state is FeedState.ENDED:",
    ),
    Fault(
        "checksum-of-a-row-not-compared",
        "core/storage/checksums.py",
        "return len(row) == len(self.columns) + 2 and row[-1] == _checksum(row[:-1])",
        "return len(row) == len(self.columns) + 2",
    ),
    Fault(
        "thinned-by-days-alone",
        "core/storage/record_thinning.py",
        "min(int(newest) - self.rules.days * DAY_MS, int(nth[0][0]))",
        "int(newest) - self.rules.days * DAY_MS",
    ),
    Fault(
        "stored-for-everybody",
        "core/files/private.py",
        "path.chmod(mode & ~_OTHERS)",
        "path.chmod(mode)",
    ),
    Fault(
        "imported-weights-learned-nothing",
        "core/checkpoints/provenance.py",
        "return max(*closes, *(each for each in stored if isinstance(each, int)), 0)",
        "return max(*closes, 0)",
    ),
    Fault(
        "markets-that-joined-later-are-of-a-checkpoint",
        "core/storage/browsing.py",
        " if at_ms <= info.created_at_ms",
        "",
    ),
    Fault(
        "of-too-many-entries-the-last-are-kept",
        "core/settings/repair.py",
        "del entries[most:]",
        "del entries[:-most]",
    ),
)
