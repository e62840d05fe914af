# SPDX-License-Identifier: Apache-2.0
"""Process group, session, terminal and signals in every way that commands are started and signalled: what the command
and the shell print about them is the same untraced and traced. Arguments select situations by name."""

import ctypes
import os
import re
import shlex
import shutil
import signal
import sys

from lib import case, jobs
from lib.terminal import Terminal, state_of, wait_until

SITUATIONS = []


def situation(function):
    SITUATIONS.append(function)
    return function


@situation
def foreground_and_ctrl_c(run):
    shell = run.shell()
    shell.line(run.line())
    run.wait_for("ready")
    shell.keys("\x03")
    run.wait_for("signal 2")
    run.leave(shell)


@situation
def background_killed_by_job_and_by_process(run):
    shell = run.shell()
    shell.line(run.line("children") + " &")
    run.wait_for("ready", 3)
    shell.line("kill %1")
    run.wait_for("signal 15", 3)
    shell.line("kill -USR2 $!")
    run.wait_for("signal 12")
    run.end()
    shell.line("wait %1")
    run.note(shell.say_status())
    shell.keys("\x04")
    shell.end()


@situation
def ctrl_z_and_fg(run):
    shell = run.shell()
    shell.line(run.line())
    run.wait_for("ready")
    shell.keys("\x1a")
    shell.wait_for("Stopped")
    run.note("command", state_of(run.pid()))
    run.note("jobs", re.findall(r"Stopped[^ ]*", shell.text))
    shell.line("fg")
    run.wait_for("signal 18")
    shell.keys("\x03")
    run.wait_for("signal 2")
    run.leave(shell)


@situation
def stopped_alone_in_the_foreground_and_fg(run):
    shell = run.shell()
    shell.line(run.line())
    run.wait_for("ready")
    os.kill(run.child_of(shell), signal.SIGSTOP)
    shell.wait_for("Stopped")
    wait_until("stopped", lambda: state_of(run.pid()) == "T")
    run.settle()
    shell.line("fg")
    run.wait_for("signal 18")
    run.wait_for_foreground(shell)
    shell.keys("\x03")
    run.wait_for("signal 2")
    run.leave(shell)


@situation
def ctrl_z_bg_and_fg(run):
    shell = run.shell()
    shell.line(run.line())
    run.wait_for("ready")
    shell.keys("\x1a")
    shell.wait_for("Stopped")
    shell.line("bg")
    run.wait_for("signal 18")
    shell.line("fg")
    run.wait_for_foreground(shell)
    shell.keys("\x03")
    run.wait_for("signal 2")
    run.leave(shell)


@situation
def reads_the_terminal_in_the_background(run):
    shell = run.shell()
    shell.line(run.line("reads") + " &")
    run.wait_for("ready")
    wait_until("stopped", lambda: state_of(run.pid()) == "T")
    run.settle()
    shell.line("jobs")
    shell.wait_for("Stopped")
    run.note(re.findall(r"Stopped(?:\([^)]*\))?", shell.text)[:1])
    shell.line("fg")
    run.wait_for("signal 18")
    shell.keys("hello\n")
    run.wait_for("read 6 'hello'")
    run.leave(shell)


@situation
def fg_of_a_job_that_runs(run):
    shell = run.shell()
    shell.line(run.line() + " &")
    run.wait_for("ready")
    shell.line("fg")
    run.wait_for_foreground(shell)
    shell.keys("\x03")
    run.wait_for("signal 2")
    run.leave(shell)


@situation
def writes_in_the_background_with_tostop(run):
    shell = run.shell()
    shell.line("stty tostop")
    shell.line(run.line("writes") + " &")
    run.wait_for("ready")
    wait_until("stopped", lambda: state_of(run.pid()) == "T")
    run.settle()
    shell.line("jobs")
    shell.wait_for("Stopped")
    run.note(re.findall(r"Stopped(?:\([^)]*\))?", shell.text)[:1])
    shell.line("fg")
    run.wait_for("wrote 7")
    run.leave(shell)


@situation
def own_group_and_a_line_of_the_terminal(run):
    shell = run.shell()
    shell.line(run.line("own_group"))
    run.wait_for("foreground", 2)
    shell.keys("hello\n")
    run.wait_for("read 6 'hello'")
    shell.keys("\x03")
    run.wait_for("signal 2")
    run.leave(shell)


@situation
def leader_of_the_session_of_a_terminal(run):
    terminal = Terminal(run.command("own_group"), run.environment, run.folder)
    run.wait_for("foreground", 2)
    terminal.keys("hello\n")
    run.wait_for("read 6 'hello'")
    terminal.keys("\x03")
    run.wait_for("signal 2")
    run.end()
    run.note(terminal.end())


