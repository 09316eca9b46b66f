"""The docks around the chart: each one shows, none computes."""
