"""Faults in models, in challengers of any kind, and in the processes of some of them."""

from __future__ import annotations

from tests.sabotage.fault import Fault

FAULTS = (
    Fault(
        "model-failure-without-its-line",
        "models/contract.py",
        'if str(frame.f_globals.get("__name__")).startswith(_FILE_MODULE)',
        'if str(frame.f_globals.get("__name__")) == _FILE_MODULE',
    ),
    Fault(
        "dead-forecaster-comes-back-too-soon",
        "core/training/external/model.py",
        "        return self.left_out < 0",
        "        return self.left_out <= 0",
    ),
    Fault(
        "deaths-of-a-forecaster-never-forgiven",
        "core/training/external/model.py",
        "        if self._answered >= RECOVERED_AFTER:\n            self._deaths = 0\n",
        "",
    ),
    Fault(
        "range-of-a-process-without-logarithm",
        "core/training/external/protocol.py",
        "table = np.log(np.maximum(table, SMALLEST_RANGE))",
        "table = np.maximum(table, SMALLEST_RANGE)",
    ),
    Fault(
        "any-protocol-is-accepted",
        "core/training/external/protocol.py",
        'if message.get("protocol") != PROTOCOL:',
        'if "protocol" not in message:',
    ),
    Fault(
        "forecast-of-a-process-not-scaled",
        "core/training/hosting/challengers.py",
        "(natural - of.offset[:, quantity, None]) / of.factor[:, quantity, None]",
        "natural - of.offset[:, quantity, None]",
    ),
    Fault(
        "one-slow-answer-is-a-hang",
        "core/training/external/model.py",
        "len(self._silent_closes) >= _MOST_SILENT_CLOSES and silent_s >= _LONGEST_SILENCE_S",
        "len(self._silent_closes) >= _MOST_SILENT_CLOSES or silent_s >= _LONGEST_SILENCE_S",
    ),
    Fault(
        "deadline-begins-with-the-waiting",
        "core/training/external/model.py",
        "max(asked_s + wait_s - self._clock.monotonic_s(), 0.0)",
        "max(wait_s, 0.0)",
    ),
    Fault(
        "children-of-a-forecaster-live-on",
        "core/training/external/transport.py",
        "        self._signal(_KILL)\n        self._lifetime.release()",
        "        self._lifetime.release()",
    ),
    Fault(
        "live-candle-waits-unhurried",
        "core/training/external/model.py",
        "(wanted.deadline_ms if is_live else max(wanted.deadline_ms, wanted.unhurried_ms))",
        "max(wanted.deadline_ms, wanted.unhurried_ms)",
    ),
    Fault(
        "missing-forecast-without-incident",
        "core/training/external/model.py",
        "            self._incidents.append(_missing(self.name, happened))\n",
        "",
    ),
    Fault(
        "history-with-the-future",
        "core/training/hosting/challengers.py",
        "candles.columns_before(markets[market], before_ms, HISTORY_CANDLES)",
        "candles.columns_before(markets[market], 2**62, HISTORY_CANDLES)",
    ),
    Fault(
        "challengers-infinite-forecast-is-sound",
        "core/training/online/guarded_challenger.py",
        "if not np.isfinite(quantiles).all():",
        "if np.isnan(quantiles).any():",
    ),
    Fault(
        "failing-challenger-known-as-good",
        "core/training/online/guarded_challenger.py",
        "if done and step % self._remember_every == 0 and not any(self._in_a_row.values()):",
        "if step % self._remember_every == 0:",
    ),
    Fault(
        "suspended-challenger-forgotten-by-a-checkpoint",
        "core/training/online/guarded_challenger.py",
        'self.is_suspended = bool(scalars["is_suspended"])',
        "self.is_suspended = False",
    ),
    Fault(
        "challenger-learns-poisoned-samples",
        "core/training/online/guarded_challenger.py",
        "        if non_finite_parts(batch, anchors):\n            return\n",
        "",
    ),
    Fault(
        "challengers-not-resumed",
        "core/training/online/session.py",
        "            challenger.resume()",
        "            pass",
    ),
    Fault(
        "dropout-of-a-challenger-from-the-common-generator",
        "core/training/online/challenger.py",
        "        with self._own_randomness(_STEP, step):\n            result = self._engine.step(batch, anchors)",
        "        result = self._engine.step(batch, anchors)",
    ),
    Fault(
        "weights-of-another-architecture-restored",
        "core/training/online/challenger.py",
        "if shapes != {name: tensor.shape for name, tensor in self._engine.model.state_dict().items()}:",
        "if shapes.keys() != self._engine.model.state_dict().keys():",
    ),
    Fault(
        "model-may-read-later-samples-of-its-batch",
        "models/checks.py",
        "    changed[1:] = 3.0",
        "    changed[:0] = 3.0",
    ),
    Fault(
        "padding-not-checked",
        "models/checks.py",
        "torch.where(is_real[..., None], features, torch.full_like(features, 1e3))",
        "torch.where(is_real[..., None], features, features)",
    ),
    Fault(
        "model-may-change-its-inputs",
        "models/contract.py",
        "    if not (torch.equal(given[0], features) and torch.equal(given[1], is_real)):",
        "    if given is None:",
    ),
    Fault(
        "former-bytecode-of-a-model-is-run",
        "models/contract.py",
        "    def get_code(self, fullname: str) -> CodeType:",
        "    def get_code_again(self, fullname: str) -> CodeType:",
    ),
    Fault(
        "models-non-finite-answer-is-accepted",
        "models/contract.py",
        "    if not bool(torch.isfinite(made).all()):",
        "    if bool(torch.isnan(made).all()):",
    ),
    Fault(
        "convolution-reads-padding",
        "models/tcn.py",
        "own = (self.norm(states) * is_real).transpose(1, 2)",
        "own = self.norm(states).transpose(1, 2)",
    ),
    Fault(
        "gru-misses-the-newest-candle",
        "models/gru.py",
        "real[:, 0] - 1]",
        "real[:, 0] - 2]",
    ),
    Fault(
        "linear-map-reads-padding",
        "models/nlinear.py",
        "(features - newest[:, None]).masked_fill(~is_real[..., None], 0.0)",
        "features - newest[:, None]",
    ),
)
