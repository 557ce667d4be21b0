#!/usr/bin/env bash
# Runs the fuzzers: `run.sh [NAME|all] [SECONDS]`; new inputs that widen coverage stay in build/fuzz-corpus.
# Prints executions and coverage of each.
#
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/../.."
name="${1:-all}"
seconds="${2:-60}"
status=0
found=0
for program in build/fuzz/bin/fuzz_*; do
  fuzzer="${program##*/fuzz_}"
  if [ "$name" != all ] && [ "$name" != "$fuzzer" ]; then continue; fi
  found=1
  mkdir -p "build/fuzz-corpus/$fuzzer" "tests/fuzz/corpus/$fuzzer"
  log="build/fuzz-corpus/$fuzzer.log"
  if ! "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
      -artifact_prefix="build/fuzz-corpus/$fuzzer-" "build/fuzz-corpus/$fuzzer" "tests/fuzz/corpus/$fuzzer" \
      >"$log" 2>&1; then
    echo "$fuzzer: FAILED, see $log"
    tail -30 "$log"
    status=1
    continue
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(grep -oE 'cov: [0-9]+ ft: [0-9]+' "$log" | tail -1)
  echo "$fuzzer: $runs executions in $seconds s, $coverage"
done
if [ "$found" = 0 ]; then
  echo "no fuzzer '$name'; there are: $(cd build/fuzz/bin && echo fuzz_*)" >&2
  exit 2
fi
exit "$status"
