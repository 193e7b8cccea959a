# Read by the scripts of this folder: the tree, its version and commit, and how they fail.
set -eu
export LC_ALL=C TZ=UTC
umask 022
top=$(cd "$(dirname "$0")/../.." && pwd -P)
version=$(cat "$top/lss/VERSION")
kit=/usr/lib/spinach # where packages have it
gtkwave=${GTKWAVE:-/usr/share/verilator/include/gtkwave} # the writer of FST waves: no accident of this computer
maintainer="The Spinach authors <authors@spinach.invalid>"

fail() { echo "dist: $1" >&2; exit 1; }
need() { # TOOL-OR-FILE PACKAGE ...: all that are missing in one message; with DIST_CHECK nothing else is done
  missing=
  while [ $# -gt 0 ]; do
    command -v "$1" >/dev/null 2>&1 || [ -f "$1" ] || missing="$missing${missing:+, }$1 (package $2)"
    shift 2
  done
  [ -z "$missing" ] || fail "missing: $missing"
  [ -z "${DIST_CHECK:-}" ] || exit 0
}

# What is released is a commit, not what happens to be in the folder.
require_commit() {
  need git git
  [ "$(git -C "$top" rev-parse --show-toplevel 2>/dev/null)" = "$top" ] \
    || fail "$top is no git checkout: releases are made of commits"
  changed=$(git -C "$top" status --porcelain --untracked-files=no | wc -l)
  [ "$changed" -eq 0 ] || fail "files that differ from the commit: $changed (commit or restore them; see git status)"
  SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct)
  export SOURCE_DATE_EPOCH
}
