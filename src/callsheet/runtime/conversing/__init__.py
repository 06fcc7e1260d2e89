"""The face of a conversation by subject: one class each for what it can do, all over one view."""
