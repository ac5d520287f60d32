#!/usr/bin/env python3
"""Try a Python regular expression on examples that must and must not match.

Every search runs in a child process with a time limit, so a pattern with
catastrophic backtracking cannot hang the caller. Only arguments are read;
no file is opened and nothing is written but standard output and error.

Exit status: 0 as expected, 1 a finding, 2 wrong use or a bad pattern.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

FLAGS = {"a": re.A, "i": re.I, "m": re.M, "s": re.S, "x": re.X}
TOTAL_SECONDS = 50.0
STRESS_START = 16
STRESS_CHARS = 64 * 1024
# Below this a measurement is mostly noise, so its growth says nothing.
MEASURABLE_SECONDS = 0.005
# Linear time doubles when the input doubles; quadratic quadruples.
SUPER_LINEAR_RATIO = 3.0

CHILD = r"""
import json, re, sys, time
job = json.load(sys.stdin)
regex = re.compile(job["pattern"], job["flags"])
find = regex.fullmatch if job["full"] else regex.search
best = None
for _ in range(job["repeats"]):
    start = time.perf_counter()
    found = find(job["text"])
    seconds = time.perf_counter() - start
    best = seconds if best is None else min(best, seconds)
answer = {"seconds": best, "span": None, "groups": []}
if found:
    names = {number: name for name, number in regex.groupindex.items()}
    answer["span"] = found.span()
    answer["groups"] = [[names.get(n, str(n)), found.group(n)] for n in range(1, regex.groups + 1)]
json.dump(answer, sys.stdout)
"""


def interpreter():
    """Finds Python even when the environment holds no PATH and it does not know itself."""
    found = sys.executable or shutil.which("python3") or shutil.which("python3", path=os.defpath)
    if not found:
        sys.exit("try_regex: cannot find the Python interpreter; run with `python3` by its full path")
    return found


class Trial:
    """One pattern, its options, and the time that is left for all searches."""

    def __init__(self, args, flags):
        self.pattern = args.pattern
        self.flags = flags
        self.full = args.full
        self.limit = args.limit
        self.python = interpreter()
        self.deadline = time.monotonic() + TOTAL_SECONDS

    def search(self, text, repeats=1):
        """Returns the child's answer, or None when it ran out of time."""
        left = min(self.limit, self.deadline - time.monotonic())
        if left <= 0:
            return None
        job = {
            "pattern": self.pattern,
            "flags": self.flags,
            "full": self.full,
            "text": text,
            "repeats": repeats,
        }
        try:
            child = subprocess.run(
                [self.python, "-I", "-W", "ignore", "-c", CHILD],
                input=json.dumps(job).encode("ascii"),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=left,
            )
        except subprocess.TimeoutExpired:
            return None
        if child.returncode != 0:
            detail = child.stderr.decode("utf-8", "replace").strip().splitlines()
            sys.exit("try_regex: the search failed: " + (detail[-1] if detail else "no message"))
        return json.loads(child.stdout.decode("ascii"))


def shown(text, width=60):
    quoted = ascii(text)
    return quoted if len(quoted) <= width else quoted[: width - 4] + "..." + quoted[-1]


def check_example(trial, text, expected):
    """Prints one line; returns whether the answer was the expected one."""
    answer = trial.search(text)
    if answer is None:
        print(f"TIME  {shown(text)}  no answer within the limit")
        return False
    matched = answer["span"] is not None
    verdict = "ok   " if matched == expected else "WRONG"
    if matched:
        start, end = answer["span"]
        detail = f"matches {start}..{end}"
        groups = [f"{name}={shown(value)}" for name, value in answer["groups"] if value is not None]
        if groups:
            detail += "  " + " ".join(groups)
    else:
        detail = "does not match"
    print(f"{verdict} {shown(text)}  {detail}")
    return matched == expected


def check_growth(trial, prefix, pump, suffix):
    """Doubles the pumped part; returns whether the time grew about linearly."""
    count, before, slow = STRESS_START, None, 0
    print(f"stress {shown(prefix)} + {shown(pump)} * n + {shown(suffix)}")
    while count * len(pump) <= STRESS_CHARS:
        answer = trial.search(prefix + pump * count + suffix, repeats=3)
        if answer is None:
            print(f"  n={count:<6} no answer within the limit")
            print("SLOW  the time grows faster than the text: backtracking")
            return False
        seconds = answer["seconds"]
        print(f"  n={count:<6} {seconds * 1000:10.3f} ms")
        if before is not None and before >= MEASURABLE_SECONDS:
            slow = slow + 1 if seconds / before >= SUPER_LINEAR_RATIO else 0
        if slow >= 2:
            print("SLOW  each doubling of the text takes over three times as long")
            return False
        count, before = count * 2, seconds
    print("ok    no super-linear growth seen with this text")
    return True


def arguments():
    parser = argparse.ArgumentParser(description="Try a Python regular expression on examples.")
    parser.add_argument("pattern")
    parser.add_argument("--yes", action="append", default=[], metavar="TEXT", help="must match")
    parser.add_argument("--no", action="append", default=[], metavar="TEXT", help="must not match")
    parser.add_argument("--full", action="store_true", help="match the whole text")
    parser.add_argument("--flags", default="", help="letters of aimsx")
    parser.add_argument("--stress", nargs=3, metavar=("PREFIX", "PUMP", "SUFFIX"))
    parser.add_argument("--limit", type=float, default=2.0, metavar="SECONDS")
    args = parser.parse_args()
    unknown = sorted(set(args.flags) - set(FLAGS))
    if unknown:
        parser.error("unknown flag: " + ", ".join(unknown))
    if not 0.5 <= args.limit <= 20:
        parser.error("--limit must be between 0.5 and 20")
    if args.stress and not args.stress[1]:
        parser.error("PUMP must not be empty")
    if not (args.yes or args.no or args.stress):
        parser.error("give at least one of --yes, --no or --stress")
    return args


def main():
    args = arguments()
    flags = 0
    for letter in args.flags:
        flags |= int(FLAGS[letter])
    try:
        re.compile(args.pattern, flags)
    except re.error as error:
        print(f"try_regex: the pattern does not compile: {error.msg}", file=sys.stderr)
        if error.pos is not None and "\n" not in args.pattern:
            print("  " + args.pattern, file=sys.stderr)
            print("  " + " " * error.pos + "^", file=sys.stderr)
        return 2
    except (OverflowError, RecursionError) as error:
        print(f"try_regex: the pattern does not compile: {error}", file=sys.stderr)
        return 2

    trial = Trial(args, flags)
    results = []
    empty = trial.search("")
    if empty is not None and empty["span"] is not None:
        print("note  the pattern matches the empty text")
    results += [check_example(trial, text, True) for text in args.yes]
    results += [check_example(trial, text, False) for text in args.no]
    if args.stress:
        results.append(check_growth(trial, *args.stress))
    wrong = results.count(False)
    print(f"{len(results)} checked, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
