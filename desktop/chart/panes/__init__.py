"""The geometry of a frame: panes, their views, and the layers in them."""
