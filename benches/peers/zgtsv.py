#!/usr/bin/env python3
"""A whole Crank-Nicolson step of Ripplon beside LAPACK's zgtsv, which only solves.

Both step the same kind of line: complex double precision, T = 1 + i dt/2 H with a potential of no pattern. zgtsv (Gaussian elimination with partial pivoting,
from scipy's OpenBLAS) factorises and solves one system; Ripplon's figure is a whole time step of a potential that stands still, its matrix factorised once.
The two take turns in one run, so that what else the machine does hits both; each row is the best of its rounds.

    python3 -m venv venv && venv/bin/pip install numpy scipy
    cargo build --release
    venv/bin/python benches/peers/zgtsv.py target/release/ripplon --size 10000000
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np
from scipy.linalg import lapack


def zgtsv_seconds(n: int) -> float:
    """Seconds of one solve; its arguments are overwritten, so nothing is copied inside."""
    x = np.arange(n)
    off = -0.05j
    diagonal = 1.0 + 0.05j * (2.0 + 0.5 * np.sin(91.7 * x))
    right = np.exp(-(((x - n / 2) / (n / 8)) ** 2)).astype(np.complex128).reshape(n, 1, order="F")
    lower = np.full(n - 1, off)
    upper = np.full(n - 1, off)
    begin = time.perf_counter()
    *_, solution, info = lapack.zgtsv(
        lower, diagonal, upper, right, overwrite_dl=1, overwrite_d=1, overwrite_du=1, overwrite_b=1
    )
    seconds = time.perf_counter() - begin
    assert info == 0 and np.isfinite(solution[n // 2, 0])
    return seconds


def ripplon_seconds(binary: str, n: int, threads: int, variant: str) -> float:
    """Seconds of the fastest whole step that `ripplon bench` saw."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.json")
        command = [binary, "bench", "--method", "crank-nicolson", "--backend", "cpu", "--variant", variant, "--precision", "double"]
        command += ["--size", str(n), "--json", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "RAYON_NUM_THREADS": str(threads)})
        with open(path) as file:
            return n / json.load(file)[0]["max"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the ripplon to measure")
    parser.add_argument("--size", type=int, default=10_000_000, help="rows")
    parser.add_argument("--rounds", type=int, default=3, help="how often each takes its turn")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    arguments = parser.parse_args()

    names = [("thomas", 1)] + [("n-partition", threads) for threads in arguments.threads]
    best = {name: float("inf") for name in [("zgtsv", 1), *names]}
    for _ in range(arguments.rounds):
        best["zgtsv", 1] = min(best["zgtsv", 1], zgtsv_seconds(arguments.size))
        for variant, threads in names:
            seconds = ripplon_seconds(arguments.binary, arguments.size, threads, variant)
            best[variant, threads] = min(best[variant, threads], seconds)
    print(f"n = {arguments.size}, complex double, best of {arguments.rounds} rounds that take turns")
    print("| what | threads | ms | zgtsv over it |")
    print("| --- | --- | --- | --- |")
    for (what, threads), seconds in best.items():
        kind = "solve alone" if what == "zgtsv" else "a whole step"
        print(f"| {what}, {kind} | {threads} | {1e3 * seconds:.1f} | {best['zgtsv', 1] / seconds:.2f} |")


if __name__ == "__main__":
    main()
