# SPDX-License-Identifier: Apache-2.0
"""A program with a hot and a cold table, of which one fits into the fast memory: huge pages. Whatever the machine's times are: the chosen
table and the prediction follow from the stored figures of the calibration, and each verdict from those of its runs, both computed again by
SciPy. One trial is judged against predictions that its figures bear out, contradict and cannot tell. Then the program changes its mind, and
the same advice makes it several times slower: its prediction never holds. CPU time is compared, as the machine may be busy."""

import json
import math
import re
import sqlite3
import statistics
import tomllib
from contextlib import closing

from scipy import stats

from lib import case

MIB, READS, BLOCKS = 64, 2_000_000, 8
HELD, FAILED, CANNOT_TELL = "the prediction held", "the prediction did not hold", "cannot tell whether the prediction holds: "


def advise(this, *words):
    return this.run(case.MLRUN, "advise", *words, "--quiet", timeout=900)


def times(folder):
    """CPU time of each configuration's runs, by block."""
    with closing(sqlite3.connect(folder / "sweep.sqlite")) as database:
        rows = database.execute("SELECT configuration, block, sum(value) FROM run JOIN figure ON run_id = run.id"
                                " WHERE state = 'done' AND name IN ('user_s', 'sys_s') GROUP BY run.id").fetchall()
    found = {}
    for configuration, block, value in rows:
        found.setdefault(configuration, {})[block] = value
    return found


def options_of(folder):
    """Of each configuration."""
    with closing(sqlite3.connect(folder / "sweep.sqlite")) as database:
        (plan,), = database.execute("SELECT text FROM plan")
    return {row["name"]: row["options"] for row in tomllib.loads(plan)["configuration"]}


def signatures(folder):
    """Of the site that each configuration has on the fast memory, by the configuration's name."""
    return {name: found[1] for name, options in options_of(folder).items() if (found := re.search(r" and site (\S+) -> ", " ".join(options)))}


def check_heaps(this, folder, file):
    """A budget decides how the heap of a rule works: the rules for the fast memory have one in each measured placement, as in the file, and no others."""
    for name, options in options_of(folder).items():
        rules = [rule for rule in options if " -> " in rule]
        this.true(f"{name}: has rules", rules, options)
        for rule in rules:
            this.equal(f"{name}: {rule}: has a budget", " budget " in rule, "-> huge" in rule)
    this.equal("rules of the file with a budget", ["budget" in rule for rule in file["rule"]], [rule["to"] == "huge" for rule in file["rule"]], file["rule"])


def interval(ratios):
    """95 %, of the geometric mean of positive ratios, as a change."""
    logs = [math.log(ratio) for ratio in ratios]
    low, high = stats.t.interval(0.95, len(logs) - 1, statistics.fmean(logs), stats.sem(logs))
    return math.expm1(low), math.expm1(high)


def found_change(folder):
    """Of advised against far runs, as a mean and its interval: paired, on logarithms."""
    by_name = times(folder)
    far, advised = by_name["far"], by_name["advised"]
    ratios = [advised[block] / far[block] for block in sorted(far.keys() & advised.keys())]
    return statistics.geometric_mean(ratios) - 1, *interval(ratios)


def placed_blocks(folder):
    """Of each advised run, how many the rule of the chosen sites got."""
    with closing(sqlite3.connect(folder / "sweep.sqlite")) as database:
        runs = [run for (run,) in database.execute("SELECT folder FROM run WHERE state = 'done' AND configuration = 'advised'")]
    processes = [json.loads((folder / "runs" / run / "run.json").read_text(encoding="utf-8"))["placement"]["processes"] for run in runs]
    return [sum(process["rules"][0]["matches"] for process in one) for one in processes]


def prediction_of(rules):
    said = tomllib.loads(rules.read_text(encoding="utf-8"))["advice"]["prediction"]
    return said["low"], said["high"]


def verdict(said, found):
    if said[1] < found[0] or found[1] < said[0]:
        return FAILED
    return CANNOT_TELL if any(low <= 0 <= high for low, high in (said, found)) else HELD


