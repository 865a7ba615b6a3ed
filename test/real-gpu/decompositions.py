# Times of NVIDIA's decompositions beside the CPU's, by PyTorch: python3 test/real-gpu/decompositions.py
#
# Milliseconds from the host and back to it, the best of three; gesvda computes by A' A, which loses small singular
# values.
import time

import torch


def best(run):
    times = []
    for _ in range(4):
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return f"{min(times[1:]):9.1f}"


def svd(a, driver):
    return [part.cpu() for part in torch.linalg.svd(a.cuda(), full_matrices=False, driver=driver)]


print(torch.cuda.get_device_name(0), torch.__version__, torch.get_num_threads(), "threads")
print("dtype rows columns | qr: GPU CPU | solve: GPU CPU | svd: gesvdj gesvd gesvda CPU")
for dtype in (torch.float32, torch.float64):
    for m, n in ((256, 256), (500, 500), (1000, 1000), (2000, 2000), (10000, 100)):
        a = torch.randn(m, n, dtype=dtype)
        row = [best(lambda: [part.cpu() for part in torch.linalg.qr(a.cuda())]), best(lambda: torch.linalg.qr(a))]
        if m == n:
            right = torch.ones(n, 10, dtype=dtype)
            row.append(best(lambda: torch.linalg.solve(a.cuda(), right.cuda()).cpu()))
            row.append(best(lambda: torch.linalg.solve(a, right)))
        row += [best(lambda: svd(a, driver)) for driver in ("gesvdj", "gesvd", "gesvda")]
        row.append(best(lambda: torch.linalg.svd(a, full_matrices=False)))
        print(str(dtype)[6:], m, n, *row, flush=True)
