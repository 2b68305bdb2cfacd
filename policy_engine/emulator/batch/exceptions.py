"""Errors that AWS Batch answers with. All but throttling are a ClientException, with status 400."""

from moto.batch.exceptions import ClientException


class AlreadyExistsError(ClientException):
    """A name is taken. AWS's own utilities look for this text."""

    def __init__(self) -> None:
        super().__init__("Object already exists")


class TooManyRequestsError(ClientException):
    """A call came too soon after others. AWS's SDKs know the code, and try again by themselves."""

    TYPE = "TooManyRequestsException"
    STATUS = 429

    def __init__(self) -> None:
        super().__init__("Too Many Requests")


class NotFoundError(ClientException):
    """There is no such thing. AWS's own tests look for `does not exist`."""

    def __init__(self, kind: str, identifier: str) -> None:
        super().__init__(f"{kind} {identifier} does not exist")
