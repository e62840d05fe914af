# SPDX-License-Identifier: Apache-2.0
"""Checks that numbered calls are all there, once. A victim's call carries its number in its offset."""


def expect_all(case, numbers, issued, dropped=0):
    """`numbers` of one thread that issued 0..issued-1 and then ended in whatever way: at most one may miss, if none was
    counted as dropped; none may be there twice."""
    case.equal("numbers recorded twice", len(numbers) - len(set(numbers)), 0)
    case.true("numbers that were never issued", set(numbers) <= set(range(issued)), sorted(set(numbers))[-3:])
    missing = sorted(set(range(issued)) - set(numbers))
    case.true(f"{len(missing)} of {issued} calls are missing, {dropped} counted as dropped",
              len(missing) <= dropped + 1, missing[:5])


def expect_threads(case, serials, issued):
    """`serials` as Trace.serials gives them; `issued`: what each thread issued, in any order."""
    case.equal("recording threads", len(serials), len(issued))
    for numbers, count in zip(sorted(serials.values(), key=len), sorted(issued), strict=True):
        expect_all(case, numbers, count)


def expect_ending_keeps_all(case, how, status, calls=20000):
    """The victim makes numbered calls and ends in the given way: its status is as untraced, and the trace has its calls."""
    data = case.data_file()
    trace = case.trace(case.victim("numbered"), data, calls, how, status=status)
    expect_threads(case, trace.serials(data), [calls])
    case.equal("dropped records", trace.dropped(), 0)
