# PyTorch's draws of a Student-t by hand on this machine's GPU, for student-t.mjs: randn, addmm and the root of a
# chi-squared for each row, left there, and copied into reused pinned memory. Best of several rounds, in ms.
import torch

from peer import best, gpu

print(torch.__version__, torch.cuda.get_device_name())
nu = torch.tensor(4.0, device=gpu)
chi2 = torch.distributions.Chi2(nu, validate_args=False)
for n, count in [(1, 10**7), (2, 10**6), (16, 10**6), (64, 4 * 10**6), (100, 10**6), (1000, 10**5)]:
    i = torch.arange(n, dtype=torch.float32, device=gpu)
    factor = torch.linalg.cholesky(1 / (1 + (i[:, None] - i).abs()) + torch.eye(n, device=gpu))
    zero, location = torch.zeros(n, device=gpu), torch.zeros(n, device=gpu)
    pinned = torch.empty((count, n), pin_memory=True)

    def by_hand():
        scale = torch.sqrt(nu / chi2.sample((count, 1)))
        return torch.addmm(zero, torch.randn(count, n, device=gpu), factor.T).mul_(scale).add_(location)

    print(f"Student-t, D = {n}, N = {count}: {best(by_hand)}, into pinned memory {best(lambda: pinned.copy_(by_hand()))}")
