# SPDX-License-Identifier: Apache-2.0
"""After `mlrun doctor --fix --yes` a user other than root can record his own processes, with the kernel side too;
set-user-ID programs are not shown, and a hostile client of mlrun-probes gets no data of other users."""

import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
from pathlib import Path

from lib import case
from lib.kernel_side import need_kernel_side

NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
READY, REFUSED, FOLLOW, FOLLOWING = 1, 2, 3, 4
EPERM = 1


def installed(this, folder):
    """A copy of mlrun that every user can reach, whose mlrun-probes has its capabilities."""
    built = Path(case.MLRUN).parent.parent
    for part in ("bin", "lib"):
        shutil.copytree(built / part, folder / part)
    mlrun = folder / "bin" / "mlrun"
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    shown = this.run(mlrun, "doctor", "--fix").stdout
    this.true("--fix shows the command", "setcap cap_bpf,cap_perfmon,cap_sys_admin=ep" in shown and "--yes" in shown, shown)
    this.equal("and runs nothing", os.listxattr(folder / "bin" / "mlrun-probes"), [])
    done = this.run(mlrun, "doctor", "--fix", "--yes")
    if done.returncode != 0:
        raise case.Skip("files can have no capabilities here: " + done.stderr.strip())
    this.true("the second time there is nothing to do", "Nothing to do" in this.run(mlrun, "doctor", "--fix").stdout)
    return mlrun


class Client:
    """Starts mlrun-probes as a program other than mlrun might."""

    def __init__(self, probes, streams, folder):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(60)
        spool = os.open(folder / "hostile.bin", os.O_RDWR | os.O_CREAT, 0o600)
        script = 'exec 3<&$1 4<&$2; exec "$3" serve "$4"'
        self.program = subprocess.Popen(["sh", "-c", script, "sh", str(theirs.fileno()), str(spool), probes, streams],
                                        pass_fds=(theirs.fileno(), spool))
        theirs.close()
        os.close(spool)

    def answer(self):
        return struct.unpack("Ii", self.socket.recv(1 << 17)[:8])

    def follow(self, pid):
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self.socket, [struct.pack("Ii", FOLLOW, 0)], [pidfd])
        os.close(pidfd)
        return self.answer()

    def end(self):
        self.socket.close()
        self.program.wait(60)


def hostile(this, folder):
    """Runs in an unprivileged child. Returns (whether root's process was observed, what --system got)."""
    probes = folder / "bin" / "mlrun-probes"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        client = Client(probes, "block,wait,observe", folder / "home")
        answers = [client.answer(), client.follow(os.getppid()), client.follow(os.getpid())]
        with subprocess.Popen(["sleep", "60"]) as sleeper:
            answers.append(client.follow(sleeper.pid))
            sleeper.kill()
        client.end()
        client = Client(probes, "block,wait,system", folder / "home")
        answers.append(client.answer())
        client.end()
        os.write(writer, json.dumps(answers).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as said:
        text = said.read()
    ready, of_root, own, fresh, system = json.loads(text)
    this.equal("it begins", ready[0], READY)
    this.equal("root's process is not followed", of_root, [FOLLOWING, EPERM])
    this.equal("nor one that was root's a moment ago", own, [FOLLOWING, EPERM])
    this.equal("what it has started is followed", fresh, [FOLLOWING, 0])
    this.equal("no other user's either", system[0], REFUSED)


def check(this):
    case.need_root()
    need_kernel_side()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mlrun = installed(this, folder)
        home = folder / "home"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)

        def record(trace, *command):
            done = this.run(*AS_NOBODY, mlrun, "--preload", "--kprobes=block,wait", "--quiet", "-o", home / trace, *command,
                            cwd=home)
            this.equal("exit status", done.returncode, 0, said=done.stderr)
            return this.opened(home / trace)

        def sleepers(trace):
            names = {row["pid"]: row["command"] for row in trace.rows("process")}
            return {names.get(row["pid"], "") for row in trace.rows("wait") if row["dur"] > 200_000_000}

        trace = record("own", "sleep", "0.4")
        this.true("his own waits are there", "sleep 0.4" in sleepers(trace), trace.rows("wait"))
        this.true("nothing is missing", not trace.covers("kernel side"), trace.rows("coverage"))

        raised = home / "raised_sleep"
        shutil.copy(shutil.which("sleep", path="/bin:/usr/bin"), raised)
        raised.chmod(0o4755)
        shell = home / "raised_shell"
        shutil.copy(shutil.which("dash") or shutil.which("sh"), shell)
        shell.chmod(0o4755)
        trace = record("raised", "sh", "-c", "./raised_sleep 0.5; ./raised_shell -pc 'sleep 0.6; exit 0'; sleep 0.4")
        this.true("the shell's child is there", "sleep 0.4" in sleepers(trace), trace.rows("wait"))
        shell = [row["pid"] for row in trace.rows("process") if row["command"].startswith("sh ")]
        of_others = [row for row in trace.rows("wait") if row["dur"] > 300_000_000 and row["pid"] not in shell]
        this.equal("one sleep of the three", len(of_others), 1, said=trace.rows("wait"))
        reported = [row for row in trace.rows("coverage") if "rights beyond" in row["detail"]]
        this.equal("and it is said", [row["kernel"] for row in reported], [2], said=trace.rows("coverage"))

        done = this.run(*AS_NOBODY, mlrun, "--kprobes", "--pid", str(os.getpid()), "--duration", "1", cwd=home)
        this.true("root's process is refused", done.returncode != 0 and "only root" in done.stderr, done.stderr)
        done = this.run(*AS_NOBODY, mlrun, "--kprobes", "--system", "--duration", "1", cwd=home)
        this.true("all is refused", done.returncode != 0 and len(done.stderr.splitlines()) == 1, done.stderr)
        hostile(this, folder)


if __name__ == "__main__":
    case.run(check)
