# SPDX-License-Identifier: Apache-2.0
"""The number of queries per sample and GPU, for four driver versions. With eight GPUs and a millisecond per answer, a
sample takes the sum of its answers: skipped samples are counted and reported, and none are skipped at a lower rate."""

from gpu_case import sampled
from lib import case

# Of a GPU that is not divided, with one process on it; the fake's has no samples of its clock.
QUESTIONS = {440: 26, 470: 26, 535: 31, 580: 31}
GPUS, ANSWER_US = 8, 1000


def questions(this, driver, samples):
    """The queries and samples of a run of about that many samples."""
    calls = this.path(f"calls-{driver}-{samples}")
    trace = sampled(this, driver, samples=samples, options=["--sample-hz=20"], GPUS=1, CALLS=calls)
    return calls.stat().st_size, trace.run["gpu_sampler"]["samples"]


def check_questions(this):
    """Queries made only at the start cancel out in the difference of two runs."""
    for driver, wanted in QUESTIONS.items():
        (few, few_samples), (many, many_samples) = (questions(this, driver, samples) for samples in (3, 13))
        this.equal(f"questions of a sample, driver {driver}", (many - few) / (many_samples - few_samples), wanted)


def check_slow(this, driver, hertz, is_said):
    trace = sampled(this, driver, samples=6, options=[f"--sample-hz={hertz}"], GPUS=GPUS, CALL_US=ANSWER_US)
    sampler = trace.run["gpu_sampler"]
    sample_s = sampler["sample_ns"] / 1e9 / sampler["samples"]
    least_s = GPUS * QUESTIONS[driver] * ANSWER_US / 1e6
    print(f"driver {driver}: {GPUS} GPUs, {QUESTIONS[driver]} questions each: a sample took {sample_s * 1e3:.0f} ms at {hertz} Hz,"
          f" {sampler['samples']} samples, {sampler['late_samples']} left out")
    this.true("no answer is left out of the time", sample_s >= least_s, sampler)
    times = sorted({row["ts"] for row in trace.rows("sample_gpu") if row["gpu_id"] == 1})
    due = (times[-1] - times[0]) / 1e9 * hertz
    this.true("each sample that was due was taken or counted", sampler["samples"] + sampler["late_samples"] >= int(due), sampler)
    rows = trace.covers("samples of the GPUs")
    this.equal("said", bool(rows), is_said, said=sampler)
    if not is_said:
        return
    this.equal("in numbers", (rows[0]["seen"], rows[0]["kernel"]),
               (sampler["samples"], sampler["samples"] + sampler["late_samples"]))
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary says it", "samples of the GPUs" in text, text)


def check(this):
    check_questions(this)
    for driver in (440, 580):
        check_slow(this, driver, 10, True)
        check_slow(this, driver, 0.5, False)


if __name__ == "__main__":
    case.run(check)
