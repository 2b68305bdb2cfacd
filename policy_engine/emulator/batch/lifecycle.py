"""The status of a resource whose changes take a while."""

from policy_engine.emulator.settings import Settings


class Lifecycle:
    """CREATING, then VALID; UPDATING, then VALID; DELETING, then gone: each change takes `Settings.settling`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._change = "CREATING"
        self.settled_at = settings.clock.now() + settings.settling

    def update(self) -> None:
        """A change begins."""
        self._begin("UPDATING")

    def delete(self) -> None:
        """The deletion begins."""
        self._begin("DELETING")

    def settle(self) -> None:
        """The change is over now."""
        self.settled_at = self._settings.clock.now()

    @property
    def status(self) -> str:
        """The status as the API shows it."""
        return self._change if self._change == "DELETING" or not self._settled else "VALID"

    @property
    def gone(self) -> bool:
        """Whether the deletion is over."""
        return self._change == "DELETING" and self._settled

    @property
    def _settled(self) -> bool:
        return self._settings.clock.now() >= self.settled_at

    def _begin(self, change: str) -> None:
        # What is still being created stays so until it is there: an update does not make it usable.
        if change == "DELETING" or self.status != "CREATING":
            self._change = change
            self.settled_at = self._settings.clock.now() + self._settings.settling
