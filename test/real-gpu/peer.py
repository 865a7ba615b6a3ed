# What the scripts of PyTorch beside this one share: the GPU, products without TF32, and the best of some rounds.
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False
gpu = torch.device("cuda")


def best(work, rounds=6):
    least = float("inf")
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        least = min(least, time.perf_counter() - start)
    return f"{least * 1e3:.3f} ms"
