"""The window's bench, as the desktop's tests have it; coroutine tests run on virtual time."""

from tests.desktop.conftest import clock as clock
from tests.desktop.conftest import make_bench as make_bench
from tests.support.virtual_network import pytest_pyfunc_call as pytest_pyfunc_call
