# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Binds a launch manifest (docs/manifest.schema.json) to sizes, those of a GEMM or of arrays, and writes the launch as SentryWard's kernel
input (docs/input-json.md of its source package)."""

import math
import operator
import re

# What SentryWard may take for granted; all five are named, so that a change of its defaults changes no verdict.
ASSUMPTIONS = {
    "representative_election": True,  # `elect.sync` chooses one lane, which is the same for every analysis
    "clc_always_fails": True,  # no request for another tile is granted
    "duplicate_tma_store_benign": False,
    "representative_branches": False,
    "bounded_computation_loops": False,
}

OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "min": min, "max": max,
    "floordiv": operator.floordiv, "ceildiv": lambda a, b: -(-a // b), "rem": lambda a, b: int(math.fmod(a, b)),
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "and": operator.and_, "or": operator.or_,
}
BYTES = {"f8E4M3FN": 1, "f8E5M2": 1, "bf16": 2, "f16": 2, "f32": 4, "i32": 4}
ELEMENTS = {"f8E4M3FN": "u8", "f8E5M2": "u8", "bf16": "bf16", "f16": "f16", "f32": "f32", "i32": "s32"}
COMMON = ("beta", "bias", "d_scale")  # a batch has one of each
PADDED = ("a_scale", "b_scale_row", "bias")  # rows begin at multiples of 16 bytes, which TMA asks for
ONE = 0x3F800000  # 1.0 in f32


def matrices(sizes, b_block):
    """The extents of each operand of a GEMM, as fp8-run names them."""
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    blocks = -(-k // 128)
    columns = (blocks, n)
    return {"a": (m, k), "b": (n, k), "c": (m, n), "d": (m, n), "bias": (1, n), "beta": (1, 1), "d_scale": (1, 1),
            "a_scale": (blocks, m), "b_scale_row": columns, "b_scale": columns if b_block == 1 else (-(-n // b_block), blocks)}


def shapes_of(manifest, sizes):
    """The extents of each argument of the kernel."""
    if "problem" not in manifest:
        return {argument["name"]: [sizes[argument["name"]] if extent is None else extent for extent in argument["shape"]]
                for argument in manifest["arguments"]}
    extents, shapes = matrices(sizes, manifest.get("problem_options", {}).get("b_block", 128)), {}
    for argument in manifest["arguments"]:
        name = argument["name"]
        is_batched = len(argument["shape"]) == 3 and name not in COMMON
        shapes[name] = (sizes["batch"], *extents[name]) if is_batched else extents[name]
    return shapes


SIZES = {("a", 0): "m", ("b", 0): "n", ("a", 1): "k"}  # of a GEMM


def solve(manifest, expression, value):
    """The size, and a value of it, for which an expression of the manifest has this value; none if it is no quotient of a size."""
    (name, operands), = expression.items() if isinstance(expression, dict) else [("", [])]
    if name == "dim":
        size = SIZES.get(tuple(operands)) if "problem" in manifest else operands[0]
        return size and (size, value)
    if name == "ceildiv" and isinstance(operands[1], int):
        size, quotient = solve(manifest, operands[0], value) or (None, 0)
        return size and (size, quotient * operands[1])
    return None


def first_parameters(manifest):
    """The numbers of the parameters that the arguments of the kernel begin with."""
    ranks = {argument["name"]: len(argument["shape"]) for argument in manifest["arguments"]}
    number = 0
    while number < len(manifest["parameters"]):
        yield number
        parameter = manifest["parameters"][number]
        # A memref is two pointers, an offset, extents and strides.
        number += 3 + 2 * ranks[parameter["argument"]] if parameter["kind"] == "pointer" else 1


def sizes_of(manifest, arguments):
    """The sizes for which arguments of the kernel have the values that a refutation gives them ("argument 2"), and how many CTAs it names;
    none if one of the arguments is no size."""
    first, sizes, ctas = list(first_parameters(manifest)), {}, None
    for name, value in arguments.items():
        argument = re.fullmatch(r"argument (\d+)", name)
        if argument:
            parameter = manifest["parameters"][first[int(argument[1])]]
            size = solve(manifest, parameter.get("value"), value)
            if not size:
                return None
            sizes[size[0]] = size[1]
        elif name == "CTAs of the grid along x":
            ctas = value
        elif "'s number" not in name:
            return None
    return sizes, ctas


class Binding:
    """The numbers of one launch. `sizes` has m, n, k, and batch for a kernel that takes one; of a kernel that is no GEMM, the extents of arrays
    by name."""

    def __init__(self, manifest, sizes, multiprocessors):
        self.manifest, self.multiprocessors = manifest, multiprocessors
        self.shapes, self.strides = shapes_of(manifest, sizes), {}
        padded = PADDED if manifest.get("problem_options", {}).get("b_block", 128) > 1 else (*PADDED, "b_scale")
        for argument in manifest["arguments"]:
            name = argument["name"]
            self.strides[name] = self.lay_out(argument, self.shapes[name], name in padded)
        for constraint in manifest["constraints"]:
            if not self.number(constraint["condition"]):
                raise ValueError(f"{manifest['kernel']} cannot be launched: {constraint['rule']}")

    @staticmethod
    def lay_out(argument, shape, padded):
        """The strides that the manifest fixes; where it leaves them open, rows lie one after another, as fp8-run lays them out."""
        step = 16 // BYTES[argument["dtype"]] if padded else 1
        packed = [1, -(-shape[-1] // step) * step]
        packed = packed[:len(shape)] + [packed[1] * extent for extent in shape[-2:-1]] * (len(shape) - 2)
        return [stride if fixed is None else fixed for fixed, stride in zip(argument["strides"], reversed(packed))]

    def number(self, expression):
        if isinstance(expression, int):
            return expression
        (name, operands), = expression.items()
        if name in ("dim", "stride"):
            return (self.shapes if name == "dim" else self.strides)[operands[0]][operands[1]]
        if name == "device":
            return self.multiprocessors
        if name == "select":
            return self.number(operands[1] if self.number(operands[0]) else operands[2])
        return int(OPERATORS[name](*map(self.number, operands)))

    def grid(self):
        return [self.number(extent) for extent in self.manifest["launch"]["grid"]]

    def tensor_map(self, index, parameter):
        return {"parameter": index, "object": parameter["argument"], "element_type": ELEMENTS[parameter["dtype"]],
                "global_shape": [self.number(extent) for extent in parameter["dims"]],
                "global_strides_bytes": [self.number(stride) for stride in parameter["strides_bytes"]],
                "box_shape": parameter["box"], "element_strides": parameter["element_strides"],
                "swizzle": parameter["swizzle"], "interleave": parameter["interleave"], "oob_fill": parameter["oob_fill"]}

    def kernel_input(self):
        launch = self.manifest["launch"]
        written = {"schema": "spverify.kernel-input/v1", "entry": self.manifest["kernel"], "assumptions": ASSUMPTIONS,
                   "launch": {"grid_dim": self.grid(), "block_dim": launch["block"], "dynamic_shared_bytes": launch["shared_memory_bytes"]},
                   "declarations": [], "arguments": [], "tma_descriptors": [], "shape_arrays": []}
        if launch["cluster"] != [1, 1, 1]:
            written["launch"]["cluster_dim"] = launch["cluster"]
        for index, parameter in enumerate(self.manifest["parameters"]):
            kind = parameter["kind"]
            if kind == "scalar":
                bits = int(parameter["type"][1:])
                written["arguments"].append({"parameter": index, "type": f"u{bits}", "value": self.number(parameter["value"]) % 2**bits})
            elif parameter["argument"] == "beta":  # the kernel branches on its value
                written["shape_arrays"].append({"parameter": index, "element_type": "u32", "shapes": [[ONE]]})
            else:
                space = {} if kind == "tensor_map" else {"space": "global"}
                written["declarations"].append({"parameter": index, "type": kind, "object": parameter["argument"], **space})
            if kind == "tensor_map":
                written["tma_descriptors"].append(self.tensor_map(index, parameter))
        return written
