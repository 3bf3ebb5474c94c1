# Sourced by bin/headwater and bin/test, with $root set: sets $uv, installing it privately where there is none.
# Needs Python 3.11 or later with venv and pip for that, and nothing else. Headwater itself runs on 3.11 to 3.13: where
# there are only newer ones, uv fetches a 3.13.
# shellcheck shell=sh

uv_version=0.13.8

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 6
}

# The folder that headwater.stack.paths.cache_dir() names.
cache_dir() {
  if [ -n "${HEADWATER_CACHE_DIR:-}" ]; then
    printf '%s\n' "$HEADWATER_CACHE_DIR"
  elif [ -n "${XDG_CACHE_HOME:-}" ]; then
    printf '%s\n' "$XDG_CACHE_HOME/headwater"
  elif [ "$(uname -s)" = Darwin ]; then
    printf '%s\n' "$HOME/Library/Caches/headwater"
  else
    printf '%s\n' "$HOME/.cache/headwater"
  fi
}

find_python() {
  for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      command -v "$name"
      return
    fi
  done
  found=$(python3 --version 2>/dev/null) || fail "no python3 on the PATH. Headwater needs Python 3.11 or later, with venv and pip."
  fail "the python3 on the PATH is $found. Headwater needs Python 3.11 or later, with venv and pip."
}

# A virtual environment only to take the one program out of; moved into place whole, so two at once do no harm.
install_uv() {
  python=$(find_python) || exit $?
  mkdir -p "$(dirname "$1")"
  draft=$(mktemp -d "$(dirname "$1")/draft.XXXXXX")
  trap 'rm -rf "$draft"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  printf 'Installing uv %s into %s\n' "$uv_version" "$(dirname "$1")" >&2
  "$python" -m venv "$draft/venv" >&2 ||
    fail "$python can't make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"
  "$draft/venv/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$uv_version" >&2 ||
    fail "pip could not install uv (see above)."
  mv "$draft/venv/bin/uv" "$1"
  rm -rf "$draft"
  trap - EXIT INT TERM
}

# pip's settings of certificates and index hold for uv too, unless uv has its own.
if [ -z "${SSL_CERT_FILE:-}" ] && [ -n "${PIP_CERT:-${REQUESTS_CA_BUNDLE:-}}" ]; then
  export SSL_CERT_FILE="${PIP_CERT:-$REQUESTS_CA_BUNDLE}"
fi
if [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ] && [ -n "${PIP_INDEX_URL:-}" ]; then
  export UV_DEFAULT_INDEX="$PIP_INDEX_URL"
fi

# A version manager's shim may be on the PATH with nothing behind it.
if uv --version >/dev/null 2>&1; then
  uv=uv
else
  uv=$(cache_dir)/uv/$uv_version/uv
  [ -x "$uv" ] || install_uv "$uv"
fi

# uv fetches it by itself; where it can't, its own words don't say what to do.
if [ ! -x "$root/.venv/bin/python" ] && ! "$uv" python find --no-project '>=3.11,<3.14' >/dev/null 2>&1; then
  printf 'No Python 3.11, 3.12 or 3.13 here; uv fetches one. If it can not, install one of them.\n' >&2
fi
