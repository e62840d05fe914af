# SPDX-License-Identifier: Apache-2.0
"""C++ plug-ins are loaded and unloaded by dlopen and dlclose: local, with a helper found by RUNPATH and the system's
libstdc++, and with libstdc++ linked in. They work as untraced; an allocation names the plug-in that made it if that was
loaded for a second or two, and never another one."""

import os

from lib import case

ROUNDS = 40


def check(this):
    data = this.data_file()
    plugins = [os.path.join(os.path.dirname(this.victim("x")), "plugins", name) for name in ("shared.so", "own.so")]
    trace = this.untraced_and_traced(this.victim("loads_plugins"), data, ROUNDS, *plugins)
    this.equal("opens of the file by the plug-ins", len([call for call in trace.calls_of("open", "fopen", path=data)]), 2 * ROUNDS)
    # The block of 5042 bytes is allocated by operator new: of the system's libstdc++, and of the plug-in's own.
    names = [trace.names.get(row["site_library"], "") for row in trace.rows("alloc")
             if row["op"] == "malloc" and row["size"] == 5042]
    this.equal("blocks of the plug-ins", len(names), 2 * ROUNDS)
    by_library = [os.path.basename(name).split(".so")[0] for name in names]
    this.true("none names a wrong library", set(by_library[0::2]) <= {"libstdc++", ""} and set(by_library[1::2]) <= {"own", ""},
              by_library)
    this.equal("libraries that the last two name", by_library[-2:], ["libstdc++", "own"])


if __name__ == "__main__":
    case.run(check)
