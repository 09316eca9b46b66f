"""Golden images of the chart: a table of scenes, a process per scale that paints them, and review and approval.

`make golden-review` paints all scenes and writes a page with expected, actual and difference side by side; `make
golden-approve` accepts the pictures on that page.
"""
