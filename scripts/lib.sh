# Shared by the scripts beside it (sourced, bash): where things are, quiet building, one clear line on failure.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
speaker=${0#"$root"/}
case $speaker in /*) speaker=scripts/$(basename "$0") ;; esac
case $speaker in .*/scripts/*|./*) speaker=scripts/$(basename "$0") ;; esac
export TLMSSD_SPEAKER=$speaker

fail() {
  echo "$speaker: $*" >&2
  exit 1
}

# run_logged <what> <log> <command...>: the output goes to the log; on a terminal its last line shows that something moves.
# On failure the end of the log is shown and the script ends.
run_logged() {
  local what=$1 log=$2
  shift 2
  local status=0
  if [ -t 1 ]; then
    "$@" 2>&1 | tee -a "$log" | while IFS= read -r line; do
      case $line in '['*) printf '\r\033[K%.*s' "${COLUMNS:-79}" "$what $line" ;; esac
    done
    status=${PIPESTATUS[0]}
    printf '\r\033[K'
  else
    "$@" >>"$log" 2>&1 || status=$?
  fi
  if [ "$status" -ne 0 ]; then
    # What went wrong stands at the first error; the last lines are often other jobs winding down.
    { grep -nE -m 1 -A 20 'error:|^FAILED|CMake Error' "$log" || tail -n 30 "$log"; } >&2
    fail "$what failed (exit code $status); the whole log is $log"
  fi
}

install_missing() {
  "$root/scripts/install_dependencies" "$@" || exit $?
}

# configure <folder> [cmake options...]: configures the build folder once; Ninja re-runs CMake by itself when it must.
# Warnings are errors where TLMSSD_WERROR=ON is in the environment: in CI; TLMSSD_UNITY there says how large the groups are in which
# sources are compiled. Without them a folder keeps what it was configured with: another value would compile all of it anew.
configure() {
  local folder=$1 options=()
  shift
  [ -z "${TLMSSD_WERROR:-}" ] || options+=(-D "TLMSSD_WERROR=$TLMSSD_WERROR")
  [ -z "${TLMSSD_UNITY:-}" ] || options+=(-D "TLMSSD_UNITY=$TLMSSD_UNITY")
  mkdir -p "$folder" 2>/dev/null || fail "cannot write to $folder"
  [ -w "$folder" ] || fail "cannot write to $folder"
  : >"$folder/build.log" || fail "cannot write to $folder/build.log"
  run_logged "Configuring" "$folder/build.log" cmake -S "$root" -B "$folder" -G Ninja "$@" \
    "${options[@]}"
}

# build <folder> [targets...]: builds the named targets, or all.
build() {
  local folder=$1
  shift
  local targets=()
  [ $# -eq 0 ] || targets=(--target "$@")
  if ! cmake --build "$folder" "${targets[@]}" -- -n 2>/dev/null | grep -q 'no work to do'; then
    echo "Building tlmssd in ${folder#"$root"/} (log: ${folder#"$root"/}/build.log)"
  fi
  run_logged "Building" "$folder/build.log" cmake --build "$folder" "${targets[@]}"
}

# run_ctest <folder> [ctest arguments...]: ctest's own output.
run_ctest() {
  local folder=$1
  shift
  ctest --test-dir "$folder" -j "$(nproc)" --output-on-failure --no-tests=error "$@" || fail "tests failed"
}

# run_ctest_quietly <folder> [ctest arguments...]: only failures and ctest's closing lines are shown.
run_ctest_quietly() {
  local folder=$1 log=$1/test.log status=0
  shift
  local run=(ctest --test-dir "$folder" -j "$(nproc)" --output-on-failure --no-tests=error "$@")
  if [ -t 1 ]; then
    "${run[@]}" 2>&1 | tee "$log" | while IFS= read -r line; do
      case $line in [0-9\ ]*/[0-9]*Test*) printf '\r\033[K%.*s' "${COLUMNS:-79}" "$line" ;; esac
    done
    status=${PIPESTATUS[0]}
    printf '\r\033[K'
  else
    "${run[@]}" >"$log" 2>&1 || status=$?
  fi
  if [ "$status" -ne 0 ]; then
    grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test.* Passed )' "$log" >&2
    fail "tests failed; the whole log is $log"
  fi
  sed -n '/^[0-9]*% tests passed/,$p' "$log" | sed '/^Label Time Summary/,/^$/d'
}

# run_short <program> <log folder> [folder left out]: every scenario in its short form, as many at a time as there are processors; their
# list is <log folder>/list.
run_short() {
  local program=$1 log=$2 left_out=${3:-scenarios/none}
  rm -rf "$log"
  mkdir -p "$log"
  find scenarios -name '*.yaml' -not -path 'scenarios/parts/*' -not -path 'scenarios/studies/*' -not -path "$left_out/*" | sort >"$log/list"
  export program log
  xargs -P "$(nproc)" -I{} bash -c '
    name=$(echo "$1" | tr / _)
    if timeout 300 "$program" run "$1" --short --out "$log/$name" >"$log/$name.log" 2>&1; then exit 0; fi
    tail -n 5 "$log/$name.log" | sed "s|^|$1: |" >&2
    exit 1' _ {} <"$log/list" || fail "a scenario failed in its short form; logs are in $log"
}
