#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains by mpirun on two instances with two ranks each. Flags given here go to `meridian train`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
/usr/bin/python3 "$here/../data/digits/split.py" "$data"

# Custom options as they are given for Horovod and NCCL; here they only have to reach mpirun whole.
options="-mca btl_vader_single_copy_mechanism none -x HOROVOD_HIERARCHICAL_ALLREDUCE=1"
options="$options -x HOROVOD_FUSION_THRESHOLD=16777216 -x NCCL_MIN_NRINGS=8 -x NCCL_LAUNCH_MODE=PARALLEL"

meridian train --script train.py --source "$here" --framework pytorch --mpi \
  --mpi-options "$options" --instances 2 --processes 2 \
  --channel train="$data/train" --channel validation="$data/validation" \
  --hp epochs=30 --hp lr=0.1 --hp batch-size=16 \
  --metric loss='loss=([0-9.]+)' \
  --metric accuracy='accuracy=([0-9.]+)' \
  --metric images_per_second='images_per_second=([0-9.]+)' \
  "$@"
