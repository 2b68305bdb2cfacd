"""Whole numbers, and instances of each type."""

from typing import Annotated

from pydantic import Field, Strict, WithJsonSchema

WholeNumber = Annotated[int, Strict(), Field(ge=-(2**31), lt=2**31)]
"""Whole numbers as AWS's API takes them: 32 bits. Which of them make sense is for the rules to say."""
Instances = Annotated[WholeNumber, WithJsonSchema({"type": "integer", "minimum": 1})]
Capacity = dict[str, Instances]
"""Whole instances of each SageMaker instance type."""
