#!/usr/bin/env bash
# `./dev demo`: starts Meridian on data of its own, runs the digits example with a live view, stops it again.
#
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
export PATH="$root/build/release/bin:$PATH"
export MERIDIAN_DATA="${MERIDIAN_DATA:-$(mktemp -d /tmp/meridian-demo-XXXXXX)}"

meridian up --detach --port 0
trap 'meridian down >/dev/null 2>&1 || true' EXIT
eval "$(meridian env)"
echo
"$here/run.sh" --job-name "digits-demo-$(date +%H%M%S)" "$@"
echo
echo "Everything it made is below $MERIDIAN_DATA; to look around:"
echo "  export PATH=$root/build/release/bin:\$PATH MERIDIAN_DATA=$MERIDIAN_DATA"
echo "  meridian up --detach && eval \"\$(meridian env)\" && aws sagemaker list-training-jobs"
