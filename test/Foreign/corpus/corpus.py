# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All kernels, where they come from, and the table of results."""

import importlib.util
import os
import re
import subprocess
import sys

import attention_kernels
import cub
import cuda_idioms
import cuda_samples
import cute_dsl
import cutlass
import cutlass_tutorials
import deepgemm_blackwell
import deepgemm_hopper
import expected
import flashinfer
import marlin
import thunderkittens
import tilelang_kernels
import triton_kernels
import triton_tutorials
from kernels import Program

MODULES = [deepgemm_blackwell, deepgemm_hopper, cutlass, cutlass_tutorials, triton_kernels, triton_tutorials, flashinfer, thunderkittens, tilelang_kernels, marlin, cub, cuda_idioms, cuda_samples, cute_dsl,
           attention_kernels]
KERNELS = [kernel for module in MODULES for kernel in module.KERNELS]
CHECKOUTS = {"DeepGEMM": "DeepGEMM", "CUTLASS": "cutlass", "FlashInfer": "flashinfer", "ThunderKittens": "ThunderKittens",
             "TileLang": "tilelang", "Marlin": "marlin", "FlashAttention": "flash-attention", "FlashMLA": "FlashMLA",
             "CUDA samples": "cuda-samples", "CuTe DSL": "cutlass"}
# Projects whose compiler is a package: its name, and the Python that has it.
PACKAGES = {"Triton": ("triton", lambda settings: settings.triton_python), "TileLang": ("tilelang", lambda settings: settings.dsl_python),
            "CuTe DSL": ("nvidia_cutlass_dsl", lambda settings: settings.dsl_python)}


def available(settings, project):
    if project in CHECKOUTS and not (settings.checkouts and os.path.isdir(settings.checkout(CHECKOUTS[project]))):
        return False
    if project not in PACKAGES:
        return True
    name, python_of = PACKAGES[project]
    if python_of(settings) == sys.executable:
        return importlib.util.find_spec(name) is not None
    return os.access(python_of(settings), os.X_OK)


def version(settings, project):
    """The package's version and a checkout's commit; else that of CUDA's toolkit."""
    commands = []
    if project in PACKAGES:
        name, python_of = PACKAGES[project]
        commands.append([python_of(settings), "-c", f"import importlib.metadata; print(importlib.metadata.version('{name}'))"])
    if project in CHECKOUTS:
        commands.append(["git", "-C", settings.checkout(CHECKOUTS[project]), "rev-parse", "--short=7", "HEAD"])
    if not commands:
        told = subprocess.run([settings.nvcc, "--version"], capture_output=True, text=True, check=False).stdout
        return "of CUDA " + (re.findall(r"release ([\d.]+)", told) or ["unknown"])[0]
    found = [subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown" for command in commands]
    return " ".join(found)


def counted(counter, link=""):
    return ", ".join(f"{link.format(name) if link else name}{f' x{count}' if count > 1 else ''}" for name, count in sorted(counter.items()))


def figures(kernel, result, needs, surprise):
    return {"kernel": kernel.name, "project": kernel.project, "chip": kernel.chip, "needs": needs, "verdict": result.verdict(),
            "as_expected": not surprise, "errors": dict(result.errors), "warnings": dict(result.warnings), "frobenius": result.error,
            "warp_instructions": result.instructions, "seconds": round(result.seconds, 2), "first_error": result.first}


def table(settings, rows):
    """Markdown: a section for each project."""
    text = ""
    for project in dict.fromkeys(kernel.project for kernel, *_ in rows):
        text += f"\n### {project} {version(settings, project)}\n\n"
        text += "| kernel | chip | what it needs | verdict | relative error | warnings | warp instructions | s |\n|---|---|---|---|---|---|---|---|\n"
        for kernel, result, needs, _ in (row for row in rows if row[0].project == project):
            judged = "by its own check" if isinstance(kernel, Program) and not result.problem else ""
            error = f"{result.error:.2g}" if result.error is not None else judged
            verdict = result.verdict() + (" ([a find](#finds))" if kernel.name in expected.FINDS and result.errors else "")
            text += (f"| `{kernel.name}` | {kernel.chip} | {', '.join(needs)} | {verdict} | {error} | "
                     f"{counted(result.warnings, '[{0}](../Warnings.md#{0})')} | {result.instructions} | {result.seconds:.1f} |\n")
    return text
