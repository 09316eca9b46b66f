"""What the chart says in words: readout, tooltip, labels on the plot and on the axes."""
