"""`python -m mbvi`: the command line."""

from mbvi.cli import main

if __name__ == "__main__":
    main()
