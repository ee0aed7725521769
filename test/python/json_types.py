# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether values of JSON are of the types of `fp8._reports`."""

import types
import typing


def conforms(hint, value):
    """Whether a value of JSON is of a type of `fp8._reports`."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if typing.is_typeddict(hint):
        hints = typing.get_type_hints(hint)
        return hint.__required_keys__ <= set(value) <= set(hints) and all(conforms(hints[key], inner) for key, inner in value.items())
    if origin is list:
        return isinstance(value, list) and all(conforms(parts[0], inner) for inner in value)
    if origin is dict:
        return isinstance(value, dict) and all(conforms(parts[1], inner) for inner in value.values())
    if origin in (typing.Union, types.UnionType):
        return any(conforms(part, value) for part in parts)
    return value in parts if origin is typing.Literal else isinstance(value, origin or hint)
