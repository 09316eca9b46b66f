"""What watches over the trainer: how it ended, whether it hangs, what follows from that. No Qt, no torch."""
