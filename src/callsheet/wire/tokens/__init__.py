"""Tokens counted offline, as each provider's models count them."""

from callsheet.wire.tokens.calibration import Calibration, Judgement, judge, learn
from callsheet.wire.tokens.counter import TokenCounter, counter_for, uncalibrated
from callsheet.wire.tokens.engine import EncodingName, count, encode, encoding
from callsheet.wire.tokens.framing import Framing, framing
from callsheet.wire.tokens.pictures import picture_tokens

__all__ = [
    "Calibration",
    "EncodingName",
    "Framing",
    "Judgement",
    "TokenCounter",
    "count",
    "counter_for",
    "encode",
    "encoding",
    "framing",
    "judge",
    "learn",
    "picture_tokens",
    "uncalibrated",
]
