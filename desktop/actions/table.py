"""Everything a user can do, one row per action: menus, tool bars, shortcuts and tooltips are built from it."""

from __future__ import annotations

from enum import Enum, unique

from PySide6.QtGui import QAction

from desktop.actions import info as at
from desktop.actions.info import ActionInfo


@unique
class ActionId(Enum):
    """Every action: text, tooltip, keys and icon. Their order is the order of menus and tool bars."""

    CHOOSE_MARKET = at.file(
        "Choose &market…",
        "Choose the exchange, symbol and interval, or a file to replay",
        "Ctrl+M",
        "swap-horizontal",
        is_in_tool_bar=True,
    )
    FIND = at.file(
        "&Find anything…", "Search actions, settings, indicators, checkpoints and markets", "Ctrl+K", "magnify"
    )
    IMPORT_CANDLES = at.history(
        "&Import candles…",
        "Read candles or trades from files into the database, as a job",
        "Ctrl+O",
        "database-import-outline",
    )
    FETCH_HISTORY = at.history(
        "Fetch &history…",
        "Fetch missing candles of a market from its exchange, as a job",
        "Ctrl+Shift+H",
        "cloud-download-outline",
    )
    SHARE_RUN = at.history(
        "&Share this run",
        "Write this run's results as one page to share, as a job",
        "Ctrl+Shift+W",
        "share-variant-outline",
    )
    BACK_UP = at.program(
        "&Back up now",
        "Copy the database with the checkpoints it needs, and verify the copy",
        "Ctrl+Alt+B",
        "database-check-outline",
    )
    OPEN_DATA_FOLDER = at.program(
        "Open &data folder",
        "Open the folder with the database, checkpoints and logs",
        "Ctrl+Shift+O",
        "folder-open-outline",
    )
    PREFERENCES = at.program(
        "&Preferences…",
        "Model, training, gradients, recovery, checkpoints, chart and appearance",
        "Ctrl+,",
        "cog",
        role=QAction.MenuRole.PreferencesRole,
    )
    QUIT = at.file(
        "&Quit",
        "Save a checkpoint, stop training and close the window",
        "Ctrl+Q",
        "power",
        section=3,
        role=QAction.MenuRole.QuitRole,
    )
    START = at.training("&Start", "Start training on the chosen market", "F5", "play")
    PAUSE = at.training("&Pause", "Pause learning; candles are still forecast and scored", "F6", "pause")
    STEP_ONCE = at.training(
        "Step &once", "Take one extra training step on older candles, also while paused", "F7", "step-forward"
    )
    STOP = at.training("S&top", "Save a checkpoint and stop training", "F8", "stop")
    SAVE_CHECKPOINT = at.training("Save &checkpoint", "Save the current model", "Ctrl+S", "content-save", section=1)
    FREE_DEVICE_SHORT = at.release(
        "For 15 &minutes",
        "Save a checkpoint and release the GPU's memory for 15 minutes; candles are still stored, and caught up on",
        "Ctrl+F8",
        "timer-outline",
    )
    FREE_DEVICE_LONG = at.release(
        "For an &hour",
        "Save a checkpoint and release the GPU's memory for an hour; candles are still stored, and caught up on",
        "Ctrl+Shift+F8",
        "timer-sand",
    )
    FREE_DEVICE = at.release(
        "&Until training is started",
        "Save a checkpoint and release the GPU's memory until training is started again; candles are still "
        "stored, and caught up on",
        "",
        "coffee-outline",
    )
    PRETRAIN = at.model(
        "P&retrain…", "Train a new model on candle files before a run, as a job", "Ctrl+Shift+P", "school-outline"
    )
    EVALUATE = at.model(
        "&Evaluate on a file…",
        "Run the live session over a candle file, from a checkpoint or a new model, as a job",
        "Ctrl+Shift+A",
        "clipboard-check-outline",
    )
    SWEEP = at.model(
        "S&weep…",
        "Compare settings and models on candle files: an evaluation each, as a job",
        "Ctrl+Shift+G",
        "table-large",
    )
    GO_TO_NEWEST = at.chart(
        "Go to &newest candle",
        "Move the chart to the newest candle and its forecast",
        "Alt+End",
        "page-last",
        is_in_tool_bar=True,
    )
    GO_TO_DATE = at.chart("Go to &date…", "Move the chart to a date", "Ctrl+G", "calendar-arrow-right")
    INTERVAL_MARKET = at.interval("&Market's interval", "The interval that the model learns from")
    INTERVAL_1M = at.interval("&1 minute", "1-minute candles")
    INTERVAL_5M = at.interval("&5 minutes", "5-minute candles, aggregated from the stored ones")
    INTERVAL_15M = at.interval("15 m&inutes", "15-minute candles, aggregated from the stored ones")
    INTERVAL_1H = at.interval("1 &hour", "1-hour candles, aggregated from the stored ones")
    INTERVAL_4H = at.interval("4 h&ours", "4-hour candles, aggregated from the stored ones")
    INTERVAL_1D = at.interval("1 &day", "1-day candles (UTC), aggregated from the stored ones")
    STYLE_CANDLES = at.style("&Candles", "Filled bodies and wicks", "Alt+1", "chart-waterfall")
    STYLE_HOLLOW = at.style("&Hollow candles", "Rising bodies are outlines", "Alt+2", "chart-box-outline")
    STYLE_BARS = at.style("&Bars", "Open to the left, close to the right", "Alt+3", "chart-gantt")
    STYLE_LINE = at.style("&Line", "Closing prices as one line", "Alt+4", "chart-line-variant")
    STYLE_HEIKIN_ASHI = at.style(
        "Heikin-&Ashi",
        "Averaged candles: smoother trends, but opens and closes are not traded prices",
        "Alt+5",
        "chart-bell-curve",
    )
    SCALE_LINEAR = at.scale("&Linear", "Equal distances show equal price changes", "Alt+L", "ruler")
    SCALE_LOG = at.scale("Lo&garithmic", "Equal distances show equal percentage changes", "Alt+G", "math-log")
    SCALE_PERCENT = at.scale("&Percent", "Change from the first candle in view", "Alt+P", "percent-outline")
    FIT_PRICES = at.scale(
        "&Fit prices",
        "Auto-fit the price axis to the candles in view",
        "Alt+A",
        "arrow-expand-vertical",
        section=2,
        is_checkable=False,
        group="",
    )
    ZONE_LOCAL = at.zone("&Local", "Times in this computer's time zone", "", "home-clock-outline")
    ZONE_UTC = at.zone("&UTC", "Times in UTC", "", "earth")
    ZONE_EXCHANGE = at.zone("&Exchange", "Times in the exchange's time zone", "", "bank-outline")
    ZONE_OTHER = at.zone("&Other…", "Choose a time zone", "", "map-clock-outline")
    HINDSIGHT = at.past(
        "&Hindsight", "Overlay past forecasts on the candles they were made for", "Alt+Shift+H", "ghost-outline"
    )
    HINDSIGHT_HORIZON = at.past(
        "Ne&xt hindsight horizon",
        "Show forecasts made one candle earlier; after the earliest, start again at one candle",
        "Alt+Shift+X",
        "history",
        is_checkable=False,
    )
    REGIMES = at.past(
        "Market &regime",
        "Shade the background by market regime: calm, trending, volatile",
        "Alt+Shift+R",
        "weather-partly-lightning",
    )
    INDICATORS = at.shown(
        "&Indicators…", "Add, change or remove averages, bands and oscillators", "Ctrl+I", "chart-multiline"
    )
    SHOW_GRID = at.switch("&Grid", "Lines at round prices and times", "Alt+Shift+G", "grid")
    SHOW_VOLUME = at.switch("&Volume", "Volume bars under the candles", "Ctrl+Shift+V", "chart-bar")
    VOLUME_PROFILE = at.switch(
        "Volume pr&ofile", "Volume traded at each price by the candles in view", "Ctrl+Alt+V", "chart-timeline"
    )
    SHOW_BANDS = at.switch(
        "Forecast &bands", "The 50 % and 90 % bands around the forecast", "Ctrl+Shift+B", "chart-bell-curve-cumulative"
    )
    SHOW_CHANCE = at.switch(
        "&Chance of a price",
        "How likely a price is touched: at the crosshair, on the price axis and on horizontal lines",
        "Ctrl+Alt+P",
        "percent-circle-outline",
    )
    SAMPLE_PATHS = at.switch(
        "&Sample paths",
        "Twenty possible futures behind the forecast; the ghosts follow the most central one",
        "Alt+Shift+S",
        "chart-sankey",
    )
    SHOW_MARKERS = at.switch(
        "&Markers",
        "Mark candles with a training incident, new best, restore or rollback",
        "Ctrl+Shift+M",
        "map-marker-outline",
    )
    COMPARE = at.shown(
        "Compare &with…", "Overlay another stored market's closing prices, in percent", "Ctrl+Alt+C", "compare"
    )
    COMPARE_STOP = at.shown(
        "Stop comparin&g", "Remove the other market and restore the previous price scale", "", "close"
    )
    ADD_ALERT = at.line(
        "&Alert…",
        "Set a price alert: click the price; with the keyboard, at the crosshair or the last price",
        "Alt+Shift+A",
        "bell-plus-outline",
    )
    ADD_NOTE = at.line("&Note…", "Write a note at a price: click to place it", "Alt+Shift+N", "note-plus-outline")
    MEASURE = at.line(
        "M&easure",
        "Drag to measure change, percent, candles, time and volume; or Shift+drag",
        "Alt+Shift+M",
        "ruler-square",
        is_checkable=True,
    )
    NEXT_LINE = at.line(
        "Select ne&xt line",
        "Select the next alert, note or drawing; the arrows move it, with Shift by ten steps",
        "Alt+Shift+L",
        "page-next-outline",
    )
    EDIT_LINE = at.selected_line(
        "Edit &price and text…", "Change the price or the label; colour and width of a drawing", "F2", "pencil-outline"
    )
    DELETE_LINE = at.selected_line("&Remove line", "Remove the selected line or drawing", "Del", "delete-outline")
    UNDO_LINE = at.selected_line("&Undo line change", "Undo the last change to a line or drawing", "Ctrl+Z", "undo")
    REDO_LINE = at.selected_line("R&edo line change", "Redo the last undone change", "Ctrl+Shift+Z", "redo")
    DRAW_TREND_LINE = at.drawing("&Trend line", "Draw a line between two points", "Alt+Shift+T", "vector-line")
    DRAW_RAY = at.drawing("Ra&y", "Draw a line that extends beyond its second point", "Alt+Shift+Y", "ray-start-arrow")
    DRAW_HORIZONTAL = at.drawing("&Horizontal line", "Draw a line at a price, without an alert", "Alt+Shift+P", "minus")
    DRAW_VERTICAL = at.drawing("&Vertical line", "Draw a line at a time", "Alt+Shift+V", "power-on")
    DRAW_CHANNEL = at.drawing("Parallel &channel", "Draw two parallel lines", "Alt+Shift+C", "equal")
    DRAW_RECTANGLE = at.drawing("Recta&ngle", "Draw a box over times and prices", "Alt+Shift+B", "rectangle-outline")
    DRAW_FIBONACCI = at.drawing(
        "&Fibonacci retracement", "Draw retracement levels between two points", "Alt+Shift+F", "format-align-justify"
    )
    DRAW_LONG = at.drawing("&Long position", "Draw entry, target and stop of a long position", "", "arrow-top-right")
    DRAW_SHORT = at.drawing("&Short position", "Draw entry, target and stop of a short one", "", "arrow-bottom-right")
    DRAW_TEXT = at.drawing("Te&xt…", "Write on the chart: click to place the text", "Alt+Shift+W", "format-text")
    SHOW_DRAWING_TOOLS = at.drawing("Tool &bar", "Show the drawing tools beside the chart", "", "draw", section=4)
    SAVE_PICTURE = at.saved("Save p&icture…", "Save the chart as a PNG or SVG file", "Ctrl+Shift+S", "image-outline")
    COPY_PICTURE = at.saved("C&opy picture", "Copy the chart to the clipboard as a picture", "Ctrl+Shift+C", "camera")
    EXPORT_CSV = at.saved("&Export to CSV…", "Save the candles in view as a table", "Ctrl+E", "file-delimited-outline")
    TRAVEL_BACK = at.travel(
        "Step &back", "Show the chart one candle earlier, with the forecast made then", "Alt+Left", "step-backward"
    )
    TRAVEL_PLAY = at.travel(
        "&Play", "Play candle by candle: from the past up to now, then with the replay", "F9", "play"
    )
    TRAVEL_FORWARD = at.travel(
        "Step &forward",
        "Show the next candle: a past one, or a single one of the replay, which then pauses",
        "Alt+Right",
        "step-forward",
    )
    TRAVEL_NOW = at.travel(
        "Back to &now", "Show all candles again; on the chart also End and Esc", "Shift+F9", "clock-end"
    )
    REPLAY_WAITS = at.travel(
        "&Wait for the model",
        "In a replay, the next candle comes once the model has forecast from the newest one; not while it is stopped",
        "",
        "timer-sand",
        is_checkable=True,
    )
    FULL_SCREEN = at.view(
        "&Full screen", "Enter or leave full screen; Esc also leaves it", "F11", "fullscreen", is_checkable=True
    )
    THEME_SYSTEM = at.theme("Follow &system", "Use the desktop's dark or light setting", "", "monitor")
    THEME_DARK = at.theme("&Dark", "Light text on dark", "", "weather-night")
    THEME_LIGHT = at.theme("&Light", "Dark text on light", "", "white-balance-sunny")
    SHOW_LOSS = at.panel("&Loss", "Loss curves and learning rate", "Ctrl+1", "chart-line")
    SHOW_GRADIENTS = at.panel("&Gradients", "Gradients of each step, and their diagnosis", "Ctrl+2", "stethoscope")
    SHOW_ACCURACY = at.panel("&Accuracy", "Accuracy of the forecasts, and how certain it is", "Ctrl+3", "target")
    SHOW_CHECKPOINTS = at.panel("&Checkpoints", "The best checkpoint, and all stored ones", "Ctrl+5", "history")
    SHOW_EVENTS = at.panel(
        "&Events",
        "Incidents in training, the feed's events and numbers, and the log",
        "Ctrl+6",
        "alert-outline",
        key="show_incidents",
    )
    SHOW_MARKETS = at.panel(
        "&Markets",
        "Each market: price, ghosts, their worth, feed; a click shows one on the chart",
        "Ctrl+8",
        "eye-outline",
        key="show_watchlist",
    )
    SHOW_JOBS = at.panel("&Jobs", "Background jobs: progress, time left, result", "Ctrl+0", "progress-clock")
    FLOAT_PANEL = at.panel(
        "&Float panel",
        "Detach the panel with keyboard focus from the window, or dock it again",
        "Ctrl+Shift+F",
        "dock-window",
        section=4,
        is_checkable=False,
    )
    LAYOUT_WATCH = at.layout("&Watch", "A large chart, the markets and the scores", "Ctrl+Alt+1", "eye-outline")
    LAYOUT_TRAIN = at.layout("&Train", "Loss, gradients, checkpoints and events", "Ctrl+Alt+2", "chart-line")
    LAYOUT_COMPARE = at.layout("&Compare", "Checkpoints and their scores, enlarged", "Ctrl+Alt+3", "compare-horizontal")
    OVERVIEW = at.layout(
        "&Overview",
        "Charts of 4, 9 or 16 markets at once; a click opens one large",
        "Ctrl+Alt+4",
        "view-grid-outline",
        is_checkable=True,
    )
    SWEEPS = at.layout(
        "&Sweeps", "Sweeps: progress, cells, verdict, pictures", "Ctrl+Alt+5", "table-search", is_checkable=True
    )
    KEEP_LAYOUT = at.layout(
        "Save &layout…", "Save the current places of the panels under a name", "", "content-save-outline", section=4
    )
    RESET_LAYOUT = at.view(
        "&Reset layout", "Reset all panels to their default places", "Ctrl+Shift+R", "view-dashboard-outline", section=3
    )
    SHORTCUTS = at.help("&Keyboard shortcuts", "All actions and their shortcuts", "F1", "keyboard-outline")
    DOCUMENTATION = at.help(
        "&Documentation",
        "Documentation of the program, stored on this computer",
        "Ctrl+F1",
        "book-open-page-variant-outline",
    )
    ABOUT = at.help(
        "&About Ghostcandle",
        "Version, components and licences",
        "",
        "information-outline",
        section=1,
        role=QAction.MenuRole.AboutRole,
    )
    CHECKPOINT_RESTORE = at.checkpoint_button(
        "&Restore",
        "Preview this checkpoint's ghosts on the chart, then restore the model; the forecast record is kept",
        "Ctrl+Return",
        "backup-restore",
    )
    CHECKPOINT_COMPARE = at.checkpoint_button(
        "&Compare", "Compare metrics, settings and curves side by side", "Ctrl+D", "compare"
    )
    CHECKPOINT_PIN = at.checkpoint_button(
        "&Pin", "Keep these checkpoints until they are unpinned", "Ctrl+P", "pin-outline"
    )
    CHECKPOINT_DELETE = at.checkpoint_button(
        "&Delete", "Delete these checkpoints; it can be undone", "Del", "delete-outline"
    )
    CHECKPOINT_UNDO = at.checkpoint_button("&Undo", "Undo the last change", "Ctrl+Z", "undo")
    CHECKPOINT_GHOSTS = at.checkpoint(
        "&Ghosts on the chart",
        "Show what up to four of these checkpoints would forecast now, side by side",
        "Ctrl+H",
        "ghost-outline",
        is_checkable=True,
    )
    CHECKPOINT_NOTE = at.checkpoint("&Note…", "Write a note on this checkpoint", "F2", "note-edit-outline")
    CHECKPOINT_NAME = at.checkpoint("R&ename…", "Give this checkpoint a name", "Shift+F2", "rename-box")
    CHECKPOINT_TAGS = at.checkpoint("&Tags…", "Tag these checkpoints to find them later", "Ctrl+T", "tag-outline")
    CHECKPOINT_FILTER = at.checkpoint("&Filter", "Filter the list", "Ctrl+F", "filter-outline")
    CHECKPOINT_VERIFY = at.checkpoint(
        "&Verify", "Check the files against their checksums", "Ctrl+Y", "check-decagram-outline"
    )
    CHECKPOINT_EXPORT = at.checkpoint(
        "&Export…", "Export these checkpoints to folders that can be shared", "Ctrl+Shift+E", "export"
    )
    CHECKPOINT_IMPORT = at.checkpoint("&Import…", "Import an exported checkpoint", "Ctrl+Shift+I", "import")
    CHECKPOINT_EVALUATE = at.checkpoint(
        "E&valuate on a file…",
        "Run the live session over a candle file from this checkpoint, and store the result with it",
        "Ctrl+J",
        "clipboard-check-outline",
    )
    CHECKPOINT_REPORT = at.checkpoint(
        "Open re&port", "Open the report of this checkpoint's newest evaluation", "Ctrl+Shift+J", "open-in-new"
    )
    CHECKPOINT_CLEAN_UP = at.checkpoint(
        "Clean &up…", "Preview what a clean-up would delete, and why the rest is kept", "Ctrl+Shift+D", "broom"
    )
    CHECKPOINT_RUNS = at.checkpoint("Run&s…", "Show, compare or archive runs", "Ctrl+U", "folder-multiple-outline")
    CHECKPOINT_COLUMNS = at.checkpoint("C&olumns…", "Choose, move and sort columns", "Ctrl+L", "view-column-outline")
    CHECKPOINT_ALL_RUNS = at.checkpoint(
        "&All runs",
        "Show the checkpoints of all runs, not only the watched one",
        "Ctrl+R",
        "format-list-bulleted",
        is_checkable=True,
    )
    EVENT_COPY = at.event("&Copy", "Copy the selected events, with their details, as text", "Ctrl+C", "content-copy")
    LOG_FOLDER = at.event("Open &folder", "Show the folder of the log files", "Ctrl+Shift+L", "folder-open-outline")
    WATCH_OPEN = at.market("&Show on the chart", "Show this market on the chart; its run continues", "Return", "eye")
    WATCH_LEARN = at.market(
        "&Learn from it", "Switch whether the model learns from this market", "Space", "school-outline"
    )
    WATCH_UP = at.market("Move &up", "Move this market up", "Alt+Up", "arrow-up")
    WATCH_DOWN = at.market("Move &down", "Move this market down", "Alt+Down", "arrow-down")
    WATCH_REMOVE = at.market(
        "&Remove", "Remove this market from the list; its run and candles are kept", "Del", "close"
    )
    WATCH_UNDO = at.market("U&ndo", "Undo the last change to the list", "Ctrl+Z", "undo")
    JOB_CANCEL = at.job("&Cancel", "Cancel this job; completed parts are kept", "Del", "cancel")
    JOB_OPEN = at.job("&Open", "Open the job's report, or the market whose candles it stored", "Return", "open-in-new")
    JOB_REPLAY = at.job("&Replay", "Replay the imported file, candle by candle", "Shift+Return", "play-circle-outline")
    JOB_CLEAR = at.job("C&lear", "Remove finished jobs", "Ctrl+L", "playlist-remove")
    OVERVIEW_4 = at.count("2 × 2", "Show up to 4 markets", "2", "view-grid-outline")
    OVERVIEW_9 = at.count("3 × 3", "Show up to 9 markets", "3", "grid")
    OVERVIEW_16 = at.count("4 × 4", "Show up to 16 markets", "4", "dots-grid")
    OVERVIEW_OPEN = at.overview(
        "&Open", "Show the selected market on the large chart", "Return", "eye", is_in_tool_bar=False
    )
    OVERVIEW_ADD = at.overview(
        "&Add a market…", "Show the list of markets, where one is added", "Ctrl+N", "plus", section=1
    )
    OVERVIEW_CLOSE = at.overview(
        "&Back to the chart", "Show the large chart and the panels again", "Esc", "arrow-left", section=1
    )
    SWEEP_NEW = at.sweep("&New sweep…", "Choose files, models and settings to compare", "Ctrl+J", "plus")
    SWEEP_OPEN = at.sweep("&Open…", "Open the folder of another sweep", "Ctrl+L", "folder-open-outline")
    SWEEP_RUN = at.sweep("Con&tinue", "Run the cells that have not ended, as a job", "Ctrl+R", "play", section=1)
    SWEEP_REPORT = at.sweep("&Report", "Open the report of the selected cell", "Return", "open-in-new", section=2)
    SWEEP_PAGE = at.sweep(
        "Report of the &sweep", "Write and open the sweep's report", "Shift+Return", "web", is_in_tool_bar=False
    )
    SWEEP_USE = at.sweep(
        "&Use settings", "Use them for the next run, and say what is not proven", "Ctrl+Return", "check", section=2
    )
    SWEEP_FILTER = at.sweep("&Filter", "Filter the cells", "Ctrl+F", "filter-outline", is_in_tool_bar=False)
    SWEEP_CLOSE = at.sweep("&Back to the chart", "Show the chart and the panels again", "Esc", "arrow-left", section=3)

    @property
    def info(self) -> ActionInfo:
        return self.value

    @property
    def key(self) -> str:
        """The object name of its QAction, in stored layouts too."""
        return self.info.key or self.name.lower()


def menu_actions() -> tuple[ActionId, ...]:
    return tuple(each for each in ActionId if each.info.menu)


def panel_actions(place: str) -> tuple[ActionId, ...]:
    """The actions of one panel that are in no menu. place: its English name."""
    return tuple(each for each in ActionId if each.info.place == place and not each.info.menu)
