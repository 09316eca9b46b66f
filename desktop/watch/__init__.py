"""The watchlist behind its panel: prices and lists of markets, fetched on threads of their own."""
