#!/usr/bin/env python3
"""The ground state of (p^2 + r^2 + 8 z^2)/2 + g|psi|^2, g = 4 pi N a/a_t with a/a_t = 0.00433, in the eigenfunctions of the trap by Newton's method (numpy): atoms, then
(mu, E/N) with two numbers of functions.

    python3 benches/peers/anisotropic_trap.py
"""
import math

import numpy as np


def ground(g, N=22, M=18, lam=math.sqrt(8)):
    # radial: u=r^2, phi_n = L_n(u) e^{-u/2}/sqrt(pi); int d^2r = pi int du
    Q=80
    u,wu=np.polynomial.laguerre.laggauss(Q)
    wu=np.exp(np.log(wu)+u)  # weight without e^-u
    R=np.zeros((N,Q))
    R[0]=1; R[1]=1-u
    for n in range(1,N-1): R[n+1]=((2*n+1-u)*R[n]-n*R[n-1])/(n+1)
    R*=np.exp(-u/2)/math.sqrt(math.pi)
    x,wx=np.polynomial.hermite.hermgauss(100)
    wx=wx*np.exp(x*x)
    H=np.zeros((2*M+2,len(x))); H[0]=math.pi**-0.25*np.exp(-x*x/2); H[1]=math.sqrt(2)*x*H[0]
    for n in range(1,2*M+1): H[n+1]=math.sqrt(2/(n+1))*x*H[n]-math.sqrt(n/(n+1))*H[n-1]
    Z=H[0:2*M:2]*lam**0.25; wz=wx/math.sqrt(lam)
    E=np.array([[2*n+1+lam*(2*m+0.5) for m in range(M)] for n in range(N)]).ravel()
    B=np.einsum('nq,mp->nmqp',R,Z).reshape(N*M,-1)
    W=np.outer(math.pi*wu,wz).ravel()
    c=np.zeros(N*M); c[0]=1
    mu=E[0]
    for step in np.linspace(0,1,25)[1:]:
        gg=g*step
        for it in range(30):
            psi=c@B
            F=E*c+gg*(B*(W*psi**3)).sum(1)-mu*c
            J=np.diag(E-mu)+3*gg*(B*(W*psi**2))@B.T
            A=np.zeros((N*M+1,)*2); A[:-1,:-1]=J; A[:-1,-1]=-c; A[-1,:-1]=2*c
            d=np.linalg.solve(A,-np.append(F,c@c-1))
            c+=d[:-1]; mu+=d[-1]
            if abs(d).max()<1e-13: break
    psi=c@B
    assert abs(F).max()<1e-10
    I=g*(W*psi**4).sum()/2
    lin=(E*c*c).sum()
    return mu, lin+I, lin, I
for Natoms in (100,200,500,1000,2000,5000):
    g=4*math.pi*Natoms*4.33e-3
    print(Natoms, [ground(g,N,M)[:2] for N,M in ((16,12),(22,18))])
