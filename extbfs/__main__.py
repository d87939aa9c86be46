"""`python -m extbfs` is the command `extbfs`."""

from extbfs.cli import run

if __name__ == "__main__":
    run()
