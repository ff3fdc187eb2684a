# The Python environment of the source tree (sourced after lib.sh): build/explore, made on first use and made anew when
# what it is to hold has changed. The package itself is not copied there; a .pth file points to scripts/.

python_environment=$root/build/explore

# ensure_python [extras]: sees to it that the environment holds what the package and its extras (pyproject.toml, comma
# separated) need. Says nothing when it does.
ensure_python() {
  local extras=${1:-cluster} wanted ready
  mkdir -p "$root/build" 2>/dev/null || fail "cannot write to $root/build"
  wanted=$(cat "$root/scripts/pyproject.toml" "$root/scripts/constraints.txt" | sha256sum)
  ready=$python_environment/.ready-$extras
  exec 9>"$root/build/explore.lock"
  flock 9
  if [ "$(cat "$ready" 2>/dev/null)" != "$wanted" ]; then
    make_python_environment "$extras"
    echo "$wanted" >"$ready"
  fi
  exec 9>&-
}

make_python_environment() {
  local extras=$1 log=$root/build/explore.log python=$python_environment/bin/python3 requirements
  echo "Preparing the Python environment build/explore (log: build/explore.log)"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "needs Python 3.11 or newer as python3"
  if ! "$python" -m pip --version >/dev/null 2>&1; then
    python3 -m venv --clear "$python_environment" >"$log" 2>&1 ||
      fail "python3 -m venv failed: $(tail -n 1 "$log"); on Debian: apt-get install python3-venv"
  fi
  "$python" "$root/scripts/requirements.py" "$extras" >"$root/build/explore.txt" || fail "cannot read pyproject.toml"
  if ! "$python" -m pip install --quiet --disable-pip-version-check --no-input --retries 2 \
    --constraint "$root/scripts/constraints.txt" --requirement "$root/build/explore.txt" >"$log" 2>&1 </dev/null; then
    if grep -qE 'NewConnectionError|NameResolutionError|ProxyError|ConnectTimeout|ReadTimeout|SSLError' "$log"; then
      fail "cannot reach the Python package index (PyPI): try again with a network, or name a mirror in PIP_INDEX_URL"
    fi
    fail "cannot install the Python packages: $(grep -m 1 '^ERROR' "$log" || tail -n 1 "$log"); the whole log is $log"
  fi
  echo "$root/scripts" >"$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tlmssd.pth"
}
