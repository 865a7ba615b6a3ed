#!/bin/bash
# GNU parallel draws a run in parts, ten shards, as many at once as there are processors:
# examples/large-runs/parallel.sh With --sshloginfile it does so on several machines that share the folder.
set -eu

model=${MODEL:-model.json} run=${RUN:-run/} count=${COUNT:-1000000000} seed=${SEED:-42} rows=${ROWS_PER_PART:-}

# One thread each, since the shards share the processors. A shard that fails is tried again, and goes on where it was.
export COVARIUM_THREADS=1
seq 10 | parallel --will-cite --retries 3 covarium sample --model "$model" --count "$count" --seed "$seed" \
  --format parquet --output "$run" ${rows:+--rows-per-part "$rows"} --shard {}/10