@situation
def middle_of_a_pipeline(run):
    shell = run.shell()
    shell.line(f"sleep 0.01 | {run.line('children')} | cat")
    run.wait_for("ready", 3)
    shell.keys("\x03")
    run.wait_for("signal 2", 3)
    run.leave(shell)


@situation
def first_of_a_pipeline_to_less(run):
    """The first command of a traced pipeline is not the group leader, since mlrun is; that is documented."""
    shell = run.shell()
    shell.line(f"{run.line('children')} | less")
    run.wait_for("ready", 3)
    shell.wait_for("Press RETURN")  # before that, Ctrl-C ends less
    shell.keys("\x03")
    run.wait_for("signal 2", 3)
    run.end()
    shell.keys("\n")
    shell.wait_for("(END)")
    shell.keys("q")
    wait_until("the end of less", lambda: os.tcgetpgrp(shell.master) == shell.process.pid)
    run.note(shell.say_status())
    shell.keys("\x04")
    shell.end()
    run.log.write_text(run.log.read_text().replace("leader 1", "leader ?").replace("leader 0", "leader ?"))


@situation
def shell_without_job_control(run):
    terminal = Terminal(["sh", "-c", run.line("children") + '; echo "status=$?"'], run.environment, run.folder)
    run.wait_for("ready", 3)
    terminal.keys("\x03")
    run.wait_for("signal 2", 3)
    run.end()
    run.note(terminal.end())


@situation
def ctrl_z_where_the_shell_is_gone(run):
    """The kernel stops no process of an orphaned group."""
    terminal = Terminal(["sh", "-c", run.line() + '; echo "status=$?"'], run.environment, run.folder)
    run.wait_for("ready")
    terminal.keys("\x1a")
    run.settle()
    run.note(state_of(run.pid()) == "T")
    run.end()
    run.note(terminal.end())


@situation
def timeout_ends_it(run):
    done = run.start("timeout", "1", *run.command())
    run.wait_for("signal 15")
    run.end()
    run.note(done.wait(60))
    # It signals the process, then the group, at once: these two may be one, untraced too.
    run.log.write_text("".join(dict.fromkeys(run.log.read_text().splitlines(keepends=True))))


@situation
def nohup_and_a_hangup(run):
    done = run.start("nohup", *run.command(), start_new_session=True)
    run.wait_for("ready")
    os.kill(done.pid, signal.SIGHUP)
    run.wait_for("signal 1")
    os.killpg(done.pid, signal.SIGHUP)
    run.wait_for("signal 1", 2)
    run.end()
    run.note(done.wait(60))


@situation
def setsid_and_its_group(run):
    done = run.start("setsid", "-w", *run.command("children"))
    run.wait_for("ready", 3)
    os.killpg(done.pid, signal.SIGTERM)  # it has become the command, which leads the session
    run.wait_for("signal 15", 3)
    run.end()
    run.note(done.wait(60))


@situation
def xargs_starts_it(run):
    words = run.command()
    done = run.start("sh", "-c", f"echo {shlex.quote(words[-1])} | xargs {shlex.join(words[:-1])}", start_new_session=True)
    run.wait_for("ready")
    os.killpg(done.pid, signal.SIGUSR1)
    run.end()
    run.note(done.wait(60) < 0)


@situation
def signals_to_the_group_and_to_one(run):
    done = run.start(*run.command("children"), start_new_session=True)
    run.wait_for("ready", 3)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGURG):
        os.killpg(done.pid, number)
        run.wait_for(f"signal {int(number)}", 3)
    for number in (signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM):
        os.kill(done.pid, number)
        run.wait_for(f"signal {int(number)}")
    run.end()
    run.note(done.wait(60))


@situation
def member_of_a_group_that_is_signalled(run):
    """As a step of a job script."""
    done = run.start("bash", "-c", f"trap '' TERM USR1; {run.line('children')} & trap 'wait' TERM; wait; wait; echo over", start_new_session=True)
    run.wait_for("ready", 3)
    os.killpg(done.pid, signal.SIGTERM)
    run.wait_for("signal 15", 3)
    run.end()
    run.note(done.wait(60))


@situation
def values_are_queued_in_order(run):
    done = run.start(*run.command())
    run.wait_for("ready")
    sigqueue = ctypes.CDLL(None, use_errno=True).sigqueue
    for value in range(200):
        run.this.equal("sigqueue", sigqueue(done.pid, signal.SIGRTMIN + 3, ctypes.c_void_p(value)), 0)
    run.wait_for(f"signal {signal.SIGRTMIN + 3}", 200)
    run.end()
    run.note(done.wait(60))


@situation
def stopped_and_continued_alone(run):
    done = run.start(*run.command())
    run.wait_for("ready")
    os.kill(done.pid, signal.SIGSTOP)
    wait_until("stopped", lambda: state_of(run.pid()) == "T")
    run.settle()
    os.kill(done.pid, signal.SIGCONT)
    run.wait_for("signal 18")
    run.end()
    run.note(done.wait(60))


