"""The chart's text: readout, tooltip, and labels on the plot and the axes."""
