#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ResNet-50 on a tiny set of TFRecords, two instances. Flags given here go to `meridian train`; for
# ImageNet give --channel train=s3://… and the README's hyperparameters.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
/usr/bin/python3 "$here/make_tfrecords.py" "$data" --images 240 --size 32

meridian train --script train.py --source "$here" --framework pytorch --mpi \
  --instances 2 --processes 1 --channel train="$data" \
  --hp num_epochs=2 --hp b=16 --hp lr_decay_mode=poly --hp warmup_epochs=1 --hp clear_log=True \
  --hp num_classes=10 --hp image_size=32 \
  --metric loss='loss=([0-9.]+)' --metric top1='top1=([0-9.]+)' \
  --metric images_per_second='images_per_second=([0-9.]+)' "$@"
