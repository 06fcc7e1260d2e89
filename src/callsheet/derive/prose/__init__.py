"""Content that is read line by line or as text: logs, traces, differences, code, pages, search results, prose."""
