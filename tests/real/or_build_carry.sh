#!/usr/bin/env bash
# Fills a folder with all that or_build.sh needs on a machine that has a GPU, CUDA's toolkit and torch, and no network.
#
# Usage: or_build_carry.sh PREFIX SOURCE_REPOSITORY FOLDER
#   PREFIX             what `cmake --install build/release --prefix PREFIX` made
#   SOURCE_REPOSITORY  a git repository that has the commit that the sage2 plugin pins (bare ones, too)
#   FOLDER             is made anew: or_build.sh and what it unpacks (bin; lib: sagekit's own libraries and those that a bare
#                      machine may lack; the source), about 20 MB
#
# Needs patchelf. libc and libstdc++ are the machine's own: it must not be older than this one.
set -euo pipefail
[ $# -eq 3 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
prefix=$1 repository=$2 folder=$3
here=$(cd "$(dirname "$0")" && pwd)
commit=$(sed -n 's/^default = "\([0-9a-f]\{40\}\)"$/\1/p' "$here/../../plugins/sage2/plugin.toml" | head -1)
git -C "$repository" cat-file -e "$commit^{commit}" || { echo "$repository has no commit $commit" >&2; exit 2; }

result=$folder
rm -rf "$result"
mkdir -p "$result"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bin" "$folder/lib/sagekit/plugins"
cp "$prefix/bin/sagekit" "$folder/bin/"
cp "$prefix"/lib/*/libsagekit.so* "$folder/lib/" 2>/dev/null || cp "$prefix"/lib/libsagekit.so* "$folder/lib/"
cp "$prefix"/lib/sagekit/plugins/*.so "$folder/lib/sagekit/plugins/"

# Libraries that are linked, and those that sagekit loads when it needs them (docs/decisions/0012) and no network.
late=$(strings -a "$folder"/lib/libsagekit.so* | grep -oE 'lib(archive|zip)\.so(\.[0-9]+)+' | sort -u)
paths() {
  for file in "$folder/bin/sagekit" "$folder"/lib/libsagekit.so*; do ldd "$file"; done
  for name in $late; do
    path=$(ldconfig -p | awk -v name="$name" '$1 == name { print $NF; exit }')
    [ -n "$path" ] && { echo "$name => $path"; ldd "$path"; }
  done
}
paths | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u |
  grep -vE '^(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux[-a-z0-9_]*|libsagekit)\.so' |
  while read -r name path; do cp -L "$path" "$folder/lib/$name"; done

for file in "$folder/bin/sagekit" "$folder"/lib/*.so* "$folder"/lib/sagekit/plugins/*.so; do
  [ -L "$file" ] && continue
  chmod u+w "$file"
  case $file in
    */bin/*) origin='$ORIGIN/../lib' ;;
    */plugins/*) origin='$ORIGIN/../..' ;;
    *) origin='$ORIGIN' ;;
  esac
  patchelf --force-rpath --set-rpath "$origin" "$file"
  strip --strip-unneeded "$file" 2>/dev/null || true
done

# What a build needs: the pictures are most of the repository, and partial clones lack them. The listing tells it from a changed tree.
git -C "$repository" archive --format=tar -o "$folder/source.tar" "$commit" -- setup.py pyproject.toml MANIFEST.in README.md LICENSE csrc sageattention 2>/dev/null
git -C "$repository" -c core.quotepath=off ls-tree -r "$commit" | sed 's/^\([0-9]*\) [a-z]* \([0-9a-f]*\)\t/\1 \2 /' >"$folder/.sagekit-tree"
tar -C "$folder" --owner=0 --group=0 -rf "$folder/source.tar" .sagekit-tree && rm "$folder/.sagekit-tree"
"$folder/bin/sagekit" --version
"$folder/bin/sagekit" plugin list
if ldd "$folder/bin/sagekit" "$folder"/lib/*.so* | grep -E "not found"; then exit 1; fi
cp "$here/or_build.sh" "$result/"
tar -C "$folder" -cf - . | xz -T2 -3 >"$result/all.tar.xz"
du -sh "$result"
