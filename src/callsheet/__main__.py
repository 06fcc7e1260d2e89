"""``python -m callsheet``: the command line."""

import sys

from callsheet.cli import main

if __name__ == "__main__":
    sys.exit(main())
