# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on cupy's arrays, where there is cupy: they are PyTorch's memory, and judged there."""

import importlib.util

from package_report import must_raise, operands, report
from fp8.testing import assert_close


def check_cupy(torch, fp8, generator):
    if not importlib.util.find_spec("cupy"):
        print("SKIP: package-cupy (there is no cupy)", flush=True)
        return
    import cupy

    a, sa, b, sb = operands(torch, 200, 328, 512, generator)
    c, bias = torch.randn(200, 328, device="cuda", generator=generator), torch.randn(328, device="cuda", generator=generator)
    torch.cuda.synchronize()
    arrays = [cupy.asarray(x) for x in (a.view(torch.uint8), sa, b.view(torch.uint8), sb)]
    with report.test("package-cupy"):
        for options in ({}, {"c": c, "bias": bias, "beta": 0.5}):
            for dtype in ("float32", "float16"):
                d = fp8.gemm(*arrays, d_dtype=dtype, **{name: cupy.asarray(x) if hasattr(x, "device") else x for name, x in options.items()})
                if type(d) is not cupy.ndarray or d.dtype != dtype:
                    raise AssertionError("D is a %s of %s" % (type(d), d.dtype))
                cupy.cuda.get_current_stream().synchronize()
                assert_close(torch.from_dlpack(d), a, sa, b, sb, **options)
        must_raise(TypeError, "cupy has no bfloat16", lambda: fp8.gemm(*arrays))
    with report.test("package-cupy-bits"):
        bits = cupy.full((200, 328), 0xFFFF, cupy.uint16)
        fp8.gemm(*arrays, d=bits, d_dtype="bfloat16")
        cupy.cuda.get_current_stream().synchronize()
        assert_close(torch.from_dlpack(bits.view(cupy.int16)).view(torch.bfloat16), a, sa, b, sb)
    with report.test("package-cupy-copies"):
        out = cupy.full((200, 331), cupy.nan, cupy.float32)
        turned = cupy.asfortranarray(arrays[0])
        if fp8.gemm(turned, arrays[1].T, *arrays[2:], d=out[:, 2:330]).base is not out:
            raise AssertionError("d is not what is returned")
        cupy.cuda.get_current_stream().synchronize()
        assert_close(torch.from_dlpack(cupy.ascontiguousarray(out[:, 2:330])), a, sa, b, sb)
        if not (cupy.isnan(out[:, :2]).all() and cupy.isnan(out[:, 330:]).all()):
            raise AssertionError("beside out was written")
    with report.test("package-cupy-streams"):
        stream, want = cupy.cuda.Stream(non_blocking=True), fp8.gemm(*arrays, d_dtype="float32")
        slow = cupy.ones((8192, 8192), cupy.float32)
        cupy.cuda.Device().synchronize()
        for given in (False, True):
            late = cupy.zeros_like(arrays[0])
            cupy.cuda.Device().synchronize()
            with stream:
                for _ in range(4):
                    slow @ slow
                late[...] = arrays[0]
                if not given:
                    d = fp8.gemm(cupy.asfortranarray(late), *arrays[1:], d_dtype="float32")
            if given:
                d = fp8.gemm(late, *arrays[1:], d_dtype="float32", stream=stream.ptr)
            stream.synchronize()
            if not bool((d == want).all()):
                raise AssertionError("the stream is not honoured")


CHECKS = (check_cupy,)
