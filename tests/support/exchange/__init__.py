"""The parts of the loopback exchange: what is traded, how it is told, and what goes wrong with the telling."""
