"""The order in which several feeds, learned from together, give their candles."""

from __future__ import annotations

import asyncio


class StepOrder:
    """Nobody takes a step before all others have taken every earlier one, and those before it in order this one too.

    A member has its turn until it announces or asks for the next one, or leaves. One that does neither holds up all
    others.
    """

    def __init__(self, members: int) -> None:
        self._steps = dict.fromkeys(range(members), -1)
        self._turns = {member: asyncio.Event() for member in self._steps}

    async def turn(self, member: int, step: int) -> None:
        """Wait for the member's turn. Returns at once when it has left."""
        if member in self._steps:
            self.announce(member, step)
            await self._turns[member].wait()

    def announce(self, member: int, step: int) -> None:
        """The member will ask for this step next: until then the others may take the earlier ones."""
        if member in self._steps:
            self._steps[member] = step
            self._turns[member].clear()
            self._wake_first()

    def leave(self, member: int) -> None:
        """Take no more steps."""
        if self._steps.pop(member, None) is not None:
            self._turns[member].set()
            self._wake_first()

    def _wake_first(self) -> None:
        if self._steps:
            self._turns[min(self._steps, key=lambda member: (self._steps[member], member))].set()
