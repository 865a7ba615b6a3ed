"""How close the kernels of the CUDA device come to the limits of this machine's GPU: each kernel alone, without the
device. The limits are the float32 rate of all lanes at the highest clock, and the rate at which PyTorch copies.

    node msl/cuda/embed.mjs build/kernels.ptx
    node msl/cuda/embed.mjs build/kernels.tensor.ptx
    python3 test/real-gpu/kernels.py build/kernels.ptx build/kernels.tensor.ptx

Without the second file, all kernels are those of the lanes.
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
tensor_text = open(sys.argv[2]).read() if len(sys.argv) > 2 else ""
tensor_module = load(tensor_text) if tensor_text else None


def launch(name, buffers, params, groups, lanes, memory=0):
    function = ctypes.c_void_p()
    place = tensor_module if f".entry {name}(" in tensor_text else module
    require(cuda.cuModuleGetFunction(ctypes.byref(function), place, name.encode()))
    if memory > 49152:
        require(cuda.cuFuncSetAttribute(function, 8, memory))  # the most dynamic shared memory
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


def say(what, work, flops, moved, peer=None, rate=peak):
    ms = time_of(work)
    share = max((flops / rate / 1e9 / ms, "of the multiply-adds"), (moved / bandwidth / 1e6 / ms, "of the memory"))
    beside = "" if peer is None else f"; PyTorch {time_of(peer):.3f} ms"
    print(f"{what}: {ms:.3f} ms, {100 * share[0]:.0f}% {share[1]}{beside}", flush=True)


count = 10**8
work = launch("fill_normal", [filled(count)], words(1, 0, 0, 0, 0, 0, count), -(-count // 2048), 256)
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

for n, rows in [(2, 32 * 10**6), (16, 4 * 10**6), (64, 10**6), (100, 10**6), (1000, 10**4), (1000, 10**5)]:
    factor, mean, x = torch.tril(filled(n, n)) / n + torch.eye(n, device="cuda"), filled(n), filled(rows, n)
    out = torch.empty(rows, n, device="cuda")
    work = launch("solve_tiles", [factor, mean, x, out, out], words(rows, n, 0, 0), -(-rows // tile), 256, tile_bytes)
    by_hand = lambda: torch.linalg.solve_triangular(factor.T, x, upper=True, left=False, out=out)
    if n < 100:
        by_hand = None  # takes seconds for so many rows
    say(f"solve_tiles, {rows} x {n}", work, rows * n * n, 8 * rows * n, by_hand)
    work()
    if not torch.allclose(out[-1].double() @ factor.double().T, x[-1].double(), rtol=1e-3, atol=1e-3):
        raise SystemExit("The solution is wrong.")
    del x, out


def say_factor(n, filled, suffix="", rate=peak):
    half = filled(n, n)
    covariance = half @ half.T / n + torch.eye(n, device="cuda", dtype=half.dtype)
    a, failed = covariance.clone(), torch.full((1,), -1, dtype=torch.int32, device="cuda")
    steps = {"cholesky_below": [], "cholesky_update": []}
    in_order = []
    for first in range(0, n, tile):
        left = -(-(n - first) // tile)
        groups = {"cholesky_update": left * left if first > 0 else 1, "cholesky_below": left - 1}
        for name, launched in groups.items():
            if launched == 0:
                continue
            step = launch(name + suffix, [a, failed], words(n, first), launched, 256, tile_bytes)
            steps[name].append(step)
            in_order.append(step)

    def anew(then):
        a.copy_(covariance)
        failed.fill_(-1)  # cholesky_good; a step does nothing once a pivot was bad
        for step in then:
            step()

    by_torch = lambda: torch.linalg.cholesky_ex(covariance)
    what = f"the factor of {n} x {n}{suffix.replace('_', ', ')}, with a copy"
    say(what, lambda: anew(in_order), n**3 / 3, 2 * half.element_size() * n * n, by_torch, rate)
    if not torch.allclose(torch.tril(a).double(), torch.linalg.cholesky(covariance.double()), rtol=1e-3, atol=1e-3):
        raise SystemExit("The factor is wrong.")
    copied = time_of(lambda: anew([]))
    for name, all_of in steps.items():
        spent = time_of(lambda: anew(all_of)) - copied
        print(f"    {name}{suffix}, {len(all_of)} launches: {spent:.3f} ms of them", flush=True)


for n in [1000, 4096]:
    say_factor(n, filled)

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
    per_group = 256 if 13 <= n <= 32 else 512
    params = words(1, rows, n, 0, 0, per_group)
    name, quads = "densities" if n < 13 else "densities_by_columns", (n + 3) // 4
    memory = 4 * (n * (n + 1) // 2 if n < 13 else 8 * quads * (quads + 1) + n + n * 65)
    work = launch(name, [factor, mean, x, at_mean, out], params, -(-rows // per_group), 64, memory)
    say(f"{name}, {rows} x {n}", work, rows * n * (n + 1), 4 * rows * n)
    del x

# What follows is float64, or sums of float64, on GPUs that have half as many lanes for it.
peak64, double = peak / 2, torch.float64


def filled64(*shape):
    return torch.randn(*shape, device="cuda", dtype=double)


work = launch("fill_normal_float64", [filled64(count)], words(1, 0, 0, 0, 0, 0, count), -(-count // 512), 256)
say("fill_normal_float64, 10^8", work, 0, 8 * count)

for n in [2, 16, 64, 96]:
    rows = 64 * 10**6 // n
    factor, mean, z, out = torch.tril(filled64(n, n)), filled64(n), filled64(rows, n), filled64(rows, n)
    at_once, memory = narrow(n)
    per_group = min(max(rows // (at_once * 132 * 16), 1), 16) * at_once
    params = words(1, 0, 0, 0, 0, 0, rows, n, per_group, 0)
    work = launch("sample_narrow_float64", [factor, mean, out], params, -(-rows // per_group), 128, 2 * memory)

    def by_hand():
        torch.addmm(mean, torch.randn(rows, n, device="cuda", dtype=double), factor.T, out=z)

    say(f"sample_narrow_float64, {rows} x {n}", work, rows * n * (n + 1), 8 * rows * n, by_hand, peak64)
    made = torch.empty_like(out)
    fill = launch("fill_normal_float64", [z], words(1, 0, 0, 0, 0, 0, rows * n), -(-rows * n // 512), 256)
    params = words(rows, n, int(n % 4 == 0), gpu.multi_processor_count)
    tiles = launch("sample_tiles_float64", [factor, mean, z, made], params, -(-rows // tile), tile_lanes, tile_bytes)

    def by_tiles():
        fill()
        tiles()

    say("    the same by fill_normal_float64 and sample_tiles_float64", by_tiles, rows * n * (n + 1), 32 * rows * n, None, peak64)
    work()
    if not torch.equal(made, out):
        raise SystemExit("The bits differ.")
    del z, out, made

for n, rows in [(100, 10**6), (1000, 10**4), (1000, 10**5)]:
    factor = torch.tril(filled64(n, n)) / n + torch.eye(n, device="cuda", dtype=double)
    mean, z = filled64(n), filled64(rows, n)
    out, groups = torch.empty_like(z), -(-rows // tile) * -(-n // tile)
    params = words(rows, n, int(n % 4 == 0), gpu.multi_processor_count)
    work = launch("sample_tiles_float64", [factor, mean, z, out], params, groups, tile_lanes, tile_bytes)
    by_hand = lambda: torch.addmm(mean, z, factor.T, out=out)
    say(f"sample_tiles_float64, {rows} x {n}", work, rows * n * (n + 1), 16 * rows * n, by_hand, peak64)
    work()
    if not torch.allclose(out[-1], mean + z[-1] @ factor.T):
        raise SystemExit("The product is wrong.")
    params = words(rows, n, 0, 0)
    work = launch("solve_tiles_float64", [factor, mean, z, out, out], params, -(-rows // tile), tile_lanes, tile_bytes)
    by_hand = lambda: torch.linalg.solve_triangular(factor.T, z, upper=True, left=False, out=out)
    say(f"solve_tiles_float64, {rows} x {n}", work, rows * n * n, 16 * rows * n, by_hand, peak64)
    work()
    if not torch.allclose(out[-1] @ factor.T, z[-1]):
        raise SystemExit("The solution is wrong.")
    at_mean, densities = filled64(1), torch.empty(rows, device="cuda", dtype=double)
    work = launch("norm_densities_float64", [z, at_mean, densities], words(rows, n), -(-rows // 8), 256, 2048)
    say(f"norm_densities_float64, {rows} x {n}", work, 0, 8 * rows * n)
    del z, out

for n in [1000, 4096]:
    a, b, c = filled64(n, n), filled64(n, n), torch.empty(n, n, device="cuda", dtype=double)
    params = (ctypes.c_uint * 10)(n, n, n, 0, 0, 0)
    ctypes.c_double.from_buffer(params, 24).value = 1
    work = launch("product_tiles_float64", [a, b, c], params, (-(-n // tile)) ** 2, tile_lanes, tile_bytes)
    say(f"product_tiles_float64, {n} x {n}", work, 2 * n**3, 24 * n * n, lambda: torch.mm(a, b, out=c), peak64)

for n in [1000, 4096]:
    say_factor(n, filled64, "_float64", peak64)

for n, rows, models in [(4, 64, 200_000), (16, 64, 50_000), (64, 64, 10_000)]:
    for suffix, fill, size, limit in [("", filled, 4, peak), ("_float64", filled64, 8, peak64)]:
        factors, means, out = torch.tril(fill(models, n, n)), fill(models, n), fill(models, rows, n)
        per_group = min(rows, min(4096 - n * (n + 1) // 2, 2048) // n)
        lanes, memory = min((per_group + 3) // 4 * n, 128), size * (n * (n + 1) // 2 + per_group * n)
        params = words(1, 0, 0, 0, 0, 0, models, rows, n, per_group)
        groups = models * -(-rows // per_group)
        work = launch("sample_batch" + suffix, [factors, means, out], params, groups, lanes, memory)
        numbers, what = models * rows * n, f"sample_batch{suffix}, {models} models of {rows} x {n}"
        say(what, work, numbers * (n + 1), size * (numbers + models * n * n), None, limit)
    del factors, out

for n, rows in [(2, 32 * 10**6), (16, 4 * 10**6), (100, 10**6)]:
    x, centre, products = filled(rows, n), filled64(n), int(n < 256)
    side = next(each for each in [4, 8, 16, 32, 64] if n <= each or each == 64)
    bands = -(-n // side)
    tiles = bands * (bands + 1) // 2
    segments = max(1, min(528 // tiles, rows // (4096 // side)))
    length = tiles * side * side + bands * side
    partial, sums, squares = filled64(segments * length), torch.zeros_like(centre), torch.zeros_like(filled64(n, n))
    params = words(rows, n, products, side, segments)
    work = launch("add_moments", [x, centre, partial], params, tiles * segments, 256, 8 * 5120)
    say(f"add_moments, {rows} x {n}", work, rows * n * (n + 1), 4 * rows * n, rate=peak64)
    added = launch("add_segments", [partial, sums, squares], params, -(-length // 16), 256, 8 * 256)
    say(f"add_segments, {segments} of {length}", added, 0, 8 * segments * length)
    work(), sums.zero_(), squares.zero_(), added()
    if not torch.allclose(sums, (x.double() - centre).sum(0), rtol=1e-6, atol=1e-2 * rows**0.5):
        raise SystemExit("The sums are wrong.")

    # Two brackets, as for a quantile of each column and its neighbour.
    limits = torch.tensor([-0.01, 0.5, 0.01, 0.51], device="cuda").repeat_interleave(n)
    capacity = rows // 64
    kept, counts = torch.empty(2 * n * capacity, device="cuda"), torch.zeros(4 * n, dtype=torch.int32, device="cuda")
    work = launch("count_between", [x, limits, kept, counts], words(rows, n, 2, capacity), 131072 // 256, 256)

    def anew():
        counts.zero_()
        work()

    say(f"count_between, {rows} x {n}, two brackets", anew, 0, 4 * rows * n)
    if counts[0].item() != (x[:, 0] < limits[0]).sum().item():
        raise SystemExit("The counts are wrong.")

    slots, lengths = 2 * n, counts[2 * n :].clamp(max=capacity).contiguous()
    ranks, selected = lengths // 2, torch.empty(slots, device="cuda")
    work = launch("select_ranks", [kept, lengths, ranks, selected], words(slots, capacity), slots, 256, 4 * 256)
    say(f"select_ranks, {slots} slots of {lengths[0].item()}", work, 0, 4 * lengths.sum().item())

    nu = 5.0
    per_group = min(max(4096 // n, rows // 1056, 1), 256)
    params = (ctypes.c_uint * 20)(1, 0, 0, 0, 0, 0, rows, n, rows, rows, per_group, 0)
    d = nu / 2 - 1 / 3
    (ctypes.c_double * 4).from_buffer(params, 48)[:] = [nu, nu / 2, d, 1 / (3 * d**0.5)]
    work = launch("stretch_rows", [x, centre], params, -(-rows // per_group), 256, 8 * per_group)
    say(f"stretch_rows, {rows} x {n}", work, 0, 8 * rows * n)
    del x, kept

# Kernels that only move numbers: a thread for each.
n = 4096
single, wide, row, row64 = filled(n, n), filled64(n, n), filled(n), filled64(n)
found = torch.zeros(1, dtype=torch.int32, device="cuda")
for name, buffers, moved in [
    ("less_mean", [single, row, torch.empty_like(single)], 8),
    ("less_mean_float64", [wide, row64, torch.empty_like(wide)], 16),
    ("less_centre", [single, row64, torch.empty_like(wide)], 12),
    ("less_centre_float64", [wide, row64, torch.empty_like(wide)], 16),
    ("antitransposed", [single, torch.empty_like(single)], 8),
    ("antitransposed_float64", [wide, torch.empty_like(wide)], 16),
    ("transposed_float64", [wide, torch.empty_like(wide)], 16),
    ("widened", [single, torch.empty_like(wide)], 12),
    ("narrowed", [wide, torch.empty_like(single)], 12),
    ("add_lower", [wide, torch.empty_like(wide)], 12),
    ("find_not_finite", [single, found], 4),
    ("find_not_finite_float64", [wide, found], 8),
]:
    groups = 262144 // 256 if name.startswith("find") else n * n // 256
    say(f"{name}, {n} x {n}", launch(name, buffers, words(n, n), groups, 256), 0, moved * n * n)
for name, a in [("finish_lq", single), ("finish_lq_float64", wide)]:
    say(f"{name}, {n} x {n}", launch(name, [a, a], words(n, n, 0), n, 256), 0, a.element_size() * n * n / 2)
