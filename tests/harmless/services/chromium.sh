#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Headless Chromium: many processes of zygotes, an allocator of its own, its own threads and shared memory. Prints the page
# after its script has run.
set -euo pipefail
cat >page.html <<'PAGE'
<!doctype html><title>page</title><ul id="list"></ul>
<script>for (let i = 0; i < 50; i++) { const item = document.createElement("li"); item.textContent = i * i; list.append(item); }</script>
PAGE
program=$(command -v chromium || command -v chromium-headless-shell || command -v google-chrome)
"$program" --no-sandbox --headless --disable-gpu --no-first-run --user-data-dir="$PWD/profile" --virtual-time-budget=5000 \
  --dump-dom "file://$PWD/page.html" 2>/dev/null
rm -rf profile
