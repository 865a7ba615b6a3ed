# The summary of summaries.mjs by PyTorch on this machine's GPU, of draws that are made at once and stay there: mean,
# covariance, three quantiles and a share of each column. Best of several rounds, in ms.
import torch

from peer import best, gpu

print(torch.__version__, torch.cuda.get_device_name())
for n, count in [(1, 10**7), (2, 10**7), (16, 10**7), (64, 4 * 10**6), (100, 10**6), (1000, 10**5)]:
    i = torch.arange(n, dtype=torch.float32, device=gpu)
    covariance = 1 / (1 + (i[:, None] - i).abs()) + torch.eye(n, device=gpu)
    mean, factor = torch.zeros(n, device=gpu), torch.linalg.cholesky(covariance)
    ranks = [round(p * count) - 1 for p in (0.01, 0.5, 0.99)]

    def summary():
        x = torch.addmm(mean, torch.randn(count, n, device=gpu), factor.T)
        ordered = x.sort(dim=0).values[ranks]
        return [each.cpu() for each in (x.mean(0), torch.cov(x.T), ordered, (x > 1).float().mean(0))]

    print(f"summary, D = {n}, N = {count}: {best(summary, 3)}")
