#!/usr/bin/env bash
# `./dev demo`: starts Meridian with four regions on data of its own, runs the grid, then one region alone, and stops.
#
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
export PATH="$root/build/release/bin:$PATH"
export MERIDIAN_DATA="${MERIDIAN_DATA:-$(mktemp -d /tmp/meridian-demo-XXXXXX)}"

meridian up --detach --port 0 --regions us-east-1,us-west-2,eu-west-1,eu-central-1
trap 'meridian down >/dev/null 2>&1 || true' EXIT
eval "$(meridian env)"

step() { printf '\n== %s\n' "$*"; }

step "Four campaigns, each with its data in its own region"
"$here/prepare.sh"
meridian catalog query "SELECT c.name, c.recorded_at, d.region, d.uri, d.bytes FROM campaigns c JOIN datasets d ON d.campaign = c.name"

step "One query, a training of two instances in each region"
meridian fanout submit -f "$here/grid.yaml"

step "Every training"
meridian fanout results digits-grid

step "One region alone, for comparison"
sed -e 's/name: digits-grid/name: digits-alone/' -e "s/ORDER BY/AND d.region = 'us-west-2' ORDER BY/" "$here/grid.yaml" > "$MERIDIAN_DATA/alone.yaml"
meridian fanout submit -f "$MERIDIAN_DATA/alone.yaml"

rate() {
  meridian catalog query "SELECT round(sum(metrics ->> 'images_per_second')) AS rate FROM array_results WHERE array = '$1'" -o csv |
    tail -n 1 | tr -d '\r' | cut -d. -f1
}
echo
echo "Four regions together: $(rate digits-grid) images/s; one region alone: $(rate digits-alone) images/s."
echo "All four share the $(nproc) cores of this machine; with a machine per region their rates add up."
echo
echo "Everything it made is below $MERIDIAN_DATA; to look around:"
echo "  export PATH=$root/build/release/bin:\$PATH MERIDIAN_DATA=$MERIDIAN_DATA"
echo "  meridian up --detach && eval \"\$(meridian env)\" && kubectl get trainingarrays"
