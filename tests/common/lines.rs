//! Layers of lines and planes of ψ that several tests step.

pub const POTENTIAL: &str = "[[layer]]\nsets = \"potential\"\nvalue = \"0.6*sin(37.1*x) + 0.3*cos(2.3*x)\"\n";
pub const ABSORBS: &str = "[[layer]]\nsets = \"absorption\"\nvalue = \"0.2*(1 + sin(3.3*x))\"\n";
pub const DRIVEN: &str = "[[layer]]\nsets = \"potential\"\nvalue = \"0.4*sin(37.1*x)\"\n\
    [[layer]]\nsets = \"potential\"\nvalue = \"0.5*sin(0.7*x)\"\ndrive = \"cos(3*t)\"\n";
