"""The exceptions of the engine, one class for each code."""

from __future__ import annotations

Remedy = tuple[str, "str | None"]


class RepertoireError(Exception):
    """An error of the engine. Its text is the message and, on a second line, the help."""

    #: The code, for programs, such as ``NOT_FOUND``.
    code: str
    #: The message, for people.
    message: str
    #: The advice on what to do, fit for a model; may be empty.
    help: str
    #: The remedy for the user, if there is one: a kind such as ``trust``, and its object.
    remedy: Remedy | None

    def __init__(
        self, code: str, message: str, help: str = "", remedy: Remedy | None = None
    ) -> None:
        super().__init__(code, message, help, remedy)
        self.code = code
        self.message = message
        self.help = help
        self.remedy = remedy

    def to_dict(self) -> dict[str, object]:
        """Return the fields as a dictionary of plain values that can be written as JSON."""
        remedy = list(self.remedy) if self.remedy else None
        return {
            "code": self.code,
            "message": self.message,
            "help": self.help,
            "remedy": remedy,
        }

    def __str__(self) -> str:
        line = f"{self.message} ({self.code})"
        return f"{line}\nhelp: {self.help}" if self.help else line


class InvalidParamError(RepertoireError, ValueError):
    """An argument or an option is invalid (``INVALID_PARAM``)."""


class NotFoundError(RepertoireError, LookupError):
    """There is no such skill, file or tool for this caller (``NOT_FOUND``)."""


class PermissionDeniedError(RepertoireError):
    """The operating system or a policy forbids the operation (``PERMISSION_DENIED``)."""


class ConsentRequiredError(RepertoireError):
    """The user has not agreed to the operation (``CONSENT_REQUIRED``)."""


class TimedOutError(RepertoireError):
    """The operation exceeded its time limit (``TIMEOUT``)."""


class ExecutionError(RepertoireError):
    """The operation was valid and allowed, but failed (``EXECUTION_ERROR``)."""


class CallbackError(ExecutionError):
    """A callback of the host raised an exception; ``__cause__`` holds that exception."""


class InternalError(RepertoireError):
    """A bug in the engine (``INTERNAL_ERROR``)."""
