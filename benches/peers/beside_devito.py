#!/usr/bin/env python3
"""Devito's three-dimensional acoustic wave beside `ripplon bench`, in one run, with the ratios.

Both step p_tt = c^2 Laplacian(p), second order in time, 2nd to 8th order in space, one speed, single precision, two levels of
pressure kept; Devito keeps three (its TimeFunction), compiled by gcc -O3 -march=native with OpenMP and its own blocking.

    python3 -m venv /tmp/devito && /tmp/devito/bin/pip install devito
    cargo build --release
    /tmp/devito/bin/python benches/peers/beside_devito.py [--size 384] [--threads 2] [--orders 2 4 8] [--ripplon target/release/ripplon]

Devito needs a C compiler (gcc) on PATH. Each side is measured `--rounds` times in turn; the table shows the best of each, since what disturbs a
measurement only makes it slower. The last column is the rate over what 12 B a cell (8 read, 4 written) allow at the in-place rate of `ripplon bench`.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile


def devito_rate(order, size, threads, seconds):
    """Cells a second of one Devito operator, warm."""
    os.environ.setdefault("DEVITO_ARCH", "gcc")
    os.environ.setdefault("DEVITO_LANGUAGE", "openmp")
    os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ.setdefault("DEVITO_LOGGING", "ERROR")
    from devito import Constant, Eq, Grid, Operator, TimeFunction, solve
    import time

    grid = Grid(shape=(size,) * 3, extent=(float(size - 1),) * 3)
    p = TimeFunction(name="p", grid=grid, time_order=2, space_order=order)
    speed = Constant(name="c", value=1.0)
    update = Eq(p.forward, solve(p.dt2 - speed * speed * p.laplace, p.forward))
    operator = Operator([update], opt=("advanced", {"openmp": True}))
    middle = size // 2
    p.data[:, middle, middle, middle] = 1.0
    # The first call compiles.
    operator.apply(time_m=1, time_M=2, dt=0.1)
    steps = 4
    best = 0.0
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or best == 0.0:
        start = time.perf_counter()
        operator.apply(time_m=1, time_M=steps, dt=0.1)
        best = max(best, steps * size**3 / (time.perf_counter() - start))
    return best


def ripplon_rows(program, orders, size, threads):
    """The rows of `ripplon bench` for all variants."""
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.json"
        subprocess.run(
            [program, "bench", "--method", "fdtd", "--backend", "cpu", "--precision", "single", "--uniform", "--quick"]
            + ["--order", *map(str, orders), "--size", "x".join([str(size)] * 3), "--json", str(rows)],
            check=True,
            env={**os.environ, "RAYON_NUM_THREADS": str(threads)},
        )
        return json.loads(rows.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=384)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--orders", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of Devito, a round and order")
    parser.add_argument("--ripplon", default="target/release/ripplon")
    args = parser.parse_args()

    peer, own, share = {}, {}, {}
    for _ in range(args.rounds):
        for order in args.orders:
            rate = devito_rate(order, args.size, args.threads, args.seconds)
            peer[order] = max(rate, peer.get(order, 0.0))
        for row in ripplon_rows(args.ripplon, args.orders, args.size, args.threads):
            key = row["order"], row["variant"]
            if row["max"] > own.get(key, 0.0):
                own[key] = row["max"]
                # Of one pass that reads 8 B and writes 4 B a cell.
                share[key] = row["share_of_copy"] * row["max"] / row["site_steps_per_s"]

    print(f"\n{args.size}^3, single precision, one speed, {args.threads} threads; Gcells/s, best of {args.rounds} rounds")
    print(f"{'order':>5} {'variant':<14} {'ripplon':>8} {'Devito':>8} {'ratio':>6} {'of in-place rate':>17}")
    for (order, variant), rate in sorted(own.items()):
        ratio = rate / peer[order]
        print(f"{order:>5} {variant:<14} {rate / 1e9:>8.2f} {peer[order] / 1e9:>8.2f} {ratio:>6.2f} {100 * share[order, variant]:>16.0f}%")


if __name__ == "__main__":
    main()
