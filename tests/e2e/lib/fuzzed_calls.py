# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of calls (tests/preload/fuzz), untraced and traced: the same folder, made again, so that all names are equal."""

import shutil


def compare(this, seed, batches, calls, options=()):
    folder, results = this.path("calls"), [this.path("untraced"), this.path("traced")]
    fuzzer = this.victim("fuzz_calls")
    said = []
    for result in results:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        command = [fuzzer, "run", seed, batches, calls, folder, result]
        if result == results[1]:
            command = this.command(*command, out=this.new_trace(), options=options)
        done = this.run(*command, timeout=1000)
        this.equal("exit status", done.returncode, 0, said=done.stderr)
        said.append(done.stdout)
    this.equal("batches that a signal ended", said[1], said[0])
    compared = this.run(fuzzer, "compare", *results)
    this.equal("calls that differ", compared.returncode, 0, said=compared.stdout)
