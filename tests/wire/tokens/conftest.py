"""Examples may take any time: the first one of a run loads an encoding."""

from hypothesis import settings

settings.register_profile("any time", deadline=None)
settings.load_profile("any time")
