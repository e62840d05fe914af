# SPDX-License-Identifier: Apache-2.0
"""Events are read in one of two ways, by whether their texts have escapes. The same events, written with escapes and without, have the same rows."""

import json
import random

from lib import case
from lib.imported import TABLES_OF_EVENTS, imported


def text(of, places):
    return "".join(of.choice("abcXYZ019 _:/.<>()+-{}[],=") for _ in range(of.choice(places)))


def events(of):
    for number in range(3000):
        common = {"pid": of.choice([1, 2, "main"]), "tid": of.randrange(5), "ts": number + of.random(), "name": text(of, (0, 1, 7, 15, 16, 17, 70)), "cat": of.choice(["cpu_op", "kernel", "io"])}
        args = {text(of, (1, 5, 20)): of.choice([1, -1.5, True, None, text(of, (0, 3, 64, 200)), [[1, 2], []], {"deep": [{}]}]) for _ in range(of.randrange(6))}
        kind = of.choice("XXXXBEiCsfbePMR")
        yield common | {"ph": kind, "args": args} | of.choice([{}, {"id": f"0x{number:x}"}, {"s": "p", "cname": "good"}, {"sf": 3}, {"bp": "e"}]) | (
            {"dur": round(of.random() * 100, 3)} if kind == "X" else {})
        if number % 10 == 0:
            yield {"ph": "X", "cat": "kernel", "name": text(of, (20,)), "pid": 0, "tid": 7, "ts": number, "dur": 1,
                   "args": {"device": 0, "stream": 7, "correlation": number, "grid": [1, 2, 3], "queued": text(of, (0, 40))}}


def escaped(value):
    """JSON in which the first letter of each text is an escape."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{escaped(key)}:{escaped(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(escaped, value)) + "]"
    written = json.dumps(value)
    return f'"\\u{ord(value[0]):04x}{written[2:]}' if isinstance(value, str) and value else written


def value_of(cell):
    try:
        return json.loads(cell) if isinstance(cell, str) and cell[:1] == "{" else cell
    except ValueError:  # a name
        return cell


def rows_of(trace, table):
    """As they are in the file; JSON as a value, since escapes in it stay."""
    return [tuple(map(value_of, row)) for row in trace.rows(table)]


def check(this):
    made = list(events(random.Random(5)))
    plain, other = this.path("plain.json"), this.path("escaped.json")
    plain.write_text('{"traceEvents":[' + ",\n".join(json.dumps(event) for event in made) + "]}", encoding="utf-8")
    other.write_text('{"traceEvents":[' + ",\n".join(map(escaped, made)) + "]}", encoding="utf-8")
    one, two = imported(this, plain), imported(this, other)
    this.equal("events", one.events(), two.events())
    this.equal("what was left out", one.left_out(), two.left_out())
    for table in TABLES_OF_EVENTS:
        this.equal(f"rows of {table}", rows_of(one, table), rows_of(two, table))
    this.true("slices and GPU work", one.count("slice") > 1000 and one.count("gpu_kernel") > 200, (one.count("slice"), one.count("gpu_kernel")))


if __name__ == "__main__":
    case.run(check)
