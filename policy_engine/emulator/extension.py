"""Puts our Batch backend in the place of moto's, for as long as it is wanted."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from moto.core.base_backend import BackendDict
from moto.iam.responses import IamResponse

from policy_engine.emulator.batch.models import QuotaManagementBackend, backend_with
from policy_engine.emulator.cloudformation.extension import stack_resources
from policy_engine.emulator.permissions import simulate_principal_policy as simulated
from policy_engine.emulator.settings import Settings

_WHERE_MOTO_HAS_THEM = ("moto.batch", "moto.batch.models", "moto.batch.responses", "moto.batch_simple.models")

Backends = BackendDict[QuotaManagementBackend]


def announce(backends: Backends) -> None:
    """Let AWS Batch tell EventBridge and SageMaker what has happened up to now."""
    for regions in list(backends.values()):
        for backend in list(regions.values()):
            backend.announce()


@contextmanager
def quota_management(settings: Settings) -> Iterator[Backends]:
    """In this block `batch` of moto has quota management, in `mock_aws` and in moto's server alike; so do stacks."""
    backends: Backends = BackendDict(backend_with(settings), "batch")
    with ExitStack() as replaced:
        for module in _WHERE_MOTO_HAS_THEM:
            replaced.enter_context(patch(f"{module}.batch_backends", backends))
        replaced.enter_context(stack_resources())
        replaced.enter_context(patch.object(IamResponse, simulated.__name__, simulated, create=True))
        yield backends
