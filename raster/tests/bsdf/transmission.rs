//! Light through surfaces.

use isoframe_raster::passes::bsdf::{Bsdf, Parameters};
use isoframe_raster::passes::vector::Vector;

use crate::common::{COSINES, ROUGHNESSES, check, check_samples, tables, vector};
use crate::quadrature::viewer;

#[test]
fn a_white_sheet_passes_what_it_does_not_reflect() {
    for roughness in ROUGHNESSES {
        for transmission in [0.4, 1.0] {
            for cosine in COSINES {
                let p = Parameters { roughness, transmission, ..Parameters::default() };
                let total = check(&p, cosine, 0.2).total()[0];
                assert!((total - 1.0).abs() < 0.005, "{total} at {cosine}, {p:?}");
            }
        }
    }
}

/// Facets keep what they refract away from the other side, and inside also what they shadow of what they reflect
/// totally; the rougher, the more.
fn volume_loss(roughness: f32, outside: bool) -> f64 {
    match (roughness, outside) {
        (..0.2, _) => 0.02,
        (..0.3, true) => 0.1,
        (_, true) => 0.16,
        (..0.3, false) => 0.14,
        (..0.6, false) => 0.29,
        (..0.8, false) => 0.61,
        (_, false) => 0.82,
    }
}

#[test]
fn a_volume_gains_nothing_and_loses_no_more_than_is_said() {
    for roughness in ROUGHNESSES {
        for outside in [true, false] {
            for cosine in COSINES {
                for (ior, transmission) in [(1.5, 1.0), (1.1, 0.5), (2.4, 1.0)] {
                    let p = Parameters {
                        roughness,
                        transmission,
                        thin: false,
                        outside,
                        ior,
                        ..Default::default()
                    };
                    let total = check_samples(&p, cosine, 0.2);
                    assert!(total > 1.0 - volume_loss(roughness, outside), "{total} at {cosine}, {p:?}");
                }
            }
        }
    }
}

#[test]
fn smooth_glass_bends_light_as_snell_says() {
    let glass = Parameters { roughness: 0.0, transmission: 1.0, thin: false, ..Parameters::default() };
    for (outside, ratio) in [(true, 1.0 / 1.5), (false, 1.5f64)] {
        let p = Parameters { outside, ..glass };
        let view = viewer(0.9, 0.0);
        let bsdf = Bsdf::new(&p, vector(view), &tables());
        let mut sum = [0.0; 2];
        for k in 0..4000u32 {
            let u = [0, 1, 2].map(|d| crate::common::random(k * 3 + d));
            if let Some(sample) = bsdf.sample(u).filter(|sample| sample.transmitted) {
                sum = [sum[0] + f64::from(sample.to_light.x), sum[1] + 1.0];
            }
        }
        let sine = sum[0] / sum[1];
        assert!((sine + view[0] * ratio).abs() < 2e-3, "{sine} for {}", view[0] * ratio);
    }
}

#[test]
fn all_is_reflected_inside_beyond_the_critical_angle() {
    let p = Parameters {
        roughness: 0.1,
        transmission: 1.0,
        thin: false,
        outside: false,
        base: Vector::splat(0.0),
        ..Parameters::default()
    };
    // The critical angle of 1.5 has a cosine of 0.745.
    assert!((check_samples(&p, 0.5, 0.2) - 1.0).abs() < 0.01);
    assert!(check_samples(&p, 0.95, 0.2) < 0.1);
}

#[test]
fn metal_transmits_nothing() {
    let p = Parameters { metallic: 1.0, transmission: 1.0, roughness: 0.3, ..Parameters::default() };
    let bsdf = Bsdf::new(&p, vector(viewer(0.6, 0.0)), &tables());
    assert_eq!(bsdf.evaluate(Vector::new([0.6, 0.0, -0.8])), Default::default());
    assert_eq!(bsdf.diffuse_reflectance(), Vector::splat(0.0));
}
