#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The grid by AWS Batch: an array of four children, each the driver of one training in the region of its data.
#
#   run.sh            the driver runs on the host
#   run.sh IMAGE      the driver runs in that image (see build.sh)
#
# Needs `meridian up --regions us-east-1,us-west-2,eu-west-1,eu-central-1` and its `meridian env`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export AWS_DEFAULT_REGION=us-east-1 AWS_REGION=us-east-1 AWS_PAGER=''
"$here/prepare.sh" "${MANIFEST:-$here/array.txt}"
rows=$(grep -c '[^[:space:]]' "${MANIFEST:-$here/array.txt}")

definition=$(mktemp)
trap 'rm -f "$definition"' EXIT
/usr/bin/python3 - "$here" "${1:-host}" > "$definition" <<'PYTHON'
import json
import sys
here, image = sys.argv[1:]
made = json.load(open(here + "/job-definition.json"))
container = made["containerProperties"]
container["image"] = image
container["volumes"][0]["host"]["sourcePath"] = here
if image != "host":  # it has /api of its own
    del container["volumes"], container["mountPoints"]
print(json.dumps(made))
PYTHON
aws batch register-job-definition --cli-input-json "file://$definition" --query jobDefinitionArn --output text
job=$(aws batch submit-job --job-name grid --job-queue default --job-definition grid-driver \
  --array-properties "size=$rows" --query jobId --output text)
echo "submitted $job with $rows children"
if [ -n "${DETACH:-}" ]; then exit 0; fi

status=
while [ "$status" != SUCCEEDED ] && [ "$status" != FAILED ]; do
  sleep 2
  now=$(aws batch describe-jobs --jobs "$job" --output text \
    --query 'jobs[0].[status,arrayProperties.statusSummary.RUNNING,arrayProperties.statusSummary.SUCCEEDED,arrayProperties.statusSummary.FAILED]')
  [ "$now" = "${before:-}" ] || echo "$now" | awk '{ print $1 ": " $2 " running, " $3 " succeeded, " $4 " failed" }'
  before=$now
  status=${now%%[!A-Z]*}
done
set --
index=0
while [ "$index" -lt "$rows" ]; do
  set -- "$@" "$job:$index"
  index=$((index + 1))
done
for stream in $(aws batch describe-jobs --jobs "$@" --query 'jobs[].container.logStreamName' --output text); do
  aws logs get-log-events --log-group-name /aws/batch/job --log-stream-name "$stream" \
    --query 'events[-1].message' --output text
done
[ "$status" = SUCCEEDED ]
