"""Coroutine tests run on virtual time over an in-memory network."""

from tests.support.virtual_network import pytest_pyfunc_call as pytest_pyfunc_call