def check_advice(this, folder, rules, said):
    """What was chosen, and what was predicted, from the times of calibration."""
    by_name = times(folder)
    this.equal("what was run", sorted(by_name), ["far", "near", "site1", "site2"])
    this.equal("in whole blocks", {len(runs) for runs in by_name.values()}, {BLOCKS})
    near, far = by_name["near"], by_name["far"]
    saved = {name: statistics.fmean(far[block] - by_name[name][block] for block in far) for name in ("site1", "site2")}
    best = max(saved, key=saved.get)
    chosen = [best] if saved[best] > 0 else []
    file = tomllib.loads(rules.read_text(encoding="utf-8"))
    check_heaps(this, folder, file)
    this.equal("the site that gains most is chosen", [[",".join(site) for site in rule["site"]] for rule in file["rule"] if "site" in rule],
               [[signatures(folder)[site]] for site in chosen], said)
    if not chosen:
        raise case.Skip("neither table is faster on huge pages here")
    share = saved[best] / sum(max(0, gain) for gain in saved.values())
    this.true("its gain", abs(file["advice"]["gain"] - share) < 2e-6, (file["advice"]["gain"], share))
    low, high = interval([by_name[best][block] / far[block] for block in far])
    # What the sites save alone does not quite add up to what they save together.
    rest = statistics.fmean((by_name["site1"][block] + by_name["site2"][block] - far[block] - near[block]) / far[block] for block in far)
    wanted = (math.sqrt((1 + low) * (1 + high)) - 1, low - abs(rest) / 2, high + abs(rest) / 2)
    got = tuple(file["advice"]["prediction"][key] for key in ("change", "low", "high"))
    this.true("the prediction", max(abs(one - other) for one, other in zip(got, wanted, strict=True)) < 2e-6, (got, wanted))


def judged(this, rules, folder):
    """The verdict on the file's prediction by the folder's runs: what is printed is what follows from their figures."""
    done = advise(this, rules, "--try", folder)
    said = done.stdout
    this.true("it is judged", done.returncode in (0, 1), done.stderr)
    change, *found = found_change(folder)
    wanted = verdict(prediction_of(rules), found)
    this.true(f"{prediction_of(rules)} and {found}: {wanted}", said.splitlines()[-1].startswith(wanted), said)
    this.equal("exit status", done.returncode, 1 if wanted == FAILED else 0, said)
    this.true("what would tell is said", (" would tell" in said) == (wanted == CANNOT_TELL), said)
    advised = next(line for line in said.splitlines() if line.startswith("advised "))
    shown = [float(number) for number in re.findall(r"([-+]?[\d.]+)(?= %| to )", advised)]
    this.true("the change is shown", len(shown) == 3 and all(abs(one - 100 * other) <= 0.51
              for one, other in zip(shown, (change, *found), strict=True)), (advised, change, found))
    return wanted


def with_prediction(rules, low, high):
    text = rules.read_text(encoding="utf-8")
    for key, value in (("low", low), ("high", high)):
        text = re.sub(rf"(?m)^{key} = .*$", f"{key} = {value!r}", text)
    rules.write_text(text, encoding="utf-8")


def check_verdicts(this, rules, folder):
    """Other predictions against runs that were made."""
    _, low, high = found_change(folder)
    for said, wanted in (((low, high), HELD if low > 0 or high < 0 else CANNOT_TELL), ((min(-0.001, low), max(0.001, high)), CANNOT_TELL),
                         ((high + 0.1, high + 0.2), FAILED)):
        with_prediction(rules, *said)
        this.equal(f"predicted {said}", judged(this, rules, folder), wanted)


def check(this):
    case.need_huge_pages()
    what = this.path("what")
    what.write_text("dense", encoding="ascii")
    trace = this.trace(this.victim("hot_and_cold"), MIB, READS, what, options=("--stacks=16", "--alloc-min=64K"))
    rules, calibration = this.path("rules.toml"), this.path("calibration")
    done = advise(this, trace.folder, "--fast", f"huge={MIB + 1}M", "--figure", "cpu", "--blocks", str(BLOCKS), "-o", rules, "--calibrate", calibration)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    check_advice(this, calibration, rules, done.stdout)
    judged(this, rules, this.path("dense"))
    this.equal("blocks that were placed as advised", placed_blocks(this.path("dense")), [1] * BLOCKS)
    what.write_text("sparse", encoding="ascii")
    this.true("wrong advice does not hold", judged(this, rules, this.path("sparse")) != HELD)
    this.equal("and these", placed_blocks(this.path("sparse")), [1] * BLOCKS)
    check_verdicts(this, rules, this.path("sparse"))
    this.equal("runs of a trial that is judged again", {len(runs) for runs in times(this.path("sparse")).values()}, {BLOCKS})


if __name__ == "__main__":
    case.run(check)
