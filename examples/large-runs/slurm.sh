#!/bin/bash
# A Slurm job array that draws a run in parts: sbatch examples/large-runs/slurm.sh
# Each task finds its shard in SLURM_ARRAY_TASK_ID and _COUNT. A task that is requeued goes on where it was.
#SBATCH --job-name=covarium
#SBATCH --array=0-9
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
set -eu

model=${MODEL:-model.json} run=${RUN:-run/} count=${COUNT:-1000000000} seed=${SEED:-42} rows=${ROWS_PER_PART:-}

export COVARIUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
# Nodes with other processors would round otherwise where BLAS multiplies: let it take them all for the oldest of them.
# export OPENBLAS_CORETYPE=Haswell

covarium sample --model "$model" --count "$count" --seed "$seed" --format parquet --output "$run" \
  ${rows:+--rows-per-part "$rows"}
