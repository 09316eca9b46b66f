"""The beginning of a sweep, and of its continuation: everything that can be wrong is found before the first cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain.challenger_sources import source_of
from core.files.durable import sha256_of
from core.settings.tree import Settings
from core.sweeps.errors import SweepError
from core.sweeps.grid import base_of, cells_of, check_ends, configurations_of, sources_of
from core.sweeps.plan import Configuration, SweepFile, SweepPlan, plan_data, read_plan
from core.sweeps.sources import find_files
from core.sweeps.store import SweepHead, SweepStore
from core.sweeps.versions import versions

ModelFiles = Mapping[str, tuple[str, str]]
"""The path and the sha256 of each model's own file, by the model's name in the plan."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A sweep as its plan and files are now. configurations: none yet if Optuna proposes them."""

    plan: SweepPlan
    base: dict[str, Any]
    files: tuple[SweepFile, ...]
    models: ModelFiles
    configurations: tuple[Configuration, ...]

    @property
    def own_models(self) -> tuple[str, ...]:
        """The models that are not built in, as this machine finds them."""
        return tuple(place_of(model, self.models) for model in sources_of(self.plan))


def draft_of(path: Path, settings: Settings) -> Draft:
    """Read and check the plan. settings: the user's. Raises SweepError."""
    plan, base = read_plan(path), base_of(settings)
    models = model_files(plan, path.absolute().parent)
    files = find_files(plan, path.absolute().parent)
    if plan.budget is not None:
        check_ends(plan, base)
        return Draft(plan, base, files, models, ())
    return Draft(plan, base, files, models, configurations_of(plan, base))


def begin(store: SweepStore, draft: Draft) -> SweepHead:
    """Store the head and all known cells; or, of a sweep that began earlier, check that it is the same one and return
    its head. Raises SweepError."""
    program, torch = versions()
    hashes = {model: sha256 for model, (_, sha256) in draft.models.items()}
    head = SweepHead(draft.plan, draft.base, draft.files, hashes, program, torch)
    stored = store.head()
    if stored is not None:
        return _same(stored, head, store.path.parent)
    store.begin(head, cells_of(draft.configurations, draft.files, draft.plan))
    return head


def _same(stored: SweepHead, now: SweepHead, folder: Path) -> SweepHead:
    """The stored head, with the files where they are now."""
    if (stored.program, stored.torch) != (now.program, now.torch):
        raise SweepError(
            f"The sweep in {folder} was begun with Ghostcandle {stored.program} and torch {stored.torch}; these are "
            f"{now.program} and {now.torch}, and its cells would not compare. Continue with the former, or begin "
            "another sweep with --folder."
        )
    different = _difference(stored, now)
    if different is not None:
        raise SweepError(
            f"The sweep in {folder} was begun with another plan: {different}. Put that back, or begin another sweep "
            "with --folder."
        )
    return SweepHead(stored.plan, stored.base, now.files, stored.models, stored.program, stored.torch)


def _difference(stored: SweepHead, now: SweepHead) -> str | None:
    before, after = plan_data(stored.plan), plan_data(now.plan)
    name = next((name for name in after if before.get(name) != after[name]), None)
    if name is not None:
        return f"{name} differs"
    contents = [{file.name: file.sha256 for file in head.files} for head in (stored, now)]
    if contents[0] != contents[1]:
        changed = sorted({name for name, _ in contents[0].items() ^ contents[1].items()})
        return f"the content of {', '.join(changed)} differs"
    model = next((model for model in now.models if stored.models.get(model) != now.models[model]), None)
    return None if model is None else f"the file of the model {model} differs"


def model_files(plan: SweepPlan, folder: Path) -> dict[str, tuple[str, str]]:
    """The models' own files. folder: the plan's, to which paths are relative. Raises SweepError."""
    found = {}
    for model, source in sources_of(plan).items():
        if source.file is not None:
            path = folder / Path(source.file).expanduser()
            if not path.is_file():
                raise SweepError(f"models: there is no file {path}. Correct the path of {model}.")
            found[model] = str(path), sha256_of(path)
    return found


def place_of(model: str, files: ModelFiles) -> str:
    """The model's name with the absolute path of its file."""
    return f"{files[model][0]}:{source_of(model).name}" if model in files else model
