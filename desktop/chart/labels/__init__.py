"""What the chart says in words: readout, tooltip, crosshair labels, countdown."""
