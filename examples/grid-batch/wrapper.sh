#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One child of the array: takes its row of the manifest and runs the driver for it.
#
# A row is `region, s3-location` and may go on with `name=value` columns, which become hyperparameters.
# Blanks around commas and empty lines do not count.
set -eu
here=${0%/*}
: "${S3_ARRAY_FILE:?says where the manifest is: s3://bucket/array.txt}"
if [ -z "${AWS_BATCH_JOB_ARRAY_INDEX:-}" ]; then
  echo "this is no child of an array: submit it with --array-properties size=ROWS" >&2
  exit 1
fi

manifest=${TMPDIR:-/tmp}/array.txt
python3 "$here/driver.py" fetch "$S3_ARRAY_FILE" "$manifest"
number=0
row=
while IFS= read -r line || [ -n "$line" ]; do
  case $line in *[![:space:]]*) ;; *) continue ;; esac
  if [ "$number" -eq "$AWS_BATCH_JOB_ARRAY_INDEX" ]; then row=$line; fi
  number=$((number + 1))
done < "$manifest"
if [ -z "$row" ]; then
  echo "the manifest has $number rows, and this is child $AWS_BATCH_JOB_ARRAY_INDEX" >&2
  exit 1
fi

# Splits at commas; unquoted words lose their blanks.
set -f
old_ifs=$IFS
IFS=,
# shellcheck disable=SC2086
set -- $row
IFS=$old_ifs
region=$(echo ${1-})
location=$(echo ${2-})
if [ $# -lt 2 ] || [ -z "$region" ] || [ -z "$location" ]; then
  echo "row $AWS_BATCH_JOB_ARRAY_INDEX is '$row'; it must be: region, s3-location" >&2
  exit 1
fi
shift 2

BATCH_REGION=${AWS_DEFAULT_REGION-}
AWS_DEFAULT_REGION=$region
AWS_REGION=$region
S3_LOCATION=$location
export BATCH_REGION AWS_DEFAULT_REGION AWS_REGION S3_LOCATION
# The driver takes this shell's place, so that a signal for the child is a signal for the driver.
exec python3 "$here/driver.py" run "$@"
