"""The instance types that SageMaker trains on, or plans cover, as botocore's model of the SageMaker API lists them.

Read from botocore's data file without importing botocore or parsing megabytes of JSON: `batch-quota validate` needs
these lists alone and has to stay quick.
"""

import gzip
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_SERVICE_MODEL = "service-2.json.gz"


@cache
def training_instance_types() -> tuple[str, ...]:
    """Values of the SageMaker API's `TrainingInstanceType`, in the model's order.

    Raises RuntimeError if botocore is not installed, or its data has another form.
    """
    return _enumeration("TrainingInstanceType")


@cache
def training_plan_instance_types() -> tuple[str, ...]:
    """Values of the SageMaker API's `ReservedCapacityInstanceType`: what training plans reserve.

    Raises RuntimeError if botocore is not installed, or its data has another form.
    """
    return _enumeration("ReservedCapacityInstanceType")


def _enumeration(shape_name: str) -> tuple[str, ...]:
    model = gzip.decompress(_service_model().read_bytes())
    name = f'"{shape_name}":{{'.encode()
    start = model.find(name)
    if start < 0:
        raise RuntimeError(f"botocore's SageMaker model has no {shape_name}; reinstall botocore")
    shape, _ = json.JSONDecoder().raw_decode(model[start + len(name) - 1 : model.index(b"}", start) + 1].decode())
    return tuple(shape["enum"])


def _service_model() -> Path:
    spec = find_spec("botocore")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("botocore is not installed; it knows the instance types of SageMaker Training")
    folder = Path(spec.submodule_search_locations[0], "data", "sagemaker")
    versions = sorted(folder.glob(f"*/{_SERVICE_MODEL}"))
    if not versions:
        raise RuntimeError(f"botocore has no model of SageMaker in {folder}; reinstall botocore")
    return versions[-1]
