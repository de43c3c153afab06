#!/usr/bin/env python3
"""k-Wave and Ripplon's finite differences beside the exact solution: a Gaussian pulse of pressure in the open plane.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy scipy k-wave-python==0.6.2
    /tmp/peers/bin/python benches/peers/beside_kwave.py target/release/ripplon

Exact: p(r, t) = w^2 Int k exp(-w^2 k^2 / 2) J0(kr) cos(kct) dk. Both programs have absorbing edges of 20 sites and step the same sites with the same step; k-Wave is its NumPy
solver (pseudospectral, k-space corrected), in double precision. The figures are the largest difference over the largest exact pressure at each receiver, until the pulse has left.
"""

import csv
import subprocess
import sys
import tempfile
import urllib.request

import numpy as np
from scipy.integrate import quad_vec
from scipy.special import j0


def no_binaries(*_):
    raise TimeoutError("the NumPy solver needs none")


# k-Wave asks GitHub for its compiled solvers when it is imported.
urllib.request.urlretrieve = no_binaries
from kwave.kgrid import kWaveGrid  # noqa: E402
from kwave.kmedium import kWaveMedium  # noqa: E402
from kwave.ksensor import kSensor  # noqa: E402
from kwave.ksource import kSource  # noqa: E402
from kwave.kspaceFirstOrder import kspaceFirstOrder  # noqa: E402

C, A, N, LAYER = 343.0, 0.01, 121, 20
MIDDLE = N // 2
RECEIVERS = [(20, 0), (24, 18), (35, 10)]
COURANT, STEPS = 0.3, 400


def exact(width, r, times):
    def integrand(k):
        return width**2 * k * np.exp(-((width * k) ** 2) / 2) * j0(k * r) * np.cos(k * C * times)

    return quad_vec(integrand, 0, 9 / width, epsabs=1e-9, limit=2000)[0]


def kwave(width):
    total = N
    grid = kWaveGrid([total, total], [A, A])
    step = COURANT * A / C
    grid.setTime(STEPS + 1, step)
    x = (np.arange(total) - MIDDLE) * A
    source = kSource()
    source.p0 = np.exp(-(x[:, None] ** 2 + x[None, :] ** 2) / (2 * width**2))
    mask = np.zeros((total, total))
    for i, j in RECEIVERS:
        mask[MIDDLE + i, MIDDLE + j] = 1
    medium = kWaveMedium(sound_speed=C, density=1.2)
    result = kspaceFirstOrder(
        grid, medium, source, kSensor(mask=mask, record=["p"]), pml_size=LAYER, pml_inside=False, smooth_p0=False, quiet=True
    )
    p = np.asarray(result["p"])
    # Receivers come in the order of memory, the last axis fastest.
    order = sorted(range(len(RECEIVERS)), key=lambda n: RECEIVERS[n])
    if p.shape[0] != len(RECEIVERS):
        p = p.T
    rows = [None] * len(RECEIVERS)
    for place, n in enumerate(order):
        rows[n] = p[place]
    return rows


def ripplon(binary, width, order, precision, parts=1):
    total = N + 2 * LAYER
    middle = (MIDDLE + LAYER) * A
    detectors = "".join(
        f'[[detector]]\nname = "r{n}"\nmeasure = "value"\nat = [{middle + i * A}, {middle + j * A}]\n' for n, (i, j) in enumerate(RECEIVERS)
    )
    scene = f"""format = 1
[grid]
size = [{total}, {total}]
spacing = {A}
edges = "absorb"
absorb_width = {LAYER}
[acoustic]
speed = {C}
density = 1.2
[time]
step = {COURANT * A / C / parts!r}
[solver]
method = "fdtd"
backend = "cpu"
precision = "{precision}"
order = {order}
[[pulse]]
center = [{middle}, {middle}]
width = {width}
{detectors}"""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/scene.toml", "w") as file:
            file.write(scene)
        command = [binary, "run", f"{folder}/scene.toml", "--steps", str(STEPS * parts), "--detectors", f"{folder}/d.csv"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/d.csv") as file:
            rows = list(csv.DictReader(file))
    return [float(row["t"]) for row in rows], [[float(row[f"r{n}"]) for row in rows] for n in range(len(RECEIVERS))]


def main():
    binary = sys.argv[1]
    step = COURANT * A / C
    times = np.arange(STEPS + 1) * step
    print(f"{'w/a':>4} {'program':<28} largest difference at each receiver")
    for sites in [1.5, 2.5, 4.0]:
        width = sites * A
        truth = [exact(width, A * np.hypot(i, j), times) for i, j in RECEIVERS]
        peaks = [np.abs(row).max() for row in truth]

        def line(name, own, found):
            whole = [n for n, t in enumerate(own) if abs(t / step - round(t / step)) < 1e-6]
            at = [round(own[n] / step) for n in whole]
            miss = [np.abs(np.asarray(row)[whole] - t[at]).max() / peak for row, t, peak in zip(found, truth, peaks)]
            print(f"{sites:>4} {name:<28} " + "  ".join(f"{m:.1e}" for m in miss), flush=True)

        found = kwave(width)
        line("k-Wave 0.6.2", times[: len(found[0])], found)
        for order in [2, 4, 8]:
            line(f"fdtd, order {order}, double", *ripplon(binary, width, order, "double"))
        line("fdtd, order 8, single", *ripplon(binary, width, 8, "single"))
        line("fdtd, order 8, double, dt/6", *ripplon(binary, width, 8, "double", 6))


if __name__ == "__main__":
    main()
