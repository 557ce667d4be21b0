#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the image digits-own:1 (or the name given) without downloading anything: Python and what it
# links to are copied from this Debian system into an otherwise empty root. Further arguments are files
# and directories of this system to bring along, with what their programs link to.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
image=${1:-localhost/digits-own:1}
[ $# -eq 0 ] || shift
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
root=$context/root
mkdir -p "$root/usr/bin" "$root/etc" "$root/tmp" "$root/opt/ml" "$root/root"
chmod 1777 "$root/tmp"
# Debian's merged /usr: /lib and /bin are links.
ln -s usr/bin "$root/bin"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"

copy() { # copies a file, and what a link points to, to the same place below the root
  case $1 in /lib/* | /lib64/* | /bin/*) file=/usr$1 ;; *) file=$1 ;; esac
  mkdir -p "$root$(dirname "$file")"
  cp -L "$file" "$root$file"
}

python=$(readlink -f /usr/bin/python3)
version=$(basename "$python")
copy "$python"
ln -s "$version" "$root/usr/bin/python3"
mkdir -p "$root/usr/lib/$version"
(cd "/usr/lib/$version" && tar -cf - --exclude=__pycache__ --exclude=test --exclude=idlelib \
  --exclude=tkinter --exclude='config-*' --exclude=ensurepip --exclude=lib2to3 .) |
  tar -xf - -C "$root/usr/lib/$version"
for more in "$@"; do
  if [ -d "$more" ]; then
    mkdir -p "$root$more"
    (cd "$more" && tar -cf - --exclude=__pycache__ .) | tar -xf - -C "$root$more"
  else
    copy "$more"
  fi
done
find "$root/usr" -type f \( -perm -u+x -o -name '*.so*' \) | while read -r binary; do
  ldd "$binary" 2>/dev/null | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\).*/\1/p'
done | sort -u | while read -r library; do copy "$library"; done
echo 'root:x:0:0:root:/root:/bin/sh' > "$root/etc/passwd"
echo 'root:x:0:' > "$root/etc/group"

cp "$here/Containerfile" "$here/train" "$context/"
chmod 755 "$context/train"
podman build --isolation chroot --tag "$image" "$context"
