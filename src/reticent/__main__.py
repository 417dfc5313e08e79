"""`python -m reticent` is the command line."""

from reticent.cli.main import run

if __name__ == "__main__":
    run()
