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
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candle length: 1m, 5m, 15m, 1h, 4h, 1d."),
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
    QT_TRANSLATE_NOOP("SettingDescriptions", "Architecture of the model."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Width of the residual stream."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Number of residual blocks."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Attention heads; they divide the width."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candles that the model sees."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candles to forecast."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Activation function of the feed-forward networks."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Initial weights: torch's default, or He's for gelu, relu and silu and Xavier's for tanh.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Where training runs: in a child process, or in the worker thread."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "auto uses CUDA if available."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Makes a run reproducible: one thread, and no wall-clock time in any decision.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "AdamW's learning rate."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "AdamW's decoupled weight decay."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Learning rate after the warm-up. adaptive: halved where learning did harm; cosine: falls to a tenth;"
        " plateau: halved when the loss stops falling.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Steps over which the rate rises from 0."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Length of the cosine. For plateau: steps over which the loss is averaged; three means in a row "
        "without progress halve the rate.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Decay of the averaged weights used for forecasts; 0: use the newest weights.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Precision of the forward pass; the weights stay float32."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Gradient checkpointing: saves memory in deep models by computing the forward pass twice.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "CPU threads of the trainer; 0: chosen by a short measurement."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "On a GPU, run each step as one CUDA graph if the result is the same."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Starting point of a new run. newest: the newest pretrained model that fits; none: a new model.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Share of time for training; less keeps the desktop responsive."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Older samples trained on with the newest one."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Newest candles that replay draws from."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Penalty on a correction in the loss: its square times the horizon, times this; 0: none.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Loss weight of a sample whose forecast was worse than usual; 1: off. Values above 1 lowered the skill.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Loss weight of the close where the forecast's direction was wrong; 1: off. Values above 1 lowered the skill.",
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
        "recent norms; off: no clipping; observe: only report when norm would have clipped.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "The threshold for the 2-norm of all gradients (clip modes norm and observe), of each layer's "
        "(layer), or of all until enough norms are known (adaptive).",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Largest absolute value of each gradient number, for clip mode value."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The percentile of recent norms, for clip mode adaptive."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Micro-batches per step: less memory, same result."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Standard deviation of noise added before clipping; 0: none."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Response to a loss spike: only a mark, a tenth of the clip threshold, or no step.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A loss of this many times the running median is a spike."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Consecutive skipped steps before a rollback."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Rollbacks within the window before training pauses."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Steps over which rollbacks are counted."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Silence after which the trainer process is restarted."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Steps between checkpoints."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Least time between checkpoints while catching up."),
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
    QT_TRANSLATE_NOOP("SettingDescriptions", "Shape of the candles; forecasts are always drawn as candles."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Price axis. percent: change from the first candle in view."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Interval of the shown candles: the market's, or a coarser one."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Time zone of the chart: local, UTC, exchange, or a name such as Europe/Berlin.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Volume bars under the candles."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Traded volume at each price, for the candles in view."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Another stored market, shown as a line."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Price axis to return to after comparing."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The 50 % and 90 % bands around the ghosts."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Past forecasts over the actual candles."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Candles between a past forecast and its target."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Error of each past forecast, in a pane below the prices."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Background by market regime: calm, trending or volatile, as known at each close.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Marks at incidents, new bests and restores of training."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Indicators on the chart."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Number of charts in the Overview."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Pane heights, as shares of the chart's height."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "system: follow the desktop."),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Colours of rising and falling candles; blue-orange is safe for the colour-blind.",
    ),
    QT_TRANSLATE_NOOP(
        "SettingDescriptions",
        "Size of all text, in percent. Not set: follows the screen and the window.",
    ),
    QT_TRANSLATE_NOOP("SettingDescriptions", "bundled: Golden Sans, with digits of equal width."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Swap the colours of rising and falling candles."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Watched markets, in order."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Columns, in order; empty: as many as fit."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Changed column widths, in pixels."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The sort column."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Descending order."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Checkpoints of all runs, not only the watched one."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "The price crosses an alert; also shown as a banner."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Play the system's alert sound for a price alert."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A warning or an error in training, at most one a minute."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A new best checkpoint, while candles are live."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A live feed has been lost for 15 seconds, or is back."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "A job from the Jobs panel is done, or has failed."),
    QT_TRANSLATE_NOOP("SettingDescriptions", "Also while the window is active; price alerts always are."),
)
