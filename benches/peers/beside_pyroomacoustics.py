#!/usr/bin/env python3
"""pyroomacoustics' image sources and Ripplon's finite differences: a Ricker in a room of 3 x 2.5 x 2 m with rigid walls.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy scipy pyroomacoustics==0.10.1
    /tmp/peers/bin/python benches/peers/beside_pyroomacoustics.py target/release/ripplon

pyroomacoustics gives the places of the images; the pressure is the sum of A s(t - r/c) / (4 pi c^2 r) over them, exact in a box with rigid walls. The figure is the largest
difference over the largest pressure in the first 20 ms, in which sound goes twice through the room; finite differences err by the dispersion of 6.9 m of way.
"""

import csv
import subprocess
import sys
import tempfile

import numpy as np
import pyroomacoustics as pra

C, A = 343.0, 0.05
SIZE = [60, 50, 40]
# Sites; a wall stands half a spacing outside the last one.
SOURCE, RECEIVERS = [20, 17, 12], [[41, 30, 25], [33, 9, 30]]
END = 0.020


def ricker(t, frequency):
    u = (np.pi * (frequency * t - 1.2)) ** 2
    return np.where(t >= 0, (1 - 2 * u) * np.exp(-u), 0.0)


def images(receiver, times, frequency):
    room = pra.ShoeBox([n * A for n in SIZE], fs=16000, materials=pra.Material(0.0), max_order=9, air_absorption=False)
    room.set_sound_speed(C)
    room.add_source([(n + 0.5) * A for n in SOURCE])
    room.add_microphone([(n + 0.5) * A for n in receiver])
    room.image_source_model()
    source = room.sources[0]
    assert np.allclose(source.damping, 1.0)
    way = np.linalg.norm(source.images - room.mic_array.R[:, :1], axis=0)
    near = way[way < C * END + 1]
    return sum(ricker(times - r / C, frequency) / (4 * np.pi * C**2 * r) for r in near)


def ripplon(binary, frequency, order, courant):
    step = courant * A / C
    detectors = "".join(
        f'[[detector]]\nname = "r{n}"\nmeasure = "value"\nat = {[i * A for i in at]}\n' for n, at in enumerate(RECEIVERS)
    )
    scene = f"""format = 1
[grid]
size = {SIZE}
spacing = {A}
edges = "wall"
[acoustic]
speed = {C}
density = 1.2
[time]
step = {step!r}
end = {END}
[solver]
method = "fdtd"
backend = "cpu"
precision = "double"
order = {order}
[[source]]
at = {[i * A for i in SOURCE]}
signal = "ricker"
frequency = {frequency!r}
amplitude = 1e6
{detectors}"""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/scene.toml", "w") as file:
            file.write(scene)
        subprocess.run([binary, "run", f"{folder}/scene.toml", "--detectors", f"{folder}/d.csv"], check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/d.csv") as file:
            rows = list(csv.DictReader(file))
    return np.array([float(row["t"]) for row in rows]), [np.array([float(row[f"r{n}"]) for row in rows]) / 1e6 for n in range(2)]


def main():
    binary = sys.argv[1]
    print(f"{'sites a wavelength':>18} {'order':>5} {'c dt/a':>6}  largest difference at each receiver")
    for sites in [16, 24]:
        frequency = C / (sites * A)
        for order, courant in [(2, 0.5), (4, 0.2), (8, 0.1)]:
            times, found = ripplon(binary, frequency, order, courant)
            miss = []
            for at, row in zip(RECEIVERS, found):
                exact = images(at, times, frequency)
                miss.append(np.abs(row - exact).max() / np.abs(exact).max())
            print(f"{sites:>18} {order:>5} {courant:>6}  " + "  ".join(f"{m:.1e}" for m in miss), flush=True)


if __name__ == "__main__":
    main()
