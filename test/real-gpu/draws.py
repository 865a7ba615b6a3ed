# PyTorch's draws, products and factors on this machine's GPU, for draws.mjs: MultivariateNormal.sample and randn with
# addmm, each left there, and copied to host memory by .cpu(), the latter also into reused pinned memory. Best of
# several rounds, in ms.
import torch

from peer import best, gpu

print(torch.__version__, torch.cuda.get_device_name())
sizes = [(2, 10**6), (16, 10**6), (64, 4 * 10**6), (100, 10**6), (1000, 10**4), (1000, 10**5), (4000, 1000)]
for dtype, (n, count) in [(dtype, size) for dtype in [torch.float32, torch.float64] for size in sizes]:
    i = torch.arange(n, dtype=dtype, device=gpu)
    covariance = 1 / (1 + (i[:, None] - i).abs()) + torch.eye(n, dtype=dtype, device=gpu)
    mean = torch.zeros(n, dtype=dtype, device=gpu)
    normal = torch.distributions.MultivariateNormal(mean, covariance, validate_args=False)
    factor = torch.linalg.cholesky(covariance)
    pinned = torch.empty((count, n), dtype=dtype, pin_memory=True)
    by_hand = lambda: torch.addmm(mean, torch.randn(count, n, dtype=dtype, device=gpu), factor.T)
    print(
        f"{dtype}, D = {n}, N = {count}: MultivariateNormal {best(lambda: normal.sample((count,)))}, .cpu() "
        f"{best(lambda: normal.sample((count,)).cpu(), 3)}; by hand {best(by_hand)}, .cpu() "
        f"{best(lambda: by_hand().cpu(), 3)}, into pinned memory {best(lambda: pinned.copy_(by_hand()))}"
    )

for dtype in [torch.float32, torch.float64]:
    for n in [300, 1000, 4096]:
        a = torch.randn(n, n, device=gpu, dtype=dtype)
        hosts = [torch.randn(n, n, dtype=dtype).pin_memory() for _ in range(3)]
        there = lambda: hosts[2].copy_(hosts[0].to(gpu, non_blocking=True) @ hosts[1].to(gpu, non_blocking=True))
        print(f"{dtype} product of {n} x {n}: {best(lambda: a @ a)}, from and into pinned memory {best(there)}")
    for n in [1000, 4096]:
        i = torch.arange(n, dtype=dtype, device=gpu)
        covariance = 1 / (1 + (i[:, None] - i).abs()) + torch.eye(n, dtype=dtype, device=gpu)
        host, out = covariance.cpu().pin_memory(), torch.empty((n, n), dtype=dtype).pin_memory()
        there = lambda: out.copy_(torch.linalg.cholesky(host.to(gpu, non_blocking=True)))
        print(f"{dtype} factor of {n} x {n}: {best(lambda: torch.linalg.cholesky(covariance))}, from and to pinned memory {best(there)}")

for n, count in [(2, 10**6), (16, 10**6), (64, 4 * 10**6)]:
    i = torch.arange(n, dtype=torch.float32, device=gpu)
    covariance = 1 / (1 + (i[:, None] - i).abs()) + torch.eye(n, device=gpu)
    normal = torch.distributions.MultivariateNormal(torch.zeros(n, device=gpu), covariance, validate_args=False)
    rows = normal.sample((count,))
    print(f"densities, D = {n}, N = {count}: {best(lambda: normal.log_prob(rows))}, to the host {best(lambda: normal.log_prob(rows).cpu())}")
for n, count in [(100, 10**6), (1000, 10**5)]:
    i = torch.arange(n, dtype=torch.float32, device=gpu)
    covariance = 1 / (1 + (i[:, None] - i).abs()) + torch.eye(n, device=gpu)
    normal = torch.distributions.MultivariateNormal(torch.zeros(n, device=gpu), covariance, validate_args=False)
    rows = normal.sample((count,))
    print(f"densities, D = {n}, N = {count}: {best(lambda: normal.log_prob(rows))}")
