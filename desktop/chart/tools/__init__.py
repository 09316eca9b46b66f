"""Mouse and keyboard interaction with the chart."""
