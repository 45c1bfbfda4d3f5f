"""What `python -m tests.benchmarks` runs; the processes of ensembles read this file too, and need nothing of it."""

if __name__ == "__main__":
    from tests.benchmarks.command import main

    main()
