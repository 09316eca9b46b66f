"""The settings' descriptions, marked for `lupdate`, since `core` knows no Qt. Made by `make docs`."""

from __future__ import annotations

from desktop.ui.translation import QT_TRANSLATE_NOOP

DESCRIPTIONS = (
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Source of candles. auto: live if the exchange answers, else the sample. stored: only what is stored already.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The exchange's ccxt id."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The market's symbol, as ccxt writes it."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The length of a candle: 1m, 5m, 15m, 1h, 4h, 1d."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The candle file to replay."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Candles per second; 0: as fast as possible. Not set: a replay runs at 2 in the window and as fast as"
        " it goes without one, a simulation in real time.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Closed candles to learn from at the start."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Exchanges offered, in this order, when one fails. Never switched to automatically.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The model, by its name in the registry."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Width of the residual stream."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Number of residual blocks."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Attention heads; they divide the width."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candles that the model sees."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candles to forecast."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The non-linearity of the feed-forward nets."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Initial weights: torch's default, or He's for gelu, relu and silu and Xavier's for tanh.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Where training runs: in a child process, or in the worker thread."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "auto uses CUDA if available."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Makes a run repeatable: one thread, and no wall time in any decision."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "AdamW's learning rate."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "AdamW's decoupled weight decay."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "The rate after the warm-up. adaptive: halved where learning did harm; cosine: to a tenth; plateau: "
        "halved when the loss is stuck.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Steps over which the rate rises from 0."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Length of the cosine; for plateau, the steps over which the loss is averaged: three such means in a "
        "row without progress halve the rate.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Decay of the averaged weights used for forecasts; 0: use the newest weights.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The arithmetic of the forward pass; the weights stay float32."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Save memory in deep models: compute the forward pass twice (gradient checkpointing).",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "CPU threads of the trainer; 0: chosen by a short measurement."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "On a GPU, run each step as one CUDA graph if the result is the same."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "What a new run begins with. newest: the newest pretrained model that fits; none: a new model.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Share of time for training; less keeps the desktop responsive."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Older samples trained on with the newest one."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Newest candles that replay draws from."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Price of a correction in the loss: its square times the horizon, times this; 0: none.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Loss weight of a sample whose forecast was worse than usual; 1: off. Above 1 it cost skill.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Loss weight of the close where the forecast's direction was wrong; 1: off. Above 1 it cost skill.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Reaction to a lasting rise of the loss. off: not detected; mark: a mark on the loss curve; learn: a "
        "mark, and a learning rate three times as high, which falls back over 300 steps.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Age in candles of the frozen reference model, against which online learning is measured; 0: off.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "norm: the total 2-norm; value: each number; layer: each layer's norm; adaptive: a percentile of "
        "recent norms; off: nothing is clipped; observe: only say when norm would have clipped.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "The threshold for the 2-norm of all gradients (clip modes norm and observe), of each layer's "
        "(layer), or of all until enough norms are known (adaptive).",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The bound of each number, for clip mode value."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The percentile of recent norms, for clip mode adaptive."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Micro-batches that each step is split into; less memory, same result."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Standard deviation of noise added before clipping; 0: none."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "What a loss spike leads to: only a mark, a tenth of the clip threshold, or no step.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A loss of this many times the running median is a spike."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Consecutive skipped steps before a rollback."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Rollbacks within the window before training pauses."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Steps over which rollbacks are counted."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Silence after which the trainer process is restarted."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Steps between checkpoints."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "At most one checkpoint in this many seconds while catching up."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Newest checkpoints to keep."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Best checkpoints to keep."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Keep one checkpoint per this many steps; 0: off."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Keep all checkpoints younger than this; 0: off."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "How long a manually deleted checkpoint can be restored."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Hours between backups, if there are changes; 0: off."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Newest backups to keep, besides the most complete one."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Days of candles whose exact forecasts, experts' losses and gradients are kept; 0: all.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Newest candles whose details are kept, regardless of their age."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The shape of candles; forecasts are always candles."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The price axis. percent: against the first candle in view."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Interval of the shown candles: the market's, or a coarser one."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "The zone of all times on the chart: local, UTC, exchange, or a name such as Europe/Berlin.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Volume bars under the candles."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Traded volume at each price, for the candles in view."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Another stored market, shown as a line."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The price axis as it was before another market was compared."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The 50 % and 90 % bands around the ghosts."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Past forecasts over the actual candles."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candles between a past forecast and its target."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The error of each past forecast, in a pane below the prices."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Background by market regime: calm, trending or volatile, as known at each close.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Marks where training had an incident, a best, a restore."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The indicators on the chart."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Shares of the chart's height."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "system follows the desktop."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Rising and falling candles; blue-orange is safe for the colour-blind."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "The size of all text, in percent. Not set: by the screen and the window.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "bundled: Golden Sans, whose digits all have one width."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Swap the colours of rising and falling candles."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The watched markets, in order."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The columns, in order; empty: as many as there is room for."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Widths of columns that were changed, in pixels."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The sort column."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Descending order."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The checkpoints of all runs, not only of the watched one."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The price crosses an alert; also shown as a banner."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A price alert makes the system's alert sound."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A warning or an error in training, at most one a minute."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A new best checkpoint, while candles are live."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A live feed is lost for 15 seconds, and when it is back."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A job from the Jobs dock is done, or has failed."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Also while the window is active; price alerts always are."),
)
