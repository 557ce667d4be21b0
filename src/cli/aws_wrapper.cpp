// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

namespace meridian::cli {

std::string aws_wrapper_script() {
  return R"wrapper(#!/bin/sh
# Made by `meridian up`; changes are overwritten.
#
# Runs the next `aws` on PATH. Versions that do not read AWS_ENDPOINT_URL themselves (v2 before
# 2.13, v1 before 1.29, which is what Debian 12 has) get it as --endpoint-url.

self=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)/$(basename -- "$0")
real=
old_ifs=$IFS
IFS=:
for directory in $PATH; do
  candidate=${directory:-.}/aws
  [ -f "$candidate" ] && [ -x "$candidate" ] || continue
  # Another such wrapper is not the real one either, or two of them would call each other for ever.
  [ "$candidate" -ef "$self" ] && continue
  if head -c 200 "$candidate" 2>/dev/null | grep -q 'Made by `meridian up`'; then continue; fi
  real=$candidate
  break
done
IFS=$old_ifs

if [ -z "$real" ]; then
  echo "aws: no aws command behind Meridian's wrapper on PATH; on Debian: apt-get install awscli" >&2
  exit 127
fi

[ -n "${AWS_ENDPOINT_URL:-}" ] || exec "$real" "$@"
for argument in "$@"; do
  case $argument in
    --endpoint-url | --endpoint-url=*) exec "$real" "$@" ;;
  esac
done

# "aws-cli/2.9.19 Python/3.11.2 …"; asked once per version of the file, as the question is slow.
cache_directory=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/meridian
stamp=$(stat -L -c '%s-%Y' "$real" 2>/dev/null || echo unknown)
cache=$cache_directory/aws-version-$stamp
version=$(cat "$cache" 2>/dev/null)
if [ -z "$version" ]; then
  version=$("$real" --version 2>&1 | sed -n 's|^aws-cli/\([0-9][0-9.]*\).*|\1|p' | head -n 1)
  [ -n "$version" ] && mkdir -p "$cache_directory" 2>/dev/null &&
    echo "$version" 2>/dev/null >"$cache.$$" && mv -f "$cache.$$" "$cache" 2>/dev/null
fi

major=${version%%.*}
rest=${version#*.}
minor=${rest%%.*}
case $major.$minor in
  *[!0-9.]* | .* | *.) knows=no ;; # unknown: the option never hurts
  *)
    if [ "$major" -gt 2 ] || { [ "$major" -eq 2 ] && [ "$minor" -ge 13 ]; } ||
      { [ "$major" -eq 1 ] && [ "$minor" -ge 29 ]; }; then
      knows=yes
    else
      knows=no
    fi
    ;;
esac

if [ "$knows" = yes ]; then exec "$real" "$@"; fi
exec "$real" --endpoint-url "$AWS_ENDPOINT_URL" "$@"
)wrapper";
}

}  // namespace meridian::cli
