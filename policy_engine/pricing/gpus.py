"""How many GPUs an instance has.

botocore names the instance types and says nothing of their GPUs, so this is a table. As of 2026-11-30, from EC2's
DescribeInstanceTypes (GpuInfo) as moto 5.2.5 has recorded it, for the type without `ml.`; P2 and P3, which that record
has no more, and P6e from "Accelerated computing" in the Amazon EC2 instance types guide. Trainium is no GPU.
"""

from collections.abc import Iterator

_COUNTS = {
    "g4dn": {1: "xlarge 2xlarge 4xlarge 8xlarge 16xlarge", 4: "12xlarge"},
    "g5": {1: "xlarge 2xlarge 4xlarge 8xlarge 16xlarge", 4: "12xlarge 24xlarge", 8: "48xlarge"},
    "g6": {1: "xlarge 2xlarge 4xlarge 8xlarge 16xlarge", 4: "12xlarge 24xlarge", 8: "48xlarge"},
    "g6e": {1: "xlarge 2xlarge 4xlarge 8xlarge 16xlarge", 4: "12xlarge 24xlarge", 8: "48xlarge"},
    "g7": {1: "2xlarge 4xlarge 8xlarge", 2: "12xlarge", 4: "24xlarge", 8: "48xlarge"},
    "g7e": {1: "2xlarge 4xlarge 8xlarge", 2: "12xlarge", 4: "24xlarge", 8: "48xlarge"},
    "p2": {1: "xlarge", 8: "8xlarge", 16: "16xlarge"},
    "p3": {1: "2xlarge", 4: "8xlarge", 8: "16xlarge"},
    "p3dn": {8: "24xlarge"},
    "p4d": {8: "24xlarge"},
    "p4de": {8: "24xlarge"},
    "p5": {1: "4xlarge", 8: "48xlarge"},
    "p5e": {8: "48xlarge"},
    "p5en": {8: "48xlarge"},
    "p6-b200": {8: "48xlarge"},
    "p6-b300": {8: "48xlarge"},
    "p6e-gb200": {4: "36xlarge"},
}
"""By family: the sizes with so many GPUs."""
_FAMILIES_WITH_GPUS = ("ml.g", "ml.p")


def gpu_count(instance_type: str) -> int | None:
    """GPUs of a SageMaker instance type. None: it has some, and the table does not know how many."""
    known = _BY_TYPE.get(instance_type)
    if known is not None:
        return known
    return None if instance_type.startswith(_FAMILIES_WITH_GPUS) else 0


def _by_type() -> Iterator[tuple[str, int]]:
    for family, counts in _COUNTS.items():
        for count, sizes in counts.items():
            yield from ((f"ml.{family}.{size}", count) for size in sizes.split())


_BY_TYPE = dict(_by_type())
