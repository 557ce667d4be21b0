#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the driver's image localhost/grid-driver:1 (or the name given) from Debian's python3-boto3.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
image=${1:-localhost/grid-driver:1}
packages=/usr/lib/python3/dist-packages
set --
for part in boto3 botocore s3transfer jmespath dateutil urllib3 six.py certifi requests chardet charset_normalizer idna; do
  if [ -e "$packages/$part" ]; then set -- "$@" "$packages/$part"; fi
done
"$here/../own-image/build.sh" localhost/grid-base:1 /bin/sh /etc/ssl/certs/ca-certificates.crt "$@"
podman build --isolation chroot --file "$here/Dockerfile" --tag "$image" "$here"
