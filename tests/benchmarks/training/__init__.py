"""How fast training is: the engine beside a bare loop, and one model of several markets."""
