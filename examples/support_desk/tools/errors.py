"""What a tool says when it cannot do its work. The toolbox turns these, and only these, into failed results."""


class ToolError(Exception):
    """A tool could not do what it was asked; the text is meant for the model that asked."""


class InvalidArguments(ToolError):
    """The arguments do not fit the tool's schema, or contradict each other."""


class NotFound(ToolError):
    """What the arguments name does not exist."""


class Refused(ToolError):
    """The shop's own rules forbid it as things stand."""


class CarrierUnavailable(ToolError):
    """A carrier's interface gave no answer. Nothing was changed; try again later."""


class GatewayTimeout(ToolError):
    """The payment gateway gave no answer in time. It may have acted all the same."""
