# SPDX-License-Identifier: Apache-2.0
"""scandir, glob, realpath, named semaphores, popen and system have one row each, readdir_r one for each entry; a walk
that changes the working directory does not cause wrong names."""

from lib import case


def check(this):
    folder = this.path("folder")
    folder.mkdir()
    trace = this.trace(this.victim("family_inside"), folder)
    inside = str(folder / "in/file")
    main = trace.calls_of("realpath")[0].pid

    def rows(*funcs):
        return [(call.func, call.path.removeprefix(str(folder)), call.ret, call.err)
                for call in trace.calls if call.func in funcs and call.pid == main]

    this.equal("scandir and glob", rows("scandir", "glob"), [("scandir", "", 4, 0), ("scandir", "/none", -1, 2),
                                                             ("glob", "/in/*", 0, 0)])
    this.equal("realpath", [row[2:] for row in rows("realpath")], [(0, 0), (-1, 2)])
    this.equal("entries of readdir_r", [row[2] for row in rows("readdir")], [1, 1, 1, 0])
    this.equal("semaphores", rows("sem_open", "sem_unlink"), [("sem_open", "/dev/shm/sem.mlrun-test-inside", 0, 0),
                                                              ("sem_unlink", "/dev/shm/sem.mlrun-test-inside", 0, 0)])
    opens = [call.path for call in trace.calls_of("open", pid=main) if call.path.endswith("file") and call.ret >= 0]
    this.equal("files that the program and the walks opened", opens, [inside] * 4)  # once through the link
    seeks = [(call.ret, call.arg2) for call in trace.calls_of("fseek", path=inside)]
    this.equal("fsetpos", seeks, [(0, 0)])
    this.equal("processes", [(func, ret) for func, _, ret, _ in rows("system", "pclose")], [("pclose", 0), ("system", 3 << 8)])
    pipes = {row["path"] for row in trace.rows("file") if row["kind"] == "pipe"}
    read = [(call.path in pipes, call.ret) for call in trace.calls_of("fgets", pid=main) if call.ret > 0]
    this.equal("what popen gave", read, [(True, 6)])
    this.equal("popen and sync", [row[0] for row in rows("popen", "sync")], ["popen", "sync"])


if __name__ == "__main__":
    case.run(check)
