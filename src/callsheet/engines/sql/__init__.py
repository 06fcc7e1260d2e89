"""SQL over tables, by DuckDB in a process of its own. The process imports this folder alone, so nothing is here."""
