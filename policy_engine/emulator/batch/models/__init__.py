"""moto's Batch backend with quota management. Each module adds the operations of one kind of resource."""

from policy_engine.emulator.batch.models.announcements import AnnouncingBackend
from policy_engine.emulator.batch.models.base import Resource
from policy_engine.emulator.settings import Settings


class QuotaManagementBackend(AnnouncingBackend):
    """All operations."""

    def idle_from(self) -> int:
        """When nothing more happens by itself: the jobs that can run have ended, and what changed is settled."""
        queues = self.training_queues()
        shares = self.present(self._quota_shares)
        changing: list[Resource] = [*self.present(self._service_environments), *queues, *shares]
        settled = [resource.lifecycle.settled_at for resource in changing]
        return max([0, *settled, *(queue.history.whole_schedule().ended_at + 1 for queue in queues)])


def backend_with(settings: Settings) -> type[QuotaManagementBackend]:
    """The backend with these settings. It belongs to this module, beside which moto looks for its URLs."""

    class ConfiguredBackend(QuotaManagementBackend):
        emulation = settings

    return ConfiguredBackend
