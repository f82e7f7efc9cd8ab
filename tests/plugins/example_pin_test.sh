#!/bin/sh
# Does the example's plugin.toml pin the source that lies beside it?  example_pin_test.sh examples/plugin
set -eu
pins=$("$1/pin_source.sh")
echo "$pins"
status=0
echo "$pins" | while read -r line; do
  if ! grep -qxF "$line" "$1/plugin.toml"; then
    echo "plugin.toml lacks: $line" >&2
    exit 1
  fi
done || status=1
default=$(echo "$pins" | sed -n 's/^commit/default/p')
if ! grep -qxF "$default" "$1/plugin.toml"; then
  echo "plugin.toml lacks: $default" >&2
  status=1
fi
exit $status
