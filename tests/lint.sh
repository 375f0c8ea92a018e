#!/usr/bin/env bash
# As RUSTC_WORKSPACE_WRAPPER: lints a crate of the workspace, then compiles it. "$@" is rustc and its arguments.
# `cargo clippy` checks all dependencies a second time; this takes those that the build has compiled. clippy-driver alone
# compiles as well, but without MIR optimisations. (Not for sh: dash loses variables with a dash in their names, which cargo sets.)
set -euo pipefail
[[ " $* " == *" --emit="*link* ]] || exec "$@"
# A native library is linted as its unit tests are compiled, which hold all of it, and once more for the page. Only rustc's own
# lints, of what is unused without the tests, are left for here.
[[ " $* " == *" --crate-type lib "* && " $* " != *" --test "* && " $* " != *" --target "* ]] && exec "$@" -D warnings

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# Types are enough, and nothing of it is kept.
lint=()
for arg; do
  case $arg in
    --emit=*) arg=--emit=metadata ;;
    incremental=*) arg=incremental=$out/incremental ;;
  esac
  [ "${last-}" = --out-dir ] && arg=$out
  lint+=("$arg")
  last=$arg
done
status=0
clippy-driver "${lint[@]}" -D warnings 2>"$out/said" || status=$?
# cargo takes an artifact that is announced for the one that it waits for.
grep -v '"$message_type":"artifact"' "$out/said" >&2 || :
[ "$status" = 0 ] || exit "$status"
"$@"
