"""How close the kernels of the CUDA device come to the limits of this machine's GPU: each kernel alone, without the
device. The limits are the float32 rate of all lanes at the highest clock, and the rate at which PyTorch copies.

    node msl/cuda/embed.mjs build/kernels.ptx
    python3 test/real-gpu/kernels.py build/kernels.ptx
"""

import ctypes
import sys

import torch

cuda = ctypes.CDLL("libcuda.so.1")
gpu = torch.cuda.get_device_properties(0)
torch.zeros(1, device="cuda")  # makes the context


def require(result):
    if result != 0:
        raise SystemExit(f"The driver says {result}.")


def rates():
    kilohertz = ctypes.c_int()
    require(cuda.cuDeviceGetAttribute(ctypes.byref(kilohertz), 13, 0))  # the highest clock
    a, b = (torch.empty(1 << 28, device="cuda") for _ in range(2))
    copied = 8 * a.numel() / time_of(lambda: b.copy_(a)) / 1e6
    return gpu.multi_processor_count * 128 * 2 * kilohertz.value / 1e9, copied


def time_of(work):
    """Milliseconds of the GPU, the median of nine rounds."""
    work()
    times = []
    for _ in range(9):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(5):
            work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 5)
    return sorted(times)[4]


def load(text):
    module = ctypes.c_void_p()
    require(cuda.cuModuleLoadData(ctypes.byref(module), text.encode() + b"\0"))
    return module


module = load(open(sys.argv[1]).read())


