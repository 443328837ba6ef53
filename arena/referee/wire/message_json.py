"""Messages of the contract as JSON, for programs that read what commands and pages show."""

from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message


def message_json(message: Message) -> dict[str, Any]:
    """Return a message as JSON, with the names of its fields in `proto/`, including unset ones."""
    values: dict[str, Any] = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return values
