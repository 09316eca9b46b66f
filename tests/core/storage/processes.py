"""Child processes that end with the test."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

PATIENCE_S = 120


@dataclass(frozen=True)
class Child:
    """A process and our end of the pipe to it."""

    process: SpawnProcess
    pipe: Connection

    def receive(self) -> object:
        """Its next message. Raises EOFError once it has ended."""
        assert self.pipe.poll(PATIENCE_S), "the child process said nothing"
        return self.pipe.recv()

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.process.kill()
        self.process.join()


@contextmanager
def child(target: Callable[..., None], *arguments: object) -> Iterator[Child]:
    """Run `target` in a spawned process until the block ends, then kill it. The pipe is its last argument."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=target, args=(*arguments, theirs))
    process.start()
    theirs.close()
    running = Child(process, ours)
    try:
        yield running
    finally:
        running.kill()
        process.close()
        ours.close()
