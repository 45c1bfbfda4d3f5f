"""`mbvi schemes`."""

from __future__ import annotations

import typer


def schemes() -> None:
    """List the schemes with their order and source."""
    from mbvi.cli.tables_of import scheme_table

    typer.echo(scheme_table())
