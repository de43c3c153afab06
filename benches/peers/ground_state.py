#!/usr/bin/env python3
"""The ground state of i dpsi/dt = (-laplacian/2 + r^2/2 + g|psi|^2) psi in two dimensions by Newton's method on the radial equation (numpy), and what the program's
imaginary time ends with on lattices of ever finer spacing.

    python3 benches/peers/ground_state.py target/release/ripplon
"""
import csv
import subprocess
import sys
import tempfile

import numpy as np

G = 100.0


def radial(points, reach=9.0):
    """E and mu from `points` radii h/2, 3h/2, ...: second-order finite volumes, so that two sizes extrapolate."""
    h = reach / points
    r = (np.arange(points) + 0.5) * h
    weight = 2 * np.pi * r * h
    inner, outer = np.arange(points) * h, (np.arange(points) + 1) * h
    h_matrix = np.diag((inner + outer) / (2 * r * h * h) + r * r / 2)
    h_matrix -= np.diag(outer[:-1] / (2 * r[:-1] * h * h), 1) + np.diag(inner[1:] / (2 * r[1:] * h * h), -1)
    psi = np.sqrt(np.maximum(np.sqrt(G / np.pi) - r * r / 2, 1e-3) / G)
    psi /= np.sqrt(weight @ psi**2)
    mu = np.sqrt(G / np.pi)
    for _ in range(30):
        matrix = np.zeros((points + 1, points + 1))
        matrix[:points, :points] = h_matrix + np.diag(3 * G * psi**2 - mu)
        matrix[:points, points] = -psi
        matrix[points, :points] = 2 * weight * psi
        miss = np.append(h_matrix @ psi + G * psi**3 - mu * psi, weight @ psi**2 - 1)
        change = np.linalg.solve(matrix, -miss)
        psi, mu = psi + change[:points], mu + change[points]
        if abs(change).max() < 1e-13:
            break
    return np.array([mu - G / 2 * (weight @ psi**4), mu])


def program(binary, sites, method):
    spacing = 16.0 / sites
    middle = (sites - 1) * spacing / 2
    scene = f"""format = 1
[grid]
size = [{sites}, {sites}]
spacing = {spacing}
[quantum]
mass = 1.0
interaction = {G}
[time]
end = 8.0
imaginary = true
[solver]
method = "{method}"
backend = "cpu"
precision = "double"
[[packet]]
center = [{middle}, {middle}]
width = [1.5, 1.5]
[[layer]]
sets = "potential"
shape = "everywhere"
value = "0.5*(x - {middle})^2 + 0.5*(y - {middle})^2"
"""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/scene.toml", "w") as file:
            file.write(scene)
        subprocess.run([binary, "run", "scene.toml", "--observables", "o.csv", "--save", "psi.npy"], cwd=folder, check=True, capture_output=True)
        with open(f"{folder}/o.csv") as file:
            energy = float(list(csv.DictReader(file))[-1]["energy"])
        density = np.abs(np.load(f"{folder}/psi.npy")) ** 2
    return np.array([energy, energy + G / 2 * (density**2).sum() * spacing**2])


def main():
    coarse, fine = radial(600), radial(1200)
    exact = fine + (fine - coarse) / 3
    print(f"radial Newton: E {exact[0]:.6f}, mu {exact[1]:.6f}")
    for method in ["trotter", "crank-nicolson", "split-step-fourier"]:
        for sites in [64, 128]:
            energy, mu = program(sys.argv[1], sites, method)
            print(f"{method:<18} {sites:>4}^2  E {energy:.6f} ({energy / exact[0] - 1:+.1e})  mu {mu:.6f} ({mu / exact[1] - 1:+.1e})", flush=True)


if __name__ == "__main__":
    main()
