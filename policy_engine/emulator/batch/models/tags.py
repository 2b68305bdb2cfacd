"""Tags of quota management's resources, which must exist."""

from moto.batch.exceptions import ClientException

from policy_engine.emulator.batch.models.snapshots import SnapshotBackend
from policy_engine.topology.service_limits import MAX_TAGS


class TagBackend(SnapshotBackend):
    """TagResource, UntagResource and ListTagsForResource."""

    def check_taggable(self, arn: str) -> None:
        """Raises NotFoundError for a resource of quota management that does not exist."""
        kind = arn.rpartition(":")[2]
        if kind.startswith("service-environment/"):
            self.get_service_environment(arn)
        elif "/quota-share/" in kind:
            self.get_quota_share(arn)
        elif kind.startswith("service-job/"):
            self.get_service_job(arn)
        elif kind.startswith("job-queue/") and self.get_job_queue(arn) is None:
            self.get_training_queue(arn)
        elif kind.startswith("scheduling-policy/"):
            self.get_scheduling_policy(arn)

    def add_tags(self, arn: str, tags: dict[str, str]) -> None:
        """Add tags to what exists."""
        self.check_taggable(arn)
        if len(self.list_tags_for_resource(arn) | tags) > MAX_TAGS:
            raise ClientException(f"a resource has at most {MAX_TAGS} tags")
        self.tag_resource(arn, tags)
