//! Environments: `.hdr` and `.exr` in, prefiltered light out.
//!
//! Everything here runs on the CPU in a fixed order, with `+ - * /`, square roots and `libm` only: the same file
//! gives the same bits on every machine and at any thread count.

mod dfg;
mod distribution;
mod error;
mod exr;
mod filter;
mod hdr;
mod irradiance;
mod octahedron;
mod panorama;
mod sheen;
mod studio;

use std::sync::OnceLock;

pub use dfg::dfg_table;
pub(crate) use distribution::cumulative;
pub use distribution::{Distribution, MASS_ALL};
pub use error::{EnvironmentError, EnvironmentLimits};
pub use octahedron::{Octahedron, direction_of, position_of};
pub use panorama::Panorama;
pub use sheen::{SHEEN_ROUGHNESS_MIN, sheen_table};

#[doc(hidden)]
pub use {
    dfg::integrate as integrate_dfg, filter::prefilter, irradiance::irradiance_sh,
    sheen::integrate as integrate_sheen, studio::bake as bake_studio,
};

/// Side of the finest octahedral level, in texels.
pub const OCTAHEDRAL_SIDE: u32 = 256;

/// Octahedral levels, level k having side `OCTAHEDRAL_SIDE >> k` and the perceptual roughness r for which
/// r (2 - r) = k / (LEVELS - 1): more levels where reflections are sharp, and 16 texels for the widest lobe (Filament).
pub const LEVELS: u32 = 5;

/// Side of the split-sum table and of that of sheen, in texels.
pub const DFG_SIDE: u32 = 64;

/// Largest radiance kept, the largest finite half.
pub const RADIANCE_MAX: f32 = 65504.0;

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
    /// See [`Environment::distribution`].
    pub distribution: OnceLock<Distribution>,
}

impl Environment {
    /// The built-in photo studio: grey, with a key light from the upper left front, a fill, a rim and a ceiling box.
    pub fn studio() -> Environment {
        studio::studio()
    }

    /// Filters a Radiance `.hdr` or OpenEXR file that holds an equirectangular picture; see [`Panorama`].
    ///
    /// *Errors*: see [`EnvironmentError`].
    pub fn from_bytes(bytes: &[u8], limits: &EnvironmentLimits) -> Result<Environment, EnvironmentError> {
        let panorama = Panorama::from_bytes(bytes, limits)?;
        if panorama.repaired_px > 0 {
            tracing::warn!(
                pixels = panorama.repaired_px,
                "environment: negative, infinite or undefined pixels were brought into range"
            );
        }
        let hash = blake3::hash(bytes).to_hex().to_string();
        Ok(Environment::from_panorama(hash, &panorama))
    }

    /// Filters a picture that is already decoded.
    pub fn from_panorama(hash: String, panorama: &Panorama) -> Environment {
        let irradiance_sh = irradiance::irradiance_sh(panorama);
        let picture = panorama.to_octahedron();
        let specular = filter::prefilter(&picture);
        let background = picture.texels.iter().map(|&texel| stored(texel)).collect();
        Environment {
            hash,
            specular,
            irradiance_sh,
            background,
            background_side: picture.side,
            distribution: OnceLock::new(),
        }
    }

    /// Where its light comes from, found when first asked for.
    pub fn distribution(&self) -> &Distribution {
        self.distribution.get_or_init(|| Distribution::new(&self.background, self.background_side))
    }
}

/// RGB and a zero, in range and without what flushing denormals could change.
fn stored([r, g, b, _]: [f32; 4]) -> [f32; 4] {
    let store = |v: f32| crate::exact::flush(v.clamp(0.0, RADIANCE_MAX));
    [store(r), store(g), store(b), 0.0]
}
