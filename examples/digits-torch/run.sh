#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains on two instances with two ranks each. Flags given here go to `meridian train`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
/usr/bin/python3 "$here/../data/digits/split.py" "$data"

meridian train --script train.py --source "$here" --framework pytorch --torch \
  --instances 2 --processes 2 \
  --channel train="$data/train" --channel validation="$data/validation" \
  --hp epochs=8 --hp lr=0.004 --hp batch-size=16 \
  --metric loss='loss=([0-9.]+)' \
  --metric accuracy='accuracy=([0-9.]+)' \
  --metric images_per_second='images_per_second=([0-9.]+)' \
  --metric instance_throughput='instance_throughput=([0-9.]+)' \
  "$@"
