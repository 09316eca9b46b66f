"""The style of the page, light and dark, on screen and on paper. Lines differ by dashes as well as by colour."""

from __future__ import annotations

STYLE = """
:root { --page: #ffffff; --ink: #1b1f24; --faint: #5a6470; --grid: #e3e7ec; --zero: #6b7480;
  --combination: #0060a8; --model: #b8500a; --baseline: #3d7a53; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --ink: #e6e9ed; --faint: #a3adb8; --grid: #2b3138;
  --zero: #8a949f; --combination: #5db3f5; --model: #f2a25c; --baseline: #79c596; } }
@media print { :root { --page: #ffffff; --ink: #000000; --faint: #333333; --grid: #d5d9de; --zero: #555555;
  --combination: #0060a8; --model: #b8500a; --baseline: #3d7a53; } figure, table { break-inside: avoid; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 860px; margin: 0 auto; padding: 24px 20px 48px; }
h1 { font-size: 26px; overflow-wrap: anywhere; margin: 0 0 4px; }
h2 { font-size: 20px; margin: 32px 0 8px; }
.lead, figcaption, .missing { color: var(--faint); }
.lead { overflow-wrap: anywhere; }
figcaption strong { color: var(--ink); }
table { border-collapse: collapse; width: 100%; font-size: 15px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
th { font-weight: 600; }
@media (min-width: 600px) { tbody th { min-width: 12.5em; } }
tr:has(+ tr > td:first-child) > * { border-bottom: 0; padding-bottom: 0; }
figure { margin: 24px 0; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--faint); }
svg .name, svg .value { fill: var(--ink); }
.grid { stroke: var(--grid); }
.zero { stroke: var(--zero); stroke-dasharray: 6 4; stroke-width: 1.2; }
.curve { fill: none; stroke-width: 2; }
.curve.combination { stroke: var(--combination); }
.curve.model { stroke: var(--model); stroke-dasharray: 7 3; }
.curve.baseline { stroke: var(--baseline); stroke-dasharray: 2 3; }
.dot.combination, .bar.combination { fill: var(--combination); }
.bar.model { fill: var(--model); }
.bar.baseline { fill: var(--baseline); }
.candle { stroke: var(--zero); stroke-width: 1.2; }
.candle.up { fill: var(--page); }
.candle.down { fill: var(--zero); }
.candle.ghost { stroke: var(--combination); fill: none; }
.curve.ghost { stroke: var(--combination); }
.band-90 { fill: var(--combination); fill-opacity: 0.14; }
.band-50 { fill: var(--combination); fill-opacity: 0.2; }
ol.commands { padding-left: 0; list-style: none; }
ol.commands code { overflow-wrap: anywhere; }
"""
