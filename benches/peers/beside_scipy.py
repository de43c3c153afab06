#!/usr/bin/env python3
"""scipy's action of the matrix exponential and every method for the Schroedinger equation, on the same lattice.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy scipy
    /tmp/peers/bin/python benches/peers/beside_scipy.py target/release/ripplon

H = -J sum of neighbours + U on 48 x 40 sites between walls, U wild; exp(-iHt) psi by scipy.sparse.linalg.expm_multiply (Al-Mohy & Higham 2011), accurate to rounding. The figure is
|psi - exact| / |exact| at t = 20 with the step dt, and the order that dt and dt/2 show.
"""

import subprocess
import sys
import tempfile

import numpy as np
from scipy.sparse import diags, identity, kron
from scipy.sparse.linalg import expm_multiply

NX, NY, J, END = 48, 40, 1.0, 20.0
CENTER, WIDTH, MOMENTUM = (20.0, 18.0), (4.0, 3.0), (0.7, -0.4)


def exact():
    x, y = np.arange(NX), np.arange(NY)
    potential = 0.5 * np.sin(1.7 * x[None, :] + 2.3 * y[:, None] ** 2)

    def chain(n):
        return diags([np.ones(n - 1), np.ones(n - 1)], [-1, 1])

    hamiltonian = -J * (kron(identity(NY), chain(NX)) + kron(chain(NY), identity(NX))) + diags(potential.ravel())
    parts = [
        np.exp(-((axis - c) ** 2) / (4 * w**2) + 1j * k * (axis - c)) for axis, c, w, k in zip((x, y), CENTER, WIDTH, MOMENTUM)
    ]
    psi = (parts[1][:, None] * parts[0][None, :]).ravel()
    psi /= np.linalg.norm(psi)
    return expm_multiply(-1j * END * hamiltonian.tocsc(), psi)


def ripplon(binary, method, order, step, precision):
    order = f"order = {order}\n" if order else ""
    scene = f"""format = 1
[grid]
size = [{NX}, {NY}]
spacing = 1.0
[quantum]
hopping = {J}
[time]
step = {step}
end = {END}
[solver]
method = "{method}"
backend = "cpu"
precision = "{precision}"
{order}[[packet]]
center = {list(CENTER)}
width = {list(WIDTH)}
momentum = {list(MOMENTUM)}
[[layer]]
shape = "everywhere"
sets = "potential"
value = "0.5*sin(1.7*x + 2.3*y^2)"
"""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/scene.toml", "w") as file:
            file.write(scene)
        subprocess.run([binary, "run", f"{folder}/scene.toml", "--save", f"{folder}/psi.npy"], check=True, stdout=subprocess.DEVNULL)
        return np.load(f"{folder}/psi.npy").ravel()


def main():
    binary = sys.argv[1]
    truth = exact()
    print(f"{'method':<20} {'order':>5} {'precision':<9} {'dt':>5} {'error':>8} {'dt/2':>8} {'shown':>6}")
    cases = [("trotter", 1), ("trotter", 2), ("trotter", 4), ("crank-nicolson", None), ("split-step-fourier", 2), ("split-step-fourier", 4)]
    for method, order in cases:
        for precision in ["double", "single"]:
            step = 0.1
            misses = [
                np.linalg.norm(ripplon(binary, method, order, own, precision) - truth)
                for own in (step, step / 2)
            ]
            shown = np.log2(misses[0] / misses[1])
            print(f"{method:<20} {order or 2:>5} {precision:<9} {step:>5} {misses[0]:>8.1e} {misses[1]:>8.1e} {shown:>6.2f}", flush=True)


if __name__ == "__main__":
    main()