def launch(name, buffers, params, groups, lanes, memory=0):
    function = ctypes.c_void_p()
    require(cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
    values = [ctypes.c_void_p(buffer.data_ptr()) for buffer in buffers] + [params]
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def start():
        require(cuda.cuLaunchKernel(function, groups, 1, 1, lanes, 1, 1, memory, stream, pointers, None))

    start.holds = values, buffers  # pointers are to them
    return start


def words(*values):
    return (ctypes.c_uint * len(values))(*values)


def filled(*shape):
    return torch.randn(*shape, device="cuda")


tile, tile_lanes, tile_bytes = 128, 256, 2 * 8 * 16 * 132
peak, bandwidth = rates()
print(f"{gpu.name}: {peak:.1f} TFLOP/s in float32, {bandwidth / 1e3:.2f} TB/s copied; PyTorch {torch.__version__}")


def say(what, work, flops, moved, peer=None):
    ms = time_of(work)
    share = max((flops / peak / 1e9 / ms, "of the multiply-adds"), (moved / bandwidth / 1e6 / ms, "of the memory"))
    beside = "" if peer is None else f"; PyTorch {time_of(peer):.3f} ms"
    print(f"{what}: {ms:.3f} ms, {100 * share[0]:.0f}% {share[1]}{beside}", flush=True)


count = 10**8
work = launch("fill_normal", [filled(count)], words(1, 0, 0, 0, 0, 0, count), -(-count // 1024), 256)
say("fill_normal, 10^8", work, 0, 4 * count)

for n, rows in [(100, 10**6), (256, 10**5), (1000, 10**4), (1000, 10**5), (4000, 1000), (4000, 10**4)]:
    factor, mean, z = torch.tril(filled(n, n)), filled(n), filled(rows, n)
    out, turned = torch.empty(rows, n, device="cuda"), factor.T
    params = words(rows, n, int(n % 4 == 0), gpu.multi_processor_count)
    groups = -(-rows // tile) * -(-n // tile)
    work = launch("sample_tiles", [factor, mean, z, out], params, groups, tile_lanes, tile_bytes)
    by_hand = lambda: torch.addmm(mean, z, turned, out=out)
    say(f"sample_tiles, {rows} x {n}", work, rows * n * (n + 1), 8 * rows * n, by_hand)
    work()
    agrees = torch.allclose(out[-1], (mean.double() + z[-1].double() @ factor.double().T).float(), rtol=1e-3, atol=1e-3)
    if not agrees:
        raise SystemExit("The product is wrong.")
    del z, out

def halves(n):
    return (n + 7) // 8


def narrow(n):
    """Rows of sample_narrow's group at once, and the bytes of its memory (msl/params.h)."""
    quads, rows = (n + 3) // 4, 4 * (128 // halves(n))
    return rows, 4 * (8 * quads * (quads + 1) + rows * 4 * (quads | 1))


for n in [2, 16, 64, 96, 100, 112]:
    rows = 64 * 10**6 // n
    factor, mean, out = torch.tril(filled(n, n)), filled(n), torch.empty(rows, n, device="cuda")
    at_once, memory = narrow(n)
    per_group = min(max(rows // (at_once * 132 * 16), 1), 16) * at_once
    params = words(1, 0, 0, 0, 0, 0, rows, n, per_group, 0)
    work = launch("sample_narrow", [factor, mean, out], params, -(-rows // per_group), 128, memory)

    def by_hand():
        torch.addmm(mean, torch.randn(rows, n, device="cuda"), factor.T, out=out)

    say(f"sample_narrow, {rows} x {n}", work, rows * n * (n + 1), 4 * rows * n, by_hand)
    del out

for n, rows in [(100, 10**6), (1000, 10**4), (1000, 10**5)]:
    factor, mean, x = torch.tril(filled(n, n)) / n + torch.eye(n, device="cuda"), filled(n), filled(rows, n)
    out = torch.empty(rows, n, device="cuda")
    work = launch("solve_tiles", [factor, mean, x, out, out], words(rows, n, 0, 0), -(-rows // tile), 256, tile_bytes)
    by_hand = lambda: torch.linalg.solve_triangular(factor.T, x, upper=True, left=False, out=out)
    say(f"solve_tiles, {rows} x {n}", work, rows * n * n, 8 * rows * n, by_hand)
    work()
    if not torch.allclose(out[-1].double() @ factor.double().T, x[-1].double(), rtol=1e-3, atol=1e-3):
        raise SystemExit("The solution is wrong.")
    del x, out

for n in [1000, 4096]:
    half = filled(n, n)
    covariance = half @ half.T / n + torch.eye(n, device="cuda")
    a, failed = covariance.clone(), torch.full((1,), -1, dtype=torch.int32, device="cuda")
    steps = {"cholesky_below": [], "cholesky_update": []}
    in_order = []
    for first in range(0, n, tile):
        left = -(-(n - first) // tile)
        groups = {"cholesky_update": left * left if first > 0 else 1, "cholesky_below": left - 1}
        for name, count in groups.items():
            if count == 0:
                continue
            step = launch(name, [a, failed], words(n, first), count, 256, tile_bytes)
            steps[name].append(step)
            in_order.append(step)

    def anew(then):
        a.copy_(covariance)
        failed.fill_(-1)  # cholesky_good; a step does nothing once a pivot was bad
        for step in then:
            step()

    by_torch = lambda: torch.linalg.cholesky_ex(covariance)
    say(f"the factor of {n} x {n}, with a copy", lambda: anew(in_order), n**3 / 3, 8 * n * n, by_torch)
    if not torch.allclose(torch.tril(a).double(), torch.linalg.cholesky(covariance.double()), rtol=1e-3, atol=1e-3):
        raise SystemExit("The factor is wrong.")
    copied = time_of(lambda: anew([]))
    for name, all_of in steps.items():
        spent = time_of(lambda: anew(all_of)) - copied
        print(f"    {name}, {len(all_of)} launches: {spent:.3f} ms of them", flush=True)

for n in [1000, 4096]:
    a, b, c = filled(n, n), filled(n, n), torch.empty(n, n, device="cuda")
    params = (ctypes.c_uint * 8)(n, n, n, 0, 0, 0)
    ctypes.c_float.from_buffer(params, 24).value = 1
    work = launch("product_tiles", [a, b, c], params, (-(-n // tile)) ** 2, tile_lanes, tile_bytes)
    say(f"product_tiles, {n} x {n}", work, 2 * n**3, 12 * n * n, lambda: torch.mm(a, b, out=c))

for n, rows in [(1000, 10**5)]:
    x, at_mean, out = filled(rows, n), filled(1), torch.empty(rows, device="cuda")
    work = launch("norm_densities", [x, at_mean, out], words(rows, n), -(-rows // 8), 256, 1024)
    say(f"norm_densities, {rows} x {n}", work, 0, 4 * rows * n)
    del x

for n in [2, 16, 64]:
    rows = 64 * 10**6 // n
    factor, mean, x = torch.tril(filled(n, n)) / n + torch.eye(n, device="cuda"), filled(n), filled(rows, n)
    at_mean, out = filled(1), torch.empty(rows, device="cuda")
    params = words(1, rows, n, 0, 0)
    name, quads = "densities" if n < 16 else "densities_by_columns", (n + 3) // 4
    memory = 4 * (n * (n + 1) // 2 + n * 64 if n < 16 else 8 * quads * (quads + 1) + n + n * 65)
    work = launch(name, [factor, mean, x, at_mean, out], params, -(-rows // 512), 64, memory)
    say(f"{name}, {rows} x {n}", work, rows * n * (n + 1), 4 * rows * n)
    del x
