"""`mbvi run --event` and `--until`."""

from typer.testing import CliRunner

import mbvi
from mbvi.cli.application import app


def run(*words):
    result = CliRunner().invoke(app, ["run", *map(str, words)])
    return result.exit_code, result.output


def test_a_run_that_ends_at_an_expression(models, tmp_path):
    """The report lists what happened, and the file has it; an end that does not come is reported, and so are wrong names."""
    out = tmp_path / "swing.h5"
    words = [models / "pendulum.yaml", "--step", "0.05", "--out", out, "--event", "low = q('pivot')", "--until"]
    code, text = run(*words, "q('pivot') + 1")
    assert code == 0, text
    assert (
        "events        low 1 time: t = 0.6885" in text and "until 1 time: t = 0.884" in text and "ended the run" in text
    )
    stored = mbvi.read(out)
    assert stored.end == "until" and abs(stored.q[-1, 0] + 1) < 1e-14 and len(stored.events["low"]) == 1
    code, text = run(*words, "q('pivot') - 3", "--force", "--duration", "1")
    assert code == 3 and "until: the event did not come until t = 1 s" in text and str(out) in text
    assert run(*words, "q('pivt')", "--force")[1].startswith("until: q('pivt'): expected a joint, found 'pivt'")
    code, text = run(models / "pendulum.yaml", "--event", "low")
    assert code == 2 and text.startswith(
        "--event: expected NAME=EXPRESSION, each name once, found 'low'; write for example"
    )


def test_a_resumed_run_looks_for_them_again(models, tmp_path):
    out = tmp_path / "swing.h5"
    looked_for = ["--event", "low = q('pivot')"]
    assert run(models / "pendulum.yaml", "--step", "0.05", "--duration", "1", "--out", out, *looked_for)[0] == 0
    code, text = run("--resume", out, "--duration", "3", *looked_for)
    assert code == 0 and "low 2 times, from t = 0.6885" in text, text
    code, text = run("--resume", out, "--duration", "4")
    assert code == 2 and "events: expected low, found none" in text
