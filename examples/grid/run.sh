#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The grid on a running Meridian with the four regions: catalog, SQL, an array, a table of results.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/prepare.sh"
meridian fanout preview -f "$here/grid.yaml" --shown 0
meridian fanout submit -f "$here/grid.yaml"
meridian fanout results digits-grid
