//! Environments: `.hdr` and `.exr` in, prefiltered light out.

/// Side of the finest octahedral level, in texels.
pub const OCTAHEDRAL_SIDE: u32 = 256;

/// Octahedral levels, level k having side `OCTAHEDRAL_SIDE >> k` and the perceptual roughness r for which
/// r (2 - r) = k / (LEVELS - 1): more levels where reflections are sharp, and 16 texels for the widest lobe (Filament).
pub const LEVELS: u32 = 5;

/// Side of the split-sum table, in texels.
pub const DFG_SIDE: u32 = 64;

/// Light from everywhere, filtered for shading.
///
/// *Space*: world, +Y up. *Units*: linear Rec.709 radiance, finite, 0 to 65504, below 2^-100 stored as 0.
/// *Octahedral map*: direction d, |x|+|y|+|z| = 1 after scaling; p = (x, z), folded where y < 0; texel = (p * 0.5 + 0.5) * side.
#[derive(Debug, Clone)]
pub struct Environment {
    /// blake3 of the source file, hex; `studio` for the built-in one.
    pub hash: String,
    /// Levels one after another, each row-major; RGB and a zero.
    pub specular: Vec<[f32; 4]>,
    /// Irradiance / pi as 9 spherical-harmonic coefficients already times basis and cosine constants: dot with
    /// (1, y, z, x, xy, yz, 3zz-1, xz, xx-yy). RGB and a zero.
    pub irradiance_sh: [[f32; 4]; 9],
    /// The picture itself as an octahedral map of `background_side` squared texels, for environment backgrounds.
    pub background: Vec<[f32; 4]>,
    /// Side of `background`, in texels.
    pub background_side: u32,
}
pub fn dfg_table() -> &'static [[f32; 2]] {
    &[[0.5, 0.5]; 64 * 64]
}
