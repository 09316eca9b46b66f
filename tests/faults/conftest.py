from tests.core.training.conftest import no_restart_pause

__all__ = ["no_restart_pause"]
