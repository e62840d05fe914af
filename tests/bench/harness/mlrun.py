# SPDX-License-Identifier: Apache-2.0
"""mlrun as a tracer under test. What it recorded is read from the trace's
tables, not from what mlrun says about itself."""

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


def make_mlrun_tracers(program):
    return [
        Mlrun(program, "mlrun", "mlrun --preload", []),
        Mlrun(program, "mlrun-all", "mlrun --preload --alloc-min 0", ["--alloc-min", "0"]),
    ]
