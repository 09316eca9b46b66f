"""Coroutine tests run on virtual time."""

from tests.support.virtual_network import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]
