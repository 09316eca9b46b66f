"""One optimizer step: forward and backward in micro-batches, guard, clip, step, average, measure."""
