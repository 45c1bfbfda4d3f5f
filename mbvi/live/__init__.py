"""Pages that follow a run while it goes on, by a server on this machine."""

from mbvi.live.follower import Follower, follow

__all__ = ["Follower", "follow"]
