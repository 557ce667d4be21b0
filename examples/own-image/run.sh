#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the image and trains with it. Flags given here go to `meridian train`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
"$here/build.sh" localhost/digits-own:1
/usr/bin/python3 "$here/../data/digits/split.py" "$data"

meridian train --image localhost/digits-own:1 --job-name "own-image-$(date +%H%M%S)" \
  --channel train="$data/train" --channel validation="$data/validation" \
  --hp comment='nearest mean' --metric accuracy='accuracy=([0-9.]+)' "$@"
