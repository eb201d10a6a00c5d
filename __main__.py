"""``python -m circlet``: the command line."""

from .runtime.cli import main

if __name__ == "__main__":
    main()
