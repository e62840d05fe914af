# SPDX-License-Identifier: Apache-2.0
# Sourced by debootstrap.sh: gives a new system the host's way to packages (apt sources, proxies and certificates, pip's
# configuration), so that the proof also works where the network is reached through a mirror. Nothing of it is written
# down here: it is copied from wherever this host has it.
# shellcheck shell=bash
: "${source_root:?}"  # the checkout, set by debootstrap.sh

# Prints the host's own first archive of $1 (a suite such as bookworm), nothing where it has none.
host_archive() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -v suite="$1" '$1 == suite { print $2; exit }'
}

# Prints the start of a command that runs pip with the host's configuration.
host_pip() {
  local python
  for python in "$source_root/.venv/bin/python" python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      printf '%s\n' "$python"
      return 0
    fi
  done
  return 1
}

copy_apt_settings() {
  local target=$1 part file
  for part in sources.list sources.list.d auth.conf auth.conf.d trusted.gpg.d keyrings apt.conf; do
    if [[ -e /etc/apt/$part ]]; then cp -a "/etc/apt/$part" "$target/etc/apt/"; fi
  done
  # Only what says how to fetch; hooks of installed programs mean nothing in the new system.
  for file in /etc/apt/apt.conf.d/*; do
    if grep -qs '^ *Acquire' "$file"; then cp -a "$file" "$target/etc/apt/apt.conf.d/"; fi
  done
  cp -an /usr/share/keyrings/. "$target/usr/share/keyrings/"
}

# The certificates are added to the new system's own when it installs ca-certificates.
copy_certificates() {
  mkdir -p "$1/usr/local/share/ca-certificates"
  cp -a /usr/local/share/ca-certificates/. "$1/usr/local/share/ca-certificates/" 2>/dev/null || true
}

copy_pip_configuration() {
  local target=$1 home=/root python file
  python=$(host_pip) || return 0
  while read -r file; do
    case $file in
      */.venv/*) ;;
      /etc/pip.conf) cp "$file" "$target/etc/pip.conf" ;;
      *) install -D -m 644 "$file" "$target$home/.config/pip/pip.conf" ;;
    esac
  done < <("$python" -m pip config debug 2>/dev/null | sed -n 's/^ *\(.*\), exists: True$/\1/p')
}

copy_host_settings() {
  copy_apt_settings "$1"
  copy_certificates "$1"
  copy_pip_configuration "$1"
  cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
}

# Prints the folders that pip's configuration names. The pages of an index refer to files beside it: its parent is meant.
pip_folders() {
  local python word folder
  python=$(host_pip) || return 0
  "$python" -m pip config list 2>/dev/null | tr "='" '  ' | tr ' ' '\n' | while read -r word; do
    case $word in
      file:///*) folder=$(dirname "${word#file://}") ;;
      /*) folder=$word ;;
      *) continue ;;
    esac
    if [[ -d $folder ]]; then printf '%s\n' "$folder"; fi
  done | sort -u
}

# Shows the new system those folders, read-only. Requires: a mount namespace of our own.
bind_pip_folders() {
  local target=$1 folder
  while read -r folder; do
    mkdir -p "$target$folder"
    mount --bind "$folder" "$target$folder"
    mount -o remount,bind,ro "$target$folder"
  done < <(pip_folders)
}

# Prints NAME=VALUE of the variables that say how to reach packages, one a line.
network_variables() {
  env | grep -E '^(PIP_[A-Z_]+|[a-zA-Z]+_(proxy|PROXY)|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)=' || true
}
