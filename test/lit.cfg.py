# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The suite of the files under test/ that have RUN lines.
#
# Features a test can require:
#   compiler  fp8-opt was built (-DFP8_ENABLE_COMPILER=ON)
#   plugin    it was linked to MLIR's shared library (-DFP8_LINK_MLIR_DYLIB=ON), and so was the plugin of mlir-opt
#   mlir-runner  MLIR's JIT compiler and the library of its printing functions are there
#   ptxas     NVIDIA's assembler was found, where fp8-opt looks for it
#   nvcc      NVIDIA's compiler was found likewise
#   nvdisasm  NVIDIA's disassembler was found likewise
#   gpu       there is a CUDA driver with a device; gpu-sm_90a etc.: it runs code for that chip
#   fp8-simulate  it was built: there are the headers of CUDA 13, and zstd
#   torch     python3 has PyTorch
#   pytest-torch, pytest-ml_dtypes, pytest-ipykernel  so has the Python that runs the package's tests, or ml_dtypes, or IPython's kernel
#   numpy     there is a Python with pytest and NumPy
#   foreign   FP8_FOREIGN names a folder with checkouts of other projects (docs/evidence/ForeignKernels.md)
#   sphinx    what builds the site was installed (./dev site, ./dev check)
#   wheel     the Python package was built (./dev wheel)
#   sentryward-0.1.1  a Python has this version of the verifier that judges kernels (docs/evidence/Judge.md)
#   full      FP8_TEST_FULL=1 (./dev check --full): every point of every matrix
# Substitutions: the tools by name; %python; %pytest, the first Python that has it and NumPy, which is %numpy_python; %foreign; %judge, the one that has SentryWard; %fp8_source, %fp8_build; %ptxas, %nvcc, %nvdisasm; %fp8_fakecuda and
# %fp8_oldcuda, the drivers without a GPU of test/Runtime; %mlir_c_runner_utils, what programs print with, in %mlir_lib.

import glob
import json
import os
import shutil
import subprocess

import lit.formats

config.name = "fp8"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.fp8_source_dir, "test")
config.test_exec_root = os.path.join(config.fp8_binary_dir, "test")

if config.has_compiler:
    config.available_features.add("compiler")
else:
    config.excludes += config.compiler_tests
    lit_config.note("built without the compiler: leaving out test/{%s} and every "
                    "test that requires 'compiler'" % ",".join(config.compiler_tests))
if config.has_plugin:
    config.available_features.add("plugin")


def find_cuda_tool(name, variable):
    """Searches as fp8-opt does; '' when there is none."""
    named = os.environ.get(variable)
    if named:
        return named if os.access(named, os.X_OK) else ""
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [os.path.join(root, "bin") for root in roots if root]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(places)) or ""


for tool, variable in (("ptxas", "FP8_PTXAS"), ("nvcc", "FP8_NVCC"), ("nvdisasm", "FP8_NVDISASM")):
    path = find_cuda_tool(tool, variable)
    if path:
        config.available_features.add(tool)
    config.substitutions.append(("%" + tool, path or tool + "-not-found"))


def find_gpu():
    """What fp8-run says about the first GPU; None without one."""
    try:
        result = subprocess.run([os.path.join(config.fp8_binary_dir, "bin", "fp8-run"), "--list-devices"],
                                capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return json.loads(result.stdout.splitlines()[0]) if result.returncode == 0 else None


gpu = find_gpu()
if gpu:
    config.available_features.add("gpu")
    config.available_features.update("gpu-" + chip for chip in gpu["runs"])


def has_module(name, python=shutil.which("python3")):
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('%s') is None)" % name
    return subprocess.run([python, "-c", code], check=False).returncode == 0


if os.path.exists(os.path.join(config.fp8_binary_dir, "bin", "fp8-simulate")):
    config.available_features.add("fp8-simulate")
if has_module("torch"):
    config.available_features.add("torch")

