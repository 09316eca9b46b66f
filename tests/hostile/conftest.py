"""The window's bench, as the desktop's tests have it."""

from tests.desktop.conftest import clock as clock
from tests.desktop.conftest import make_bench as make_bench
