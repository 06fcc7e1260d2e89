"""Engines that come from optional libraries, each behind a protocol of `callsheet.graph.ports`."""
