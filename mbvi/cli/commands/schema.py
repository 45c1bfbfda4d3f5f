"""`mbvi schema`."""

from __future__ import annotations

import typer


def schema() -> None:
    """Print the JSON Schema of model files, for editors."""
    from mbvi.model.file import schema_text

    typer.echo(schema_text(), nl=False)
