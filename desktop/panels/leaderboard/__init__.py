"""The leaderboard: which of a market's models and baselines forecasts best, and whose ghosts are on the chart."""
