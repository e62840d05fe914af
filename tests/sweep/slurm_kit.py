# SPDX-License-Identifier: Apache-2.0
"""A real Slurm with two nodes on this machine: Debian's allows several slurmd. As root; everything below one folder."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from lib import case

CONFIGURATION = """ClusterName=t
SlurmctldHost={host}
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/slurmd%n.pid
SlurmdLogFile={folder}/slurmd%n.log
SlurmctldLogFile={folder}/ctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
SlurmdTimeout=10
KillWait=2
MinJobAge=300
FirstJobId={first_job}
MaxJobId={first_job_end}
MaxArraySize={array_size}
NodeName=n[1-2] NodeHostname={host} Port=[17101-17102] CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
{more}
"""


class Slurm:
    def __init__(self, this, array_size=1001, jobs=(1000, 60000), more=""):
        self.this = this
        self.folder = Path(tempfile.mkdtemp(prefix="mlrun-slurm-"))  # short: Slurm has sockets below it
        self.configuration = self.folder / "slurm.conf"
        for name in ("state", "spooln1", "spooln2"):
            (self.folder / name).mkdir(parents=True)
        host = socket.gethostname()
        self.configuration.write_text(CONFIGURATION.format(host=host, folder=self.folder, array_size=array_size,
                                                           first_job=jobs[0], first_job_end=jobs[1], more=more))
        this.environment["SLURM_CONF"] = str(self.configuration)

    def __enter__(self):
        start_munge()
        self.start_controller()
        for node in ("n1", "n2"):
            self.start_node(node)
        self.wait("both nodes idle", lambda: self.said("sinfo", "-h", "-N", "-o", "%t").split() == ["idle", "idle"])
        return self

    def __exit__(self, *_):
        subprocess.run(["scancel", "--user=root"], env=self.this.environment, check=False)
        time.sleep(1)
        for path in self.folder.glob("*.pid"):
            end(int(path.read_text()))
        shutil.rmtree(self.folder, ignore_errors=True)

    def said(self, *command):
        done = self.this.run(*command)
        self.this.equal(f"exit status of {command[0]}", done.returncode, 0, said=done.stderr + done.stdout)
        return done.stdout

    def start_controller(self):
        self.said("slurmctld", "-f", self.configuration)

    def stop_controller(self):
        pid = int((self.folder / "ctld.pid").read_text())
        end(pid)
        self.wait("the controller has ended", lambda: not Path(f"/proc/{pid}").exists())

    def start_node(self, node):
        self.said("slurmd", "-N", node, "-f", self.configuration)

    def kill_node(self, node):
        """As a machine that loses its power: slurmd, the daemons of its jobs, and what they run."""
        pids = [int((self.folder / f"slurmd{node}.pid").read_text())]
        for process in Path("/proc").glob("[0-9]*"):
            try:
                is_of_node = f"SLURMD_NODENAME={node}\0".encode() in (process / "environ").read_bytes()
                parent = int((process / "stat").read_bytes().rpartition(b")")[2].split()[1])
                daemon = (Path("/proc") / str(parent) / "comm").read_text().strip()
            except OSError:
                continue
            if is_of_node:
                pids += [int(process.name)] + ([parent] if daemon == "slurmstepd" else [])
        for pid in pids:
            end(pid, signal.SIGKILL)

    def wait(self, what, holds, seconds=120):
        stop = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > stop:
                raise AssertionError(f"{what}: not within {seconds} s: {self.said('squeue')} {self.said('sinfo', '-N')}")
            time.sleep(0.2)

    def queue(self, *options):
        return self.said("squeue", "-h", "-r", *options).split("\n")[:-1]


def end(pid, number=signal.SIGTERM):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def start_munge():
    key = Path("/etc/munge/munge.key")
    for folder in ("/etc/munge", "/run/munge", "/var/log/munge", "/var/lib/munge"):
        os.makedirs(folder, exist_ok=True)
        shutil.chown(folder, "munge", "munge")
    if not key.exists():
        subprocess.run(["mungekey", "-c"], check=True)
    shutil.chown(key, "munge", "munge")
    if subprocess.run(["munge", "-n"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        subprocess.run(["runuser", "-u", "munge", "--", "munged", "--force"], check=True)


def need_slurm():
    case.need_root()
    for program in ("slurmctld", "slurmd", "sbatch", "munged"):
        if shutil.which(program) is None:
            raise case.Skip(f"{program} is not installed (Debian: slurm-wlm)")