# FP8_PYTHON, the Python on PATH, or the system's: Debian's packages are for the latter.
pythons = [os.environ.get("FP8_PYTHON"), shutil.which("python3"), "/usr/bin/python3"]
pytest = next((p for p in pythons if p and os.access(p, os.X_OK) and has_module("pytest", p) and has_module("numpy", p)), None)
if pytest:
    config.available_features.add("numpy")
foreign = os.environ.get("FP8_FOREIGN", "")
if os.path.isdir(foreign):
    config.available_features.add("foreign")
for module in ("torch", "ml_dtypes", "ipykernel"):
    if pytest and has_module(module, pytest):
        config.available_features.add("pytest-" + module)



def has_sentryward(python, version="0.1.1"):
    code = "import importlib.metadata, sys; sys.exit(importlib.metadata.version('sentryward') != '%s')" % version
    return os.access(python, os.X_OK) and not subprocess.run([python, "-c", code], check=False, stderr=subprocess.DEVNULL).returncode


judges = [python for python in pythons if python] + [os.path.join(config.fp8_binary_dir, "judge", "bin", "python")]
judge = next(filter(has_sentryward, judges), None)
if judge:
    config.available_features.add("sentryward-0.1.1")

wheels = glob.glob(os.path.join(config.fp8_binary_dir, "python", "*.whl"))
if wheels:
    config.available_features.add("wheel")

sphinx = os.path.join(config.fp8_binary_dir, "site", "venv", "bin", "python")
if os.path.exists(sphinx) and has_module("furo", sphinx) and shutil.which("dot"):
    config.available_features.add("sphinx")

if os.environ.get("FP8_TEST_FULL") == "1":
    config.available_features.add("full")
for variable in ("FP8_PTXAS", "FP8_TEST_FULL", "CUDA_HOME", "CUDA_PATH", "FP8_CUDA_LIBRARY", "FP8_TRITON_PYTHON", "HOME", "CCACHE_BASEDIR", "CCACHE_SLOPPINESS", "CCACHE_DIR"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

config.substitutions += [
    ("%pytest", (pytest or "python-with-pytest-and-numpy-not-found") + " -m pytest -q -p no:cacheprovider"),
    ("%numpy_python", pytest or "python-with-pytest-and-numpy-not-found"),
    ("%foreign", foreign),
    ("%judge", judge or "python-with-sentryward-not-found"),
    ("%fp8_wheel", wheels[0] if wheels else "no-wheel"),
    ("%sphinx_python", sphinx),
    ("%python", shutil.which("python3")),
    ("%fp8_source", config.fp8_source_dir),
    ("%fp8_build", config.fp8_binary_dir),
    ("%fp8_fakecuda", os.path.join(config.fp8_binary_dir, "lib", "libfp8fakecuda.so")),
    ("%fp8_oldcuda", os.path.join(config.fp8_binary_dir, "lib", "libfp8oldcuda.so")),
]

mlir_lib = os.path.join(os.path.dirname(config.llvm_tools_dir), "lib")
runner_utils = os.path.join(mlir_lib, "libmlir_c_runner_utils.so")
if os.path.exists(runner_utils) and os.path.exists(os.path.join(config.llvm_tools_dir, "mlir-runner")):
    config.available_features.add("mlir-runner")
config.substitutions += [("%mlir_lib", mlir_lib), ("%mlir_c_runner_utils", runner_utils)]


def add_tools(directory, names):
    """Runs tools by their full path: the first one on PATH may be another's."""
    for name in names:
        config.substitutions.append(
            (r"(?<![\w/.%-])" + name + r"(?![\w/.-])", os.path.join(directory, name)))


add_tools(os.path.join(config.fp8_binary_dir, "bin"), ["fp8-opt", "fp8-test-opt", "fp8-run", "fp8-lsp-server", "fp8-reduce",
                                                      "fp8-check-proof", "fp8-check-ptx", "fp8-simulate",
                                                      "fp8-fuzz-simulator", "fp8-fuzz-compiler"])
add_tools(config.llvm_tools_dir,
          ["FileCheck", "count", "llc", "not", "split-file", "mlir-opt", "mlir-runner", "mlir-translate"])
