//! Scattering of light by surfaces: energy, sampling and densities, each lobe by itself and together.

mod base;
mod common;
mod layers;
mod quadrature;
mod transmission;
