"""A page that shows a run while it goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from types import TracebackType

from mbvi.errors import ModelError
from mbvi.live.server import Server
from mbvi.live.sources import FileSource, SimulatorSource, Source
from mbvi.model.arguments import checked_names, checked_number, checked_path
from mbvi.model.expressions import show, wrong
from mbvi.simulator import Simulator


def follow(
    run: Simulator | str | os.PathLike[str], *, speed: float | None = None, trails: Sequence[str] | None = None
) -> Follower:
    """Serve a page that shows a run while it goes on, to browsers on this machine that know its address.

    A browser never slows or ends the run: one that is slow misses frames.

    Parameters
    ----------
    run : Simulator, str or path
        A simulator, or a trajectory file that a run of another process writes.
    speed : float, optional
        Simulated seconds per second by which the simulator is advanced here, in a thread, from when the page is first opened;
        the page then has sliders for inputs of actuators and for parameters. Without it your own loop advances the simulator.
    trails : sequence of str, optional
        Points whose way is shown, as of `animate`.

    Returns
    -------
    Follower
        Its `address` is that of the page. `close` it, or use it in a `with` statement.

    Raises
    ------
    ModelError
        If there are no bodies to show, the file cannot be read, or an argument cannot be used.

    Examples
    --------
    >>> import mbvi
    >>> simulator = mbvi.Simulator(mbvi.load("models/double_pendulum.yaml"), step=0.01)
    >>> with follow(simulator) as page:
    ...     print(page.address.partition(":")[0])
    ...     simulator.run(1.0)
    http
    """
    if trails is not None:
        trails = checked_names(trails, "trails", "a list of names of bodies and of points of bodies")
    if isinstance(run, Simulator):
        if speed is not None:
            speed = checked_number(speed, "speed", "a number greater than 0", above=0.0)
        return Follower(SimulatorSource(run, speed, trails))
    if speed is not None:
        remedy = "leave it out"
        raise ModelError(f"speed: {wrong('none of a file, whose run has its own', show(speed), remedy)}")
    return Follower(FileSource(checked_path(run, "run"), trails))


class Follower:
    """A page that shows a run, until it is closed.

    Attributes
    ----------
    address : str
        The address of the page, with its token.
    """

    def __init__(self, source: Source) -> None:
        self._source, self._server = source, Server(source)
        self.address = self._server.address

    def __repr__(self) -> str:
        """Its address."""
        return f"<Follower at {self.address}>"

    @property
    def simulator(self) -> Simulator | None:
        """The simulator that is shown; another one after a slider has changed a parameter. None of a file."""
        return getattr(self._source, "simulator", None)

    def wait(self) -> None:
        """Wait until someone interrupts."""
        try:
            while True:
                time.sleep(1.0)
        except KeyboardInterrupt:
            pass

    def close(self) -> None:
        """End the page."""
        self._server.close()
        self._source.close()

    def __enter__(self) -> Follower:
        """The page."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the page."""
        self.close()
