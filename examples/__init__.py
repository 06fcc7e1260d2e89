"""Programs that use Callsheet or feed it, run from the repository's root."""
