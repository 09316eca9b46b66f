"""Where everything is in a picture: its panes, their views, and what lies in them."""
