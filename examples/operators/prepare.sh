#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the bucket that the YAML files name, with the digits and the training script in it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bucket=${1:-digits-operators}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 "$here/../data/digits/split.py" "$work/data"
tar -C "$here/../digits-mpi" -czf "$work/sourcedir.tar.gz" train.py
aws s3 mb "s3://$bucket" >/dev/null 2>&1 || aws s3 ls "s3://$bucket" >/dev/null
aws s3 cp --only-show-errors --recursive "$work/data" "s3://$bucket/digits"
aws s3 cp --only-show-errors "$work/sourcedir.tar.gz" "s3://$bucket/training-scripts/sourcedir.tar.gz"
echo "s3://$bucket holds digits/ and training-scripts/"
