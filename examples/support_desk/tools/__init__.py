"""The desk's tools: real functions over the shop's database, files and log. Know nothing of conversations."""
