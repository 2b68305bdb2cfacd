"""Change sets that are not there, as AWS answers about them and the CDK CLI expects it."""

from moto.cloudformation.exceptions import CloudFormationError
from moto.cloudformation.models import ChangeSet, CloudFormationBackend

_describe = CloudFormationBackend.describe_change_set
_delete = CloudFormationBackend.delete_change_set


class ChangeSetNotFoundError(CloudFormationError):
    """ChangeSetNotFoundException of the API."""

    code = "ChangeSetNotFound"

    def __init__(self, name: str) -> None:
        super().__init__(f"ChangeSet [{name}] does not exist")


def describe_change_set(self: CloudFormationBackend, change_set_name: str) -> ChangeSet | None:
    """DescribeChangeSet. Raises ChangeSetNotFoundError."""
    if not _is_there(self, change_set_name):
        raise ChangeSetNotFoundError(change_set_name)
    return _describe(self, change_set_name)


def delete_change_set(self: CloudFormationBackend, change_set_name: str) -> None:
    """DeleteChangeSet: one that is not there is deleted already."""
    if _is_there(self, change_set_name):
        _delete(self, change_set_name)


def _is_there(backend: CloudFormationBackend, name: str) -> bool:
    names = {change_set.change_set_name for change_set in backend.change_sets.values()}
    return name in backend.change_sets or name in names
