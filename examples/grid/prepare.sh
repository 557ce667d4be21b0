#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Four campaigns, each a quarter of the digits in a bucket of its own region, and their rows in the catalog.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 "$here/../data/digits/split.py" "$work/data" >/dev/null
tar -C "$here/../digits-torch" -czf "$work/sourcedir.tar.gz" train.py

echo name,region,description,recorded_at > "$work/campaigns.csv"
echo campaign,region,uri,bytes,labels > "$work/datasets.csv"
number=0
for region in us-east-1 us-west-2 eu-west-1 eu-central-1; do
  bucket="grid-$region"
  meridian --region "$region" s3 mb "s3://$bucket" 2>/dev/null || meridian s3 ls "s3://$bucket/" >/dev/null
  mkdir -p "$work/part"
  awk -v part="$number" 'NR % 4 == part' "$work/data/train/train.csv" > "$work/part/train.csv"
  meridian --region "$region" s3 cp --quiet "$work/part/train.csv" "s3://$bucket/drives/train/train.csv"
  meridian --region "$region" s3 cp --quiet "$work/data/validation/validation.csv" "s3://$bucket/drives/validation/validation.csv"
  meridian --region "$region" s3 cp --quiet "$work/sourcedir.tar.gz" "s3://$bucket/code/sourcedir.tar.gz"
  echo "digits-$region,$region,a quarter of the digits,2025-0$((number + 1))-15" >> "$work/campaigns.csv"
  echo "digits-$region,$region,s3://$bucket/drives,$(wc -c < "$work/part/train.csv"),\"{\"\"images\"\": $(wc -l < "$work/part/train.csv")}\"" \
    >> "$work/datasets.csv"
  number=$((number + 1))
done
meridian catalog import campaigns "$work/campaigns.csv"
meridian catalog import datasets "$work/datasets.csv"