@situation
def group_stopped_and_continued(run):
    done = run.start(*run.command("children"), start_new_session=True)
    run.wait_for("ready", 3)
    os.killpg(done.pid, signal.SIGSTOP)
    wait_until("stopped", lambda: state_of(run.pid()) == "T")
    run.settle()
    os.killpg(done.pid, signal.SIGCONT)
    run.wait_for("signal 18", 3)
    run.end()
    run.note(done.wait(60))


@situation
def group_killed(run):
    done = run.start(*run.command("children"), start_new_session=True)
    run.wait_for("ready", 3)
    pid = run.pid()
    os.killpg(done.pid, signal.SIGKILL)
    run.note(done.wait(60))
    wait_until("dead", lambda: state_of(pid) in ("", "Z") and run.pid() == 0)


@situation
def command_itself_stopped_and_continued(run):
    done = run.start(*run.command())
    run.wait_for("ready")
    os.kill(run.pid(), signal.SIGSTOP)
    wait_until("stopped", lambda: state_of(run.pid()) == "T")
    run.settle()
    os.kill(run.pid(), signal.SIGCONT)
    run.wait_for("signal 18")
    run.end()
    run.note(done.wait(60))


@situation
def command_stops_itself(run):
    shell = run.shell()
    shell.line(run.line("stops"))
    shell.wait_for("Stopped")
    run.note(re.findall(r"Stopped(?:\([^)]*\))?", shell.text)[:1])
    shell.line("fg")
    run.wait_for("signal 18")
    run.leave(shell)


@situation
def command_signals_its_group(run):
    script = f"trap 'echo group' USR1; {run.line('kills_group')} & wait; wait; touch {run.log}.end; wait"
    run.note(run.start("bash", "-c", script, start_new_session=True).communicate(timeout=60)[0])


@situation
def command_signals_its_parent(run):
    script = f"trap 'echo parent; touch {run.log}.end' USR1; {run.line('kills_parent')} & wait; wait"
    run.note(run.start("bash", "-c", script, start_new_session=True).communicate(timeout=60)[0])


@situation
def terminated_while_it_is_stopped(run):
    shell = run.shell()
    shell.line(run.line("plain"))
    run.wait_for("ready")
    shell.keys("\x1a")
    shell.wait_for("Stopped")
    shell.line("kill %1")
    wait_until("ended", lambda: run.pid() == 0, 20)
    shell.line("exit")
    shell.line("exit")
    shell.end()


@situation
def job_control_inside(run):
    shell = run.shell()
    shell.line(shlex.join(run.words("bash", "--norc", "--noprofile", "--noediting", "-i")))
    shell.line('echo "inner"=$((40 + 2))')
    shell.wait_for("inner=42")
    shell.line(shlex.join([run.this.victim("job"), str(run.log)]))
    run.wait_for("ready")
    shell.keys("\x1a")
    shell.wait_for("Stopped")
    shell.line("fg")
    run.wait_for("signal 18")
    shell.keys("\x03")
    run.wait_for("signal 2")
    run.end()
    run.note(shell.say_status())
    shell.line("exit 4")
    run.note(shell.say_status())
    shell.keys("\x04")
    shell.end()


@situation
def terminal_that_closes(run):
    shell = run.shell()
    shell.line(run.line() + " & " + "wait")
    run.wait_for("ready")
    shell.hang_up()
    run.wait_for("signal 1")
    run.end()
    shell.process.wait(60)
    run.log.write_text("".join(sorted(set(run.log.read_text().splitlines(keepends=True)))))


@situation
def window_of_tmux(run):
    if not shutil.which("tmux"):
        return
    tmux = ["tmux", "-L", f"mlrun{os.getpid()}{run.traced}", "-f", "/dev/null"]
    run.start(*tmux, "new-session", "-d", "-x", "80", "-y", "25", shlex.join(["bash", "--norc", "-i"])).communicate(timeout=60)
    run.start(*tmux, "send-keys", run.line("own_group"), "Enter").communicate(timeout=60)
    run.wait_for("foreground", 2)
    run.start(*tmux, "send-keys", "hello", "Enter").communicate(timeout=60)
    run.wait_for("read 6 'hello'")
    run.start(*tmux, "send-keys", "C-c").communicate(timeout=60)
    run.wait_for("signal 2")
    run.end()
    run.start(*tmux, "kill-server").communicate(timeout=60)


def check(this):
    jobs.compare(this, [function for function in SITUATIONS if len(sys.argv) < 2 or function.__name__ in sys.argv[1:]])


if __name__ == "__main__":
    case.run(check)
