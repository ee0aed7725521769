# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text of the probes: PTX kernels of ours that read clocks, with their launch manifests.

A probe writes one word for each sample. The samples of a series follow one another, and so do the series.
`steps` that a series times are repeated in straight code, so that a chain of N differs from a chain of one by
the steps alone.
"""

import json

SAMPLES = 24
HOPPER = "sm_90a"
# What every probe declares; %out is where the timing thread writes its next sample.
REGISTERS = """  .reg .pred %p<10>;
  .reg .b32 %r<64>, %th, %warp, %i, %t0, %t1, %phase, %base;
  .reg .b64 %d<40>, %out, %in, %u0, %u1;
  .reg .f32 %f<8>;
"""


# The oldest PTX ISA that has the chip, and what the probes use of it: an old driver may have to compile it.
VERSIONS = {HOPPER: "8.3", "sm_100a": "8.8", "sm_103a": "8.8"}


class Names:
    """Labels that are used once."""

    def __init__(self):
        self.count = 0

    def __call__(self, name):
        self.count += 1
        return "%s_%d" % (name, self.count)


class Probe:
    """A kernel and how it is launched.

    `series`: the names of what it measures. `words`: 32-bit words that it writes, or 64-bit ones if `wide`.
    `inputs`: bytes of a buffer that it reads, or None.
    """

    def __init__(self, name, chip, body, series, **options):
        self.name, self.chip, self.body, self.series = name, chip, body, list(series)
        self.threads = options.pop("threads", 128)
        self.grid, self.cluster = options.pop("grid", 1), options.pop("cluster", 1)
        self.shared = options.pop("shared", 0)
        self.samples = options.pop("samples", SAMPLES)
        self.inputs = options.pop("inputs", None)
        self.wide = options.pop("wide", False)
        self.maps = options.pop("maps", [])
        self.registers = options.pop("registers", "")
        self.directives = options.pop("directives", "")
        assert not options, options

    @property
    def words(self):
        return len(self.series) * self.samples

    def text(self):
        parameters = [".param .u64 out"] + ([".param .u64 in"] if self.inputs else [])
        parameters += [".param .align 128 .b8 map%d[128]" % index for index in range(len(self.maps))]
        loads = "  ld.param.u64 %out, [out];\n  cvta.to.global.u64 %out, %out;\n"
        if self.inputs:
            loads += "  ld.param.u64 %in, [in];\n  cvta.to.global.u64 %in, %in;\n"
        return "".join([
            "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n",
            ".version %s\n.target %s\n.address_size 64\n" % (VERSIONS[self.chip], self.chip),
            ".extern .shared .align 1024 .b8 s[];\n",
            ".visible .entry probe(%s)\n.reqntid %d, 1, 1\n%s{\n" % (", ".join(parameters), self.threads, self.directives),
            REGISTERS, self.registers, loads,
            "  mov.u32 %th, %tid.x;\n  shr.u32 %warp, %th, 5;\n  mov.u32 %base, s;\n  mov.u32 %phase, 0;\n",
            self.body, "  ret;\n}\n"])

    def manifest(self, inputs=None):
        """`inputs`: bytes of the buffer, instead of the probe's own, to simulate with."""
        size = inputs or self.inputs
        dtype = "i64" if self.wide else "i32"
        arguments = [{"name": "out", "dtype": dtype, "shape": [self.words], "strides": [1], "access": "write"}]
        parameters = [{"kind": "pointer", "argument": "out"}]
        if size:
            arguments.append({"name": "in", "dtype": "i32", "shape": [size // 4], "strides": [1], "access": "read"})
            parameters.append({"kind": "pointer", "argument": "in"})
        for rows, columns in self.maps:
            parameters.append({
                "kind": "tensor_map", "argument": "in", "dtype": "i8", "dims": [columns, size // columns],
                "strides_bytes": [columns], "box": [columns, rows], "element_strides": [1, 1], "swizzle": "128B",
                "interleave": "none", "l2_promotion": "none", "oob_fill": "zero"})
        return {"version": 1, "producer": "benchmark/b200", "chip": self.chip, "kernel": "probe", "arguments": arguments,
                "constraints": [], "parameters": parameters,
                "launch": {"grid": [self.grid, 1, 1], "block": [self.threads, 1, 1], "cluster": [self.cluster, 1, 1],
                           "shared_memory_bytes": self.shared, "non_portable_cluster": False}}

    def write(self, base):
        with open(base + ".ptx", "w", encoding="utf-8") as file:
            file.write(self.text())
        with open(base + ".json", "w", encoding="utf-8") as file:
            json.dump(self.manifest(), file, indent=1)


def lines(*texts):
    """Instructions, one a line."""
    return "".join("  %s;\n" % text for text in texts)


def wait(name, barrier, scope="", phase="%phase"):
    """Waits for the phase, and goes on to the next."""
    label = name("WAIT")
    return ("%s:\n" % label) + lines("mbarrier.try_wait.parity%s.shared::cta.b64 %%p9, [%s], %s" % (scope, barrier, phase),
                                     "@!%%p9 bra %s" % label, "xor.b32 %s, %s, 1" % (phase, phase))


def sampled(name, timed, before="", after="", samples=SAMPLES, writer=None):
    """Runs `timed` so many times, the cycles of each to %out, by the thread of which the predicate `writer` holds."""
    store = "%sst.global.u32 [%%out], %%t1" % ("@%s " % writer if writer else "")
    label = name("SAMPLE")
    return "".join([lines("mov.u32 %i, 0"), label + ":\n", before, lines("mov.u32 %t0, %clock"), timed,
                    lines("mov.u32 %t1, %clock", "sub.u32 %t1, %t1, %t0", store, "add.s64 %out, %out, 4"),
                    after, lines("add.u32 %i, %i, 1", "setp.lt.u32 %%p8, %%i, %d" % samples, "@%%p8 bra %s" % label)])


def only(name, predicate, body):
    """`body` for threads where the predicate holds."""
    label = name("OTHERS")
    return lines("@!%s bra %s" % (predicate, label)) + body + label + ":\n"


def fill(name, begin, count, threads):
    """Words of shared memory with bits of a hash. No byte of them is an infinity or NaN of any type of 8 bits or more, for bit 3 is clear."""
    label = name("FILL")
    return lines("shl.b32 %r0, %th, 2") + label + ":\n" + lines(
        "mul.lo.u32 %r1, %r0, 0x9e3779b1", "shr.u32 %r2, %r1, 15", "xor.b32 %r1, %r1, %r2", "mul.lo.u32 %r1, %r1, 0x85ebca77",
        "and.b32 %r1, %r1, 0xf7f7f7f7", "add.u32 %%r3, %%r0, %d" % begin, "add.u32 %r3, %r3, %base", "st.shared.b32 [%r3], %r1",
        "add.u32 %%r0, %%r0, %d" % (4 * threads), "setp.lt.u32 %%p0, %%r0, %d" % count, "@%%p0 bra %s" % label)


def cluster_barrier():
    return lines("barrier.cluster.arrive.release.aligned", "barrier.cluster.wait.acquire.aligned")
