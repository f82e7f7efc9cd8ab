# Sourced by every stand-in. $0 is the stand-in; files beside it steer it:
#   NAME.fail     its text goes to stderr, exit 1        NAME.hang     never answers
#   NAME.version  what it says it is                     NAME.slow     seconds that a compile step takes
# FAKE_TOOLCHAIN_LOG, when set, gets one line for each start.
name=${0##*/}
here=$(cd "$(dirname "$0")" && pwd)
[ -z "$FAKE_TOOLCHAIN_LOG" ] || printf '%s\n' "$name $*" >>"$FAKE_TOOLCHAIN_LOG"
[ ! -e "$0.hang" ] || exec sleep 60
if [ -e "$0.fail" ]; then
  cat "$0.fail" >&2
  exit 1
fi
version=$(cat "$0.version" 2>/dev/null)

# word_after FLAG ARGS...: the argument that follows FLAG
word_after() {
  flag=$1
  shift
  while [ $# -gt 0 ]; do
    [ "$1" != "$flag" ] || { printf '%s' "$2"; return; }
    shift
  done
}

take_time() { [ ! -e "$0.slow" ] || sleep "$(cat "$0.slow")"; }
