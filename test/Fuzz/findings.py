# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ended a worker, read off what it wrote: the kind, the frames, and whose they are."""

import dataclasses
import os
import re

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

FRAME = re.compile(r"^\s*#(\d+)\s+0x[0-9a-f]+ (?:in )?(.*?)\s*(\(?\.{0,2}/\S+|\S+\.(?:cpp|c|h):\d\S*|)$")
SANITIZER = re.compile(r"ERROR: AddressSanitizer: ([\w-]+)")
UNDEFINED = re.compile(r"^(\S+?):(\d+):\d+: runtime error: (.*)$", re.MULTILINE)
# What reports, and what every stack begins with.
NOISE = re.compile(r"^(__|abort|raise|gsignal|pthread_kill|kill|_start|main$|llvm::sys::|SignalHandler|std::terminate|syscall$|"
                   r"(fp8::fuzz::)?\(anonymous namespace\)::(checkLimits|giveUp)|operator new|operator delete|mem(cpy|move|set)|"
                   r"libc\.so|_nl_load_domain|[\w-]+\.[cS]:|(cfree|free|malloc|_int_free|_int_malloc|unlink_chunk)$|"
                   r"llvm::report_fatal_error|llvm::report_bad_alloc_error|.*(Compiler|Simulator)Target::|fp8::fuzz::)")


def without_arguments(name):
    """A function's name without its parameters and the arguments of templates."""
    name = name.replace("(anonymous namespace)", "{anonymous}").replace("operator()", "operator{}")
    plain, depth = "", 0
    for at, character in enumerate(name):
        if character == "(":
            break
        if character == "<" and not plain.endswith("operator"):
            depth += 1
        elif character == ">" and depth and name[at - 1] != "-":
            depth -= 1
        elif not depth:
            plain += character
    plain = plain if plain.startswith("operator ") else plain.split(" ")[-1]
    return plain.replace("{anonymous}", "(anonymous namespace)").replace("operator{}", "operator()")


@dataclasses.dataclass(frozen=True)
class Frame:
    function: str
    place: str  # file:line, or what the code lies in

    def is_ours(self):
        """A frame of what is fuzzed: neither of LLVM and MLIR, whose templates are in our objects too, nor of the fuzzer."""
        if NOISE.match(self.function):
            return False
        if re.match(r"(mlir::)?fp8::", self.function):
            return True
        if "/test/Fuzz/" in self.place:
            return False
        path = os.path.normpath(self.place.strip("()"))
        if path.startswith(ROOT + "/") and re.search(r":\d+$", path):
            return True
        # Without line tables, what has no namespace of another's is ours.
        return "fp8-fuzz-" in path and not re.match(r"(mlir|llvm|std|__gnu_cxx)::|\S+@plt", self.function) and "(anonymous" in self.function

    def __str__(self):
        place = self.place.strip("()").replace(ROOT + "/", "")
        return f"{self.function} ({os.path.basename(place) if place.startswith('/') else place})"


def frames_of(text):
    """The first stack in the text."""
    frames = []
    for line in text.splitlines():
        match = FRAME.match(line)
        if not match:
            continue
        if frames and int(match.group(1)) == 0:
            break
        # A stripped library says at least where.
        name = without_arguments(match.group(2)) or os.path.basename(match.group(3).strip("()"))
        frames.append(Frame(name, match.group(3)))
    # LLVM's begins in its signal handler.
    if frames and frames[0].function.startswith("llvm::sys::PrintStackTrace"):
        frames = frames[3:]
    return frames


def kind_of(text, status):
    """What happened, in a word or two."""
    for limit in ("hang", "memory", "refused without an error"):
        if f"fp8-fuzz: {limit}" in text:
            return limit
    undefined = UNDEFINED.search(text)
    if undefined:
        return re.sub(r"0x[0-9a-f]+|-?\d+", "N", undefined.group(3).split(";")[0])
    sanitizer = SANITIZER.search(text)
    if sanitizer and sanitizer.group(1) == "requested":
        return "memory"
    if sanitizer and sanitizer.group(1) not in ("ABRT", "SEGV"):
        return sanitizer.group(1)
    for sign, kind in (("Assertion `", "assertion"), ("LLVM ERROR", "fatal error"), ("terminate called", "exception")):
        if sign in text:
            return kind
    return "segmentation fault" if "SEGV" in text or status == -11 else f"end by status {status}"


@dataclasses.dataclass
class Finding:
    kind: str
    frames: list
    text: str
    indices: list = dataclasses.field(default_factory=list)

    @staticmethod
    def read(text, status):
        kind = kind_of(text, status)
        return Finding(kind, [frame for frame in frames_of(text) if not NOISE.match(frame.function)], text)

    def of_ours(self):
        """Our functions in the stack, but not those that started the pass in which it happened, as a nested pipeline does."""
        ours = []
        for frame in self.frames:
            if frame.function.startswith("mlir::detail::OpToOpPassAdaptor::run"):
                break
            if frame.is_ours():
                ours.append(frame.function)
        return ours

    def is_ours(self):
        return self.kind == "refused without an error" or bool(self.of_ours())

    def signature(self):
        """Findings of one signature count as one. Where a hang stops is chance: it is known by where it began."""
        if self.kind == "hang":
            top = self.of_ours()[-2:] or [frame.function for frame in self.frames][-12:-8]
        else:
            # Functions that a library does not export have no name: their offsets would not last.
            named = [frame.function for frame in self.frames if "+0x" not in frame.function]
            top = named[:3]
            top += [name for name in self.of_ours()[:1] if name not in top]
        undefined = UNDEFINED.search(self.text)
        place = [f"{os.path.basename(undefined.group(1))}:{undefined.group(2)}"] if undefined else []
        return " < ".join([self.kind, *place, *(top or ["no stack"])])
