#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts a quarter of the digits into a bucket of each region, the training's code beside it, and the manifest.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$here/../digits-mpi" -czf "$work/sourcedir.tar.gz" train.py
number=0
for region in us-east-1 us-west-2 eu-west-1 eu-central-1; do
  bucket=grid-$region
  meridian --region "$region" s3 mb "s3://$bucket" 2>/dev/null || meridian --region "$region" s3 ls "s3://$bucket/" >/dev/null
  awk -v part="$number" 'NR % 4 == part' "$here/../data/digits/digits.csv" > "$work/digits.csv"
  meridian --region "$region" s3 cp --quiet "$work/digits.csv" "s3://$bucket/train/digits.csv"
  meridian --region "$region" s3 cp --quiet "$work/sourcedir.tar.gz" "s3://$bucket/code/sourcedir.tar.gz"
  number=$((number + 1))
done
meridian --region us-east-1 s3 cp --quiet "${1:-$here/array.txt}" s3://grid-us-east-1/array.txt
