"""Examples may take any time: the first one of a run builds the SDKs' type validators."""

from hypothesis import settings

settings.register_profile("wire", deadline=None)
settings.load_profile("wire")
