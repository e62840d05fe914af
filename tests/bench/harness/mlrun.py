# SPDX-License-Identifier: Apache-2.0
"""mlrun as a tracer under test. What it recorded is read from the trace's
tables, not from what mlrun says about itself."""

import os

from tracers import Launch, Recorded, Tracer, first_line, size_of


class Mlrun(Tracer):
    needs_command_clock_inside = True
    is_mlrun = True

    def __init__(self, program, name, about, options):
        self.program_path = program
        self.name = name
        self.about = about
        self.options = options

    def missing(self):
        return None if self.program_path.is_file() else f"{self.program_path} is not built"

    def version(self):
        return first_line([str(self.program_path), "--version"])

    def launch(self, command, folder):
        return Launch(
            [str(self.program_path), "run", "--preload", *self.options, "-o", str(folder / "trace"), "--", *command]
        )

    def recorded(self, folder, ended):
        from trace_folder import lost_records, rows, total

        trace = folder / "trace"
        return Recorded(
            events=rows(trace, "call") + rows(trace, "alloc"),
            counted=total(trace, "alloc_small", "mallocs") + total(trace, "alloc_small", "frees"),
            lost=lost_records(trace),
            size_bytes=size_of(trace),
        )


class MlrunWithKernelSide(Mlrun):
    def missing(self):
        return super().missing() or (None if os.geteuid() == 0 else "the kernel side needs root")


class KernelSideAlone(MlrunWithKernelSide):
    """Without the library: operations on files by functions of the kernel, or by system calls."""

    def __init__(self, program):
        super().__init__(program, "mlrun-calls", "mlrun --preload=off --kprobes=block,wait,vfs", [])

    def launch(self, command, folder):
        options = ["--preload=off", "--kprobes=require,block,wait,vfs"]
        return Launch([str(self.program_path), "run", *options, "-o", str(folder / "trace"), "--", *command])

    def recorded(self, folder, ended):
        from trace_folder import rows

        trace = folder / "trace"
        return Recorded(events=rows(trace, "vfs"), size_bytes=size_of(trace))


class Control(Mlrun):
    """Nothing is recorded; every large block is in mlrun's heap, on the node where the kernel puts it."""

    records = False

    def launch(self, command, folder):
        options = ["--preload=off", "--sample=off", "--place", "-> default"]
        return Launch([str(self.program_path), "run", *options, "-o", str(folder / "trace"), "--", *command])

    def recorded(self, folder, ended):
        return Recorded()


class Null(Tracer):
    """The untraced program once more: what two equal programs differ by."""

    name = "null"
    about = "the program alone, in the place of a tracer"
    records = False
    is_mlrun = True  # has as many pairs


class Neighbour(Tracer):
    """An untraced program on a machine where mlrun observes another one."""

    records = False

    # It is being followed once the other one has begun.
    SCRIPT = """
      "$0" run $OPTIONS --defer-merge -o "$1" -- sleep 1000 >/dev/null 2>&1 &
      until pgrep -P $! -x sleep >/dev/null; do kill -0 $! || exit 1; sleep 0.05; done
      shift
      "$@"
      status=$?
      kill $!
      wait
      exit $status"""

    def __init__(self, mlrun, name, options):
        self.mlrun = mlrun
        self.name = name
        self.options = options
        self.about = f"the program alone, while mlrun {options} follows another one"

    def missing(self):
        return self.mlrun.missing()

    def launch(self, command, folder):
        script = ["sh", "-c", self.SCRIPT, str(self.mlrun.program_path), str(folder / "trace"), *command]
        return Launch(script, {"OPTIONS": self.options})


class OtherBuild:
    """A tracer of another build of mlrun: the same options under a name of its own."""

    def __init__(self, tracer):
        self._tracer = tracer
        self.stands_for = tracer.name
        self.name = f"{tracer.name}-other"
        self.about = f"{tracer.about}, of the other build"

    def __getattr__(self, name):
        return getattr(self._tracer, name)


def make_other_tracers(program):
    """What a build is compared with: only tracers that call it themselves."""
    return [OtherBuild(tracer) for tracer in make_mlrun_tracers(program) if isinstance(tracer, Mlrun)]


def make_mlrun_tracers(program):
    kernel = MlrunWithKernelSide(
        program, "mlrun-kernel", "mlrun --preload --kprobes=block,wait", ["--kprobes=require,block,wait"]
    )
    return [
        kernel,
        KernelSideAlone(program),
        Neighbour(kernel, "neighbour", "--preload --kprobes=require,block,wait"),
        Neighbour(kernel, "neighbour-calls", "--preload=off --kprobes=require,block,wait,vfs"),
        Null(),
        Control(program, "control", "mlrun --preload=off --place '-> default'", []),
        Mlrun(program, "mlrun", "mlrun --preload", []),
        Mlrun(program, "mlrun-cupti", "mlrun --preload --cupti", ["--cupti"]),
        Mlrun(program, "mlrun-stacks", "mlrun --preload --stacks (32 frames)", ["--stacks"]),
        Mlrun(program, "mlrun-all", "mlrun --preload --alloc-min 0", ["--alloc-min", "0"]),
    ]
