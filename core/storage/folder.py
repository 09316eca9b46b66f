"""The layout of the data folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.domain.plain_text import plain
from core.files.durable import prove_writable
from core.files.private import make_private, make_private_folder
from core.storage.errors import StorageError

_FSTAB = Path("/etc/fstab")


class _Place:
    """A file or folder, by its name in the data folder."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, folder: DataFolder, kind: type[DataFolder]) -> Path:
        return folder.root / self._name


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The only folder that a session writes to. Nothing is created before `ensure`."""

    root: Path
    """Absolute, since a relative path has no URI for SQLite, and the current folder may change."""

    database = _Place("ghostcandle.sqlite3")
    settings = _Place("settings.json")
    layout = _Place("layout.json")
    """The window's geometry and docks."""
    logs = _Place("logs")
    crashes = _Place("logs/crashes")
    models = _Place("models")
    threads = _Place("threads.json")
    """The measured CPU thread counts."""
    symbols = _Place("symbols")
    """The lists of the exchanges' markets."""
    outbox = _Place("outbox.json")
    """The alerts that are not sent to every service yet."""
    backups = _Place("backups")
    """Verified copies of the database, one folder each."""
    reports = _Place("reports")
    sweeps = _Place("sweeps")
    """A folder for each sweep of the window."""
    jobs = _Place("jobs")
    """Temporary files of jobs; empty while none runs."""
    owner_lock = _Place("owner.lock")
    owner = _Place("owner.json")
    quarantine = _Place("quarantine")
    """Damaged files are moved here, never deleted."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", self.root.absolute())

    def bad_batches(self, run_id: str) -> Path:
        """Skipped batches of one run, for inspection. Raises ValueError like `checkpoints`."""
        return self.quarantine / "batches" / self.checkpoints(run_id).name

    def checkpoints(self, run_id: str) -> Path:
        """The folder of one run's checkpoint files. Raises ValueError for an id that is not a plain name."""
        if not run_id or run_id in (".", "..") or any(mark in run_id for mark in '/\\:*?"<>|\0'):
            raise ValueError(f"'{run_id}' cannot name a folder")
        return self.models / "transformer" / run_id

    def relative(self, path: Path) -> str:
        """The name of a file in `CheckpointInfo.file`. Raises ValueError for a file outside the folder. Links are not
        followed: a folder in it may be a link to another disk."""
        return path.absolute().relative_to(self.root).as_posix()

    def absolute(self, file: str) -> Path:
        """The inverse of `relative`. Raises StorageError for a path outside the folder."""
        path = self.root / file
        if ".." in Path(file).parts or not path.is_relative_to(self.root):
            raise StorageError(f"'{file}' is outside the data folder {self.root}, so it is not read.")
        return path

    def ensure(self) -> None:
        """Create the folders, private to this user, and check that they are writable. Raises StorageError."""
        self._require_readable_name()
        self._require_disk()
        try:
            self._make_private()
            for folder in (self.root, self.logs, self.models, self.quarantine):
                prove_writable(folder)
        except OSError as error:
            raise StorageError(
                f"The data folder {self.root} cannot be written ({error.strerror or error}). "
                "Free space on its disk, change its permissions, or choose another with --data-dir."
            ) from error

    def _require_readable_name(self) -> None:
        """Checkpoints in a folder of any other name can be written, and then not be read."""
        try:
            str(self.root).encode()
        except UnicodeEncodeError as error:
            raise StorageError(
                f"The path of the data folder {plain(str(self.root))} is not UTF-8. Choose another with --data-dir."
            ) from error

    def _require_disk(self) -> None:
        """Data in the place of a disk that is away would be hidden once that is back."""
        for place in _empty_mount_points():
            if self.root.resolve().is_relative_to(place):
                raise StorageError(
                    f"The disk of {place}, where the data folder {self.root} lies, is not mounted. Connect it, or "
                    "choose another folder with --data-dir."
                )

    def _make_private(self) -> None:
        """Make the folder private unless it has foreign files: the user may have chosen any folder."""
        if not self.root.exists() or self.database.exists() or not any(self.root.iterdir()):
            make_private_folder(self.root)
        for folder in (self.logs, self.models, self.quarantine):
            make_private_folder(folder)
        if self.backups.exists():
            make_private(self.backups)


def _empty_mount_points() -> Iterator[Path]:
    """Of the disks that the system is to mount; none where there is no list of them."""
    with suppress(OSError):
        for line in _FSTAB.read_text(errors="replace").splitlines():
            device, name, *_ = *line.split(), "", ""
            place = Path(name.replace("\\040", " "))
            with suppress(OSError):
                if name.startswith("/") and device[0] != "#" and not (place.is_mount() or any(place.iterdir())):
                    yield place
