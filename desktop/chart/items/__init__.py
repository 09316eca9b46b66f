"""The pyqtgraph items that the chart is made of, each of which draws one thing."""
