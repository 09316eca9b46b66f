"""What the mouse and the keys do on the chart."""
