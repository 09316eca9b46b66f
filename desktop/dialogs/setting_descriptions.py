"""The settings' descriptions, marked for `lupdate`, since `core` knows no Qt. Made by `make docs`."""

from __future__ import annotations

from desktop.ui.translation import QT_TRANSLATE_NOOP

DESCRIPTIONS = (
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Where candles come from. auto: live where it answers, else the sample. stored: only what is stored already.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The exchange's ccxt id."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The market's symbol, as ccxt writes it."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The length of a candle: 1m, 5m, 15m, 1h, 4h, 1d."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The candle file to replay."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Candles per second; 0: as fast as it goes. Not set: a replay runs at 2 in the window and as fast as "
        "it goes without one, a simulation in real time.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Closed candles learned from at the start."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Exchanges offered, in this order, where one fails. None is switched to by itself.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The model, by its name in the registry."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Width of the residual stream."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Number of residual blocks."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Attention heads; they divide the width."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candles that the model looks back on."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candles that are forecast ahead."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The non-linearity of the feed-forward nets."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "First weights: torch's own, or He's for gelu, relu and silu and Xavier's for tanh.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Where the arithmetic happens: a child process, or the worker thread itself.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "auto takes CUDA where it is usable."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Makes a run repeatable: one thread, and no wall time in any decision."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "AdamW's learning rate."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "AdamW's decoupled weight decay."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "The rate after the warm-up. adaptive: halved where learning did harm; cosine: to a tenth; plateau: "
        "halved when the loss is stuck.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Steps in which the rate rises from nothing."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Length of the cosine; for plateau, the steps over which the loss is averaged: three such means in a "
        "row without progress halve the rate.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Forecast with a moving average of the weights; 0: with the newest."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The arithmetic of the forward pass; the weights stay float32."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Save memory in deep models: compute the forward pass twice (gradient checkpointing).",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "CPU threads of the trainer; 0: chosen by a short measurement."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "On a GPU, do each step as one CUDA graph where that gives the same result.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "What a new run begins with. newest: the newest pretrained model that fits; none: a new model.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Share of the time that training may take; less keeps the desktop fluid."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Older samples beside the newest one."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candles back that replay draws from."),
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
        "What a lasting rise of the loss leads to. off: it is not looked for; mark: a mark on the loss curve;"
        " learn: a mark, and a learning rate three times as high, which falls back over 300 steps.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Score the model beside itself as it was so many candles ago, to say what learning was worth; 0: not.",
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
    QT_TRANSLATE_NOOP("SettingDescriptions", "A loss of so many times the running median is a spike."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Skipped steps in a row that lead back to the last good state."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Rollbacks within the window before training pauses."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The window of that budget."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Silence after which the trainer process is ended and started anew."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Steps between checkpoints."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "At most one checkpoint in this many seconds while catching up."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "How many of the newest are kept."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "How many of the best are kept."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "One is kept in each stretch of so many steps; 0: no such rule."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "All are kept that are younger than so many hours; 0: no such rule."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "How long a checkpoint that was deleted by hand can be brought back before its file goes.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Hours between backups, where anything was written; 0: none is made."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "How many of the newest are kept, and the fullest beside."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Exact forecasts, experts' losses and gradients are kept of so many days' candles; 0: of all.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "They are kept of at least so many of the newest candles, however many days that is.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The shape of candles; forecasts are always candles."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The price axis. percent: against the first candle in view."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The candles that are shown: the market's own, or these, joined of them."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "The zone of all times on the chart: local, UTC, exchange, or a name such as Europe/Berlin.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Volume bars under the candles."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "How much was traded at each price, of the candles in view: bars behind them.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Another stored market, laid over the candles as a line."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The price axis as it was before another market was compared."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The 50 % and 90 % bands around the ghosts."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Past forecasts laid over the candles that came."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "How many candles before their target past forecasts were made."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The error of each past forecast, in a pane below the prices."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "A shade behind the candles: calm, trending or volatile, as known at each close.",
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
    QT_TRANSLATE_NOOP("SettingDescriptions", "Rising candles in the colour of falling ones and the other way round."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The watched markets, in order."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The columns, in order; empty: as many as there is room for."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Widths of columns that were changed, in pixels."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The column that is sorted by."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The largest first."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The checkpoints of all runs, not only of the watched one."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The price crosses an alert; a banner says it too."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A price alert makes the system's alert sound."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A warning or an error in training, at most one a minute."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A new best checkpoint, while candles are live."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A live feed is lost for 15 seconds, and when it is back."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A job from the Jobs dock is done, or has failed."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "All but price alerts: also while the window is the one that is used."),
)
