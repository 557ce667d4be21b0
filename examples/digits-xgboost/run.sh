#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains the built-in XGBoost on the digits with boto3. Needs a running `meridian up`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
eval "$(meridian env)"
exec /usr/bin/python3 "$here/train.py" "$@"
