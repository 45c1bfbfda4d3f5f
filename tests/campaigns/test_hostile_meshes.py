"""A sample of the campaign: the files that lie, and a few mutations of every format."""

import pytest

from . import campaign, hostile_meshes


def test_files_that_lie_and_mutated_ones():
    result = campaign.run(hostile_meshes.trial, range(120))
    assert result.wrong == {}
    assert result.ends["refused"] > result.ends["accepted"] > 5


@pytest.mark.parametrize("index", range(len(hostile_meshes.FORMATS) * len(hostile_meshes.SOLIDS)))
def test_whole_files_are_accepted(index):
    assert hostile_meshes.outcome(*hostile_meshes.original(index)) == "accepted"


def test_what_lies_is_refused():
    """But for an honest tree of some thousand nodes."""
    accepted = [name for name, content in hostile_meshes.LYING if hostile_meshes.outcome(name, content) == "accepted"]
    assert accepted == ["nested.glb"]
