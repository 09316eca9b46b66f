"""What menus, stored data and the window have to do with the chart; `ensemble` makes them."""
